/** The slash words of a conversation: what each does here, for a session in this process and for one of a daemon alike. */
import { visibleLine } from "#base";
import { parseSlash, type SlashWord, slashCommands, slashUsage, wordOf } from "#protocol";
import type { CliSession } from "./cli-session.ts";
import type { Terminal } from "./terminal.ts";

export type SlashHandler = (args: Readonly<Record<string, string>>) => Promise<void>;
/** A word without a handler does not exist in this conversation. */
export type SlashHandlers = Readonly<Partial<Record<SlashWord, SlashHandler>>>;

/** What every conversation has to work on. */
export interface SlashSession extends Pick<CliSession, "setModel" | "rules" | "changeRule" | "restore"> {
  /** Lines for people. */
  health(): Promise<string>;
}

export function sessionWords(terminal: Terminal, session: SlashSession): SlashHandlers {
  const restore =
    (action: "undo" | "redo"): SlashHandler =>
    async ({ target }) => {
      const { parseTarget, renderReport } = await import("./undo.ts");
      renderReport(terminal, await session.restore(action, parseTarget(target)));
    };
  return {
    model: ({ model = "" }) => session.setModel(model),
    async rules({ change, rule }) {
      if (change === undefined) terminal.err(await listRules(session));
      else if (rule === undefined) terminal.err(`Name a rule: /rules ${change} RULE\n`);
      else await session.changeRule(change === "revoke" ? "revoke" : "keep", rule);
    },
    undo: restore("undo"),
    redo: restore("redo"),
    health: async () => terminal.err(await session.health()),
  };
}

/** Whether the line leaves the conversation. */
export function isQuit(line: string): boolean {
  return line === "/quit" || line === "/exit";
}

/** For a line that begins with a slash and does not leave. */
export async function runSlash(terminal: Terminal, handlers: SlashHandlers, line: string): Promise<void> {
  const read = parseSlash(line);
  if ("problem" in read) terminal.err(`${visibleLine(read.problem)}\n${read.isKnown ? "" : helpText(handlers)}`);
  else if (read.word === "help") terminal.err(helpText(handlers));
  else if (handlers[read.word] === undefined) terminal.err(`/${read.word} does nothing here.\n${helpText(handlers)}`);
  else await handlers[read.word]?.(read.args);
}

function helpText(handlers: SlashHandlers): string {
  const isHere = (word: SlashWord): boolean => word === "help" || word === "quit" || handlers[word] !== undefined;
  const shown = slashCommands.filter((command) => isHere(wordOf(command)));
  const usages = shown.map(slashUsage);
  const width = Math.max(...usages.map(({ length }) => length));
  return shown.map(({ description }, index) => `  ${usages[index]?.padEnd(width)}  ${description}\n`).join("");
}

async function listRules(session: SlashSession): Promise<string> {
  const rules = await session.rules();
  if (rules.length === 0) return "No rules: what only reads passes, everything else asks.\n";
  return rules
    .map(({ effect, rule, source }) => `  ${effect.padEnd(5)} ${visibleLine(rule)}  (${visibleLine(source)})\n`)
    .join("");
}
