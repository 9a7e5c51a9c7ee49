/** The slash words of a conversation: what each does here, for a session in this process and for one of a daemon alike. */
import { isRecord, visibleLine, visibleLines } from "#base";
import type { ClientSession } from "#client";
import { parseSlash, type SlashCommand, type SlashWord, slashCommands, slashUsage, typedWord, wordOf } from "#protocol";
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

/** The words of one conversation. */
export interface Words {
  readonly handlers: SlashHandlers;
  /** Words of plugins. */
  readonly added: readonly SlashCommand[];
  /** What a word of a plugin answers. */
  answered(answer: PluginAnswer): Promise<void>;
}

export interface PluginAnswer {
  /** Visible; not redacted. */
  readonly text?: string;
  /** To be sent as the next input. */
  readonly input?: string;
}

/** For a line that begins with a slash and does not leave. */
export async function runSlash(terminal: Terminal, session: ClientSession, words: Words, line: string): Promise<void> {
  const { handlers, added } = words;
  const read = parseSlash(line, added);
  if ("problem" in read) terminal.err(`${visibleLine(read.problem)}\n${read.isKnown ? "" : helpText(words)}`);
  else if ("added" in read) await words.answered(await askPlugin(session, read.added, read.args));
  else if (read.word === "help") terminal.err(helpText(words));
  else if (handlers[read.word] === undefined) terminal.err(`/${read.word} does nothing here.\n${helpText(words)}`);
  else await handlers[read.word]?.(read.args);
}

async function askPlugin(
  session: ClientSession,
  { namespace, name: verb }: SlashCommand,
  payload: Readonly<Record<string, string>>,
): Promise<PluginAnswer> {
  const { result } = await session.submit({ kind: "CustomCommand", namespace, verb, payload });
  const { text, input } = isRecord(result) ? result : {};
  return {
    ...(typeof text === "string" ? { text: visibleLines(text) } : {}),
    ...(typeof input === "string" ? { input } : {}),
  };
}

/** The words of this conversation as they are typed. */
export function typedWords(words: Words): readonly string[] {
  return wordsHere(words).map((command) => `/${typedWord(command)}`);
}

function wordsHere({ handlers, added }: Words): readonly SlashCommand[] {
  const isHere = (word: SlashWord): boolean => word === "help" || word === "quit" || handlers[word] !== undefined;
  return [...slashCommands.filter((command) => isHere(wordOf(command))), ...added];
}

function helpText(words: Words): string {
  const shown = wordsHere(words);
  const usages = shown.map((command) => visibleLine(slashUsage(command)));
  const width = Math.max(...usages.map(({ length }) => length));
  return shown
    .map(({ description }, index) => `  ${usages[index]?.padEnd(width)}  ${visibleLine(description)}\n`)
    .join("");
}

/** Those of a server that are not words of this program. */
export function addedWords(all: readonly SlashCommand[]): readonly SlashCommand[] {
  const own = new Set(slashCommands.map(typedWord));
  return all.filter((command) => !own.has(typedWord(command)));
}

async function listRules(session: ClientSession): Promise<string> {
  const { result: rules } = await session.submit({ kind: "ListRules" });
  if (rules.length === 0) return "No rules: read-only calls run, everything else asks.\n";
  return rules
    .map(({ effect, rule, source }) => `  ${effect.padEnd(5)} ${visibleLine(rule)}  (${visibleLine(source)})\n`)
    .join("");
}
