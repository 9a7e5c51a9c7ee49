/**
 * The slash commands of a conversation on this terminal: how a line becomes something that the terminal does itself, a command of
 * the protocol, or a row that the engine runs. The rows come from the session, so that every client has the same ones.
 */
import { defined, isRecord, visibleLine, visibleLines } from "#base";
import type { ClientSession, Input, SessionCommand } from "#client";
import { namesProject } from "#program";
import {
  type BuiltInWord,
  builtInWords,
  completeSlash,
  deedOf,
  parseSlash,
  type ReplyOf,
  type SessionId,
  type SlashArgs,
  type SlashCommand,
  slashUsage,
  typedWord,
} from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { Terminal } from "./terminal.ts";

export type SlashHandler = (args: SlashArgs, words: Words) => Promise<void>;
/** What this terminal does instead of what the table says: its own words, and replies that it shows in its own way. */
export type SlashHandlers = Readonly<Partial<Record<BuiltInWord | "mcp:approve", SlashHandler>>>;

/** The slash commands of one conversation. */
export interface Words {
  readonly handlers: SlashHandlers;
  /** Those of the session, as they were last asked for. */
  known(): readonly SlashCommand[];
  /** As they are now. */
  rows(): Promise<readonly SlashCommand[]>;
  /** Shown to the person; not redacted yet. */
  show(text: string): Promise<void>;
  /** The images that are named in the text, then the text. */
  contentOf(text: string): Promise<Input>;
  send(input: Input): Promise<unknown>;
  /** The person continues in another session. */
  moveTo(session: SessionId): void;
}

/** What every conversation does itself. */
export function ownWords(terminal: Terminal, rows: Words["rows"]): SlashHandlers {
  return {
    help: async () => terminal.err(helpText(await rows())),
    clear: async () => terminal.err(terminal.interactive ? CLEAR_SCREEN : ""),
  };
}

/** `/mcp:approve` asks on this terminal. For a session on this machine only: elsewhere, the same name is another server. */
export function approvingWords(ports: CliPorts, session: Pick<ClientSession, "info">, config?: string): SlashHandlers {
  return {
    async "mcp:approve"({ server = "" }) {
      const { mcpApproveCommand } = await import("./mcp-approve.ts");
      // A session may be of a project file; its servers are those of its folder.
      const named = config !== undefined && namesProject(config) ? undefined : config;
      const { working_dir: cwd } = await session.info();
      await mcpApproveCommand(ports, server, { cwd, ...defined({ config: named }) });
    },
  };
}

/** Screen and scrollback; the cursor goes to the top. */
const CLEAR_SCREEN = "\u001b[H\u001b[2J\u001b[3J";

/** Whatever the server lists: no row of a server stands for a word that this client carries out without it. */
export function withOwnRows(listed: readonly SlashCommand[]): readonly SlashCommand[] {
  const own = builtInWords.filter((row) => deedOf(row, {}).by !== "engine");
  const words = new Set(own.map(typedWord));
  return [...own, ...listed.filter((row) => !words.has(typedWord(row)))];
}

/** For Tab: words that are known here at once, everything else from the session. */
export async function completeInput(
  session: Pick<ClientSession, "submit">,
  line: string,
  rows: readonly SlashCommand[],
): Promise<readonly string[]> {
  const known = completeSlash(line, rows);
  // A namespace alone may have names that came since.
  if (known.length > 0 && !/^\/mcp:/.test(line)) return known;
  const { result } = await session.submit({ kind: "CompleteInput", text: line });
  const lines = result.map(visibleLine);
  const longer = lines.filter((one) => one.startsWith(line));
  // Letters that were found inside a name: a list of those would take away what was typed.
  return longer.length > 0 ? longer : lines.slice(0, 1);
}

/** Whether the line leaves the conversation. */
export function isQuit(line: string): boolean {
  return line === "/quit" || line === "/exit";
}

/** Whether the line is for the turn that runs or what goes on beside it, and not for what comes after. */
export function isAtOnce(line: string): boolean {
  return /^\/(cancel|steer|mode|plan|todos|jobs(:\w+)?)(\s|$)/.test(line);
}

/** For a line that begins with a slash and does not leave. */
export async function runSlash(terminal: Terminal, session: ClientSession, words: Words, line: string): Promise<void> {
  const known = parseSlash(line, words.known());
  // A word that is not known may be new.
  const read = "problem" in known && !known.isKnown ? parseSlash(line, await words.rows()) : known;
  if ("problem" in read) {
    terminal.err(`${visibleLine(read.problem)}\n`);
    return;
  }
  const { command, args } = read;
  const handlers: Readonly<Record<string, SlashHandler | undefined>> = words.handlers;
  const own = Object.hasOwn(handlers, typedWord(command)) ? handlers[typedWord(command)] : undefined;
  if (own !== undefined) return own(args, words);
  const deed = deedOf(command, args);
  // Nothing would come of it that anybody could see.
  const isIdle = typedWord(command) === "cancel" && (await session.info()).turn === undefined;
  if (isIdle) terminal.err("No turn is running.\n");
  else if (deed.by === "client") terminal.err(`/${typedWord(command)} has no effect here.\n`);
  else if (deed.by === "command")
    await showReply(terminal, await session.submit(await withImages(deed.command, words)));
  else {
    const { namespace, name } = command;
    const { result } = await session.submit({ kind: "RunSlashCommand", namespace, name, args });
    await follow(session, words, result);
  }
}

/** Of a word whose text becomes an input. */
async function withImages<Command extends SessionCommand>(command: Command, { contentOf }: Words): Promise<Command> {
  if (!("content" in command)) return command;
  const content = await contentOf(command.content.map((block) => (block.type === "text" ? block.text : "")).join(""));
  return typeof content === "string" ? command : { ...command, content: [...content] };
}

/** Most commands show what they have done as events. */
async function showReply(terminal: Terminal, reply: object): Promise<void> {
  if (!("result" in reply) || !isRestored(reply.result)) return;
  const { renderReport } = await import("./undo.ts");
  renderReport(terminal, reply.result);
}

function isRestored(result: unknown): result is ReplyOf<"UndoTurn">["result"] {
  return isRecord(result) && (result.action === "undo" || result.action === "redo");
}

/** Does what a row that the engine has run leaves to the client. */
async function follow(
  session: ClientSession,
  { show, contentOf, send, moveTo }: Words,
  { text = "", command, session: next, input = "" }: ReplyOf<"RunSlashCommand">["result"],
): Promise<void> {
  if (text !== "") await show(visibleLines(text));
  if (command !== undefined) await submitReceived(session, command);
  if (next !== undefined) moveTo(next);
  if (input.trim() !== "") await send(await contentOf(input));
}

/** The engine may be newer than this client, and name a command that is not known here. */
async function submitReceived(session: ClientSession, command: { readonly kind: string }): Promise<void> {
  const { parseCommand } = await import("#protocol/schemas");
  const parsed = parseCommand({ ...command, session: session.id });
  // For this session, as every command but the one that opens a session.
  if (parsed.kind !== "CreateSession") await session.submit(parsed as SessionCommand);
}

/** The rows by namespace, as they are typed, with what each does. */
export function helpText(rows: readonly SlashCommand[]): string {
  const usages = rows.map((command) => visibleLine(slashUsage(command)));
  const width = Math.min(USAGE_MAX, Math.max(...usages.map(({ length }) => length)));
  const groups = Map.groupBy(rows, ({ namespace }) => namespace);
  return [...groups]
    .map(([namespace, members]) => {
      const lines = members.map(
        (command) => `  ${visibleLine(slashUsage(command)).padEnd(width)}  ${visibleLine(command.description)}\n`,
      );
      return `${namespace === "" ? "" : `${visibleLine(namespace)}\n`}${lines.join("")}`;
    })
    .join("");
}

const USAGE_MAX = 40;
