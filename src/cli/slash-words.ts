/** The slash words of a conversation: what each does here, for a session in this process and for one of a daemon alike. */
import { visibleLine } from "#base";
import type { ClientSession } from "#client";
import { parseSlash, type SlashWord, slashCommands, slashUsage, wordOf } from "#protocol";
import type { Terminal } from "./terminal.ts";

export type SlashHandler = (args: Readonly<Record<string, string>>) => Promise<void>;
/** A word without a handler does not exist in this conversation. */
export type SlashHandlers = Readonly<Partial<Record<SlashWord, SlashHandler>>>;

/** What every conversation understands. */
export function sessionWords(terminal: Terminal, session: ClientSession): SlashHandlers {
  const restore =
    (action: "undo" | "redo"): SlashHandler =>
    async ({ target }) => {
      const { parseTarget, renderReport, restoreCommand } = await import("./undo.ts");
      const { result } = await session.submit(restoreCommand(action, parseTarget(target)));
      renderReport(terminal, result);
    };
  return {
    model: ({ model = "" }) => session.setModel(model),
    async rules({ change, rule }) {
      if (change === undefined) terminal.err(await listRules(session));
      else if (rule === undefined) terminal.err(`Name a rule: /rules ${change} RULE\n`);
      else await session.submit({ kind: change === "revoke" ? "RevokeRule" : "PromoteRule", rule });
    },
    undo: restore("undo"),
    redo: restore("redo"),
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

/** The words of this conversation as they are typed. */
export function typedWords(handlers: SlashHandlers): readonly string[] {
  return wordsHere(handlers).map((command) => `/${wordOf(command)}`);
}

function wordsHere(handlers: SlashHandlers) {
  const isHere = (word: SlashWord): boolean => word === "help" || word === "quit" || handlers[word] !== undefined;
  return slashCommands.filter((command) => isHere(wordOf(command)));
}

function helpText(handlers: SlashHandlers): string {
  const shown = wordsHere(handlers);
  const usages = shown.map(slashUsage);
  const width = Math.max(...usages.map(({ length }) => length));
  return shown.map(({ description }, index) => `  ${usages[index]?.padEnd(width)}  ${description}\n`).join("");
}

async function listRules(session: ClientSession): Promise<string> {
  const { result: rules } = await session.submit({ kind: "ListRules" });
  if (rules.length === 0) return "No rules: read-only calls run, everything else asks.\n";
  return rules
    .map(({ effect, rule, source }) => `  ${effect.padEnd(5)} ${visibleLine(rule)}  (${visibleLine(source)})\n`)
    .join("");
}
