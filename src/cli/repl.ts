/** The line-by-line conversation on a terminal. Slash words are handled here and never reach the model. */
import { paint, visibleLine } from "#base";
import type { CliPorts } from "./cli-ports.ts";
import type { CliSession } from "./cli-session.ts";
import type { Terminal } from "./terminal.ts";

const HELP = `  /model provider:name   use another model from now on
  /rules                 the permission rules in force
  /rules revoke RULE     take back what you allowed for this session
  /rules keep RULE       write it into your configuration
  /undo [call|turn]      take back what the last turn, or the one named, changed in the folder
  /redo [call|turn]      make again what was undone last
  /health                how the parts are that can fail: log, redaction, keys, sandbox
  /help                  this list
  /quit                  leave (also Ctrl-D, or Ctrl-C twice)
`;

/** Returns when the person leaves; `left` aborts to make it return at once. A failed turn is shown, and the next one can go on. */
export async function runRepl(
  { terminal, outward }: Pick<CliPorts, "terminal" | "outward">,
  session: CliSession,
  left: AbortSignal,
  health: SlashSession["health"],
): Promise<void> {
  const slash: SlashSession = { ...session, health };
  while (!left.aborted) {
    const line = await terminal.readLine(paint(terminal, "green", "› "), left);
    if (line.kind === "end") return;
    if (line.kind === "interrupted") continue;
    const input = line.text.trim();
    if (input === "") continue;
    if (input === "/quit" || input === "/exit") return;
    try {
      if (input.startsWith("/")) await runSlash(terminal, slash, input);
      else await session.send(input);
    } catch (error) {
      terminal.err(`${await outward.describe(error)}\n`);
    }
    session.finishLine();
  }
}

/** What slash words work on. */
export interface SlashSession extends Pick<CliSession, "setModel" | "rules" | "changeRule" | "restore"> {
  /** Lines for people. */
  health(): Promise<string>;
}

/** `more`: help for words that are handled elsewhere. */
export async function runSlash(terminal: Terminal, session: SlashSession, input: string, more = ""): Promise<void> {
  const [name, argument] = input.slice(1).split(/\s+/, 2);
  const [, verb, rule] = /^\/rules\s+(revoke|keep)\s+(.+)$/.exec(input) ?? [];
  if (name === "help") terminal.err(`${more}${HELP}`);
  else if (verb !== undefined && rule !== undefined)
    await session.changeRule(verb === "revoke" ? "revoke" : "keep", rule);
  else if (name === "rules" && argument === undefined) terminal.err(await listRules(session));
  else if (name === "health") terminal.err(await session.health());
  else if (name === "model" && argument !== undefined) await session.setModel(argument);
  else if (name === "undo" || name === "redo") {
    const { parseTarget, renderReport } = await import("./undo.ts");
    renderReport(terminal, await session.restore(name, parseTarget(argument)));
  } else terminal.err(`Unknown command: ${visibleLine(input)}\n${more}${HELP}`);
}

async function listRules(session: SlashSession): Promise<string> {
  const rules = await session.rules();
  if (rules.length === 0) return "No rules: what only reads passes, everything else asks.\n";
  return rules
    .map(({ effect, rule, source }) => `  ${effect.padEnd(5)} ${visibleLine(rule)}  (${visibleLine(source)})\n`)
    .join("");
}
