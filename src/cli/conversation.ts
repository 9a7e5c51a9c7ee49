/**
 * The line-by-line conversation on a terminal, with a session of this process or of a daemon. What happens is shown above the line
 * that is typed, and a question takes its place until somebody has answered. Slash words and `!` are handled here and never reach the
 * model.
 */
import { paint, visibleLine } from "#base";
import type { ClientSession, Input } from "#client";
import { ownCommandOf, type SessionId, type SlashCommand } from "#protocol";
import { createAttachedImages } from "./attached-images.ts";
import type { CliPorts } from "./cli-ports.ts";
import { openInputHistory } from "./input-history.ts";
import type { LineAid } from "./keyboard.ts";
import { LINE_MAX_CHARS } from "./line-keys.ts";
import type { SessionView } from "./session-view.ts";
import {
  completeInput,
  isAtOnce,
  isQuit,
  ownWords,
  runSlash,
  type SlashHandlers,
  type Words,
  withOwnRows,
} from "./slash-words.ts";

/** Inputs that wait for the turn to end. */
const UNSENT_MAX = 100;

/** Why the conversation here is over. A session that was left goes on. */
export type Left =
  | { readonly kind: "left" }
  | { readonly kind: "ended" }
  | { readonly kind: "other"; readonly session: SessionId };

export interface ConversationParts {
  readonly ports: Pick<CliPorts, "terminal" | "outward" | "env" | "clock" | "cwd" | "clipboard">;
  readonly session: ClientSession;
  readonly view: SessionView;
  /** What this conversation does in its own way. */
  readonly words: SlashHandlers;
  /** Resolves when the next input can be sent. */
  send(input: Input): Promise<unknown>;
  /** The same for a command that the person typed behind `!`. */
  runCommand(command: string): Promise<unknown>;
  /** Aborts to make it return at once. */
  readonly left: AbortSignal;
}

/** Returns when the person leaves or the session ends; rejects when its events cannot be followed any more. */
export async function converse(parts: ConversationParts): Promise<Left> {
  const { view } = parts;
  const over = new AbortController();
  const left = AbortSignal.any([parts.left, over.signal]);
  /** Inputs that were typed and not carried out yet, oldest first. */
  const unsent: Waiting[] = [];
  // The line that is being read ends with the session.
  const ended = view.ended.finally(() => over.abort());
  const reading = readLines(parts, unsent, left);
  const closed = async (): Promise<Left> => {
    await ended;
    const session = view.continuedIn();
    if (session === undefined || parts.left.aborted) return { kind: parts.left.aborted ? "left" : "ended" };
    // Whoever typed the word that paused the session reads its reply first.
    await reading;
    return { kind: "other", session };
  };
  try {
    return await Promise.race([reading, closed()]);
  } catch (error) {
    view.finishLine();
    for (const { input } of unsent) parts.ports.terminal.err(`Not sent: ${visibleLine(input)}\n`);
    throw error;
  } finally {
    view.finishLine();
  }
}

/** An input that was typed and not carried out yet. */
interface Waiting {
  readonly input: string;
  isWithdrawn: boolean;
}

async function readLines(parts: ConversationParts, unsent: Waiting[], stopped: AbortSignal): Promise<Left> {
  const { ports, view } = parts;
  const { terminal, outward } = ports;
  const moved = new AbortController();
  const left = AbortSignal.any([stopped, moved.signal]);
  let next: SessionId | undefined;
  /** As they were when they were last asked for, for Tab. */
  let rows = withOwnRows(await parts.session.slashCommands());
  const current = async (): Promise<readonly SlashCommand[]> => {
    rows = withOwnRows(await parts.session.slashCommands());
    return rows;
  };
  const images = createAttachedImages(ports);
  const words: Words = {
    handlers: { ...ownWords(terminal, current), ...parts.words },
    known: () => rows,
    rows: current,
    show: async (text) => terminal.err(`${await outward.orNothing(text)}\n`),
    contentOf: images.contentOf,
    send: parts.send,
    moveTo(session) {
      next = session;
      moved.abort();
    },
  };
  const queue = createQueue(parts, words, unsent, left);
  const history = openInputHistory(ports, (await parts.session.info()).working_dir);
  const tell = async (error: unknown): Promise<void> => terminal.err(`${await outward.describe(error)}\n`);
  view.onWordsChanged(() => void current().catch(tell));
  /** The lines so far of an input whose last line ended with a backslash. */
  let begun = "";
  const aid = (): LineAid => ({
    // A longer one is no line.
    history: history.inputs().filter(({ length }) => length <= LINE_MAX_CHARS),
    complete: async (typed) => (begun === "" ? completeInput(parts.session, typed, rows) : []),
    pasted: images.fromPaste,
    fromClipboard: () => images.fromClipboard().catch((error: unknown) => tell(error).then(() => "")),
  });
  while (!left.aborted) {
    while (view.isAsking) await view.idle();
    const prompt = paint(terminal, "green", begun === "" ? "› " : "… ");
    const question = view.interruption();
    const line = await terminal.readLine(prompt, AbortSignal.any([left, question]), aid());
    if (line.kind === "end") break;
    if (line.kind === "interrupted") {
      if (!question.aborted) begun = "";
      continue;
    }
    if (line.text.endsWith("\\")) {
      begun += `${line.text.slice(0, -1)}\n`;
      continue;
    }
    const typed = (begun + line.text).trim();
    const input = images.fromPaste(typed) ?? typed;
    begun = "";
    if (input === "") continue;
    await history.add(input).catch(tell);
    if (isQuit(input)) break;
    // A word for the running turn does not wait for its end.
    if (isAtOnce(input)) void runSlash(terminal, parts.session, words, input).catch(tell);
    else queue.add(input);
  }
  if (unsent.length > 0 && !left.aborted) {
    view.finishLine();
    terminal.err(`${paint(terminal, "dim", "Leaving when the turn ends; Ctrl-C cancels it.")}\n`);
  }
  await queue.drained();
  return next === undefined ? { kind: "left" } : { kind: "other", session: next };
}

/** What was typed and is carried out in its order. */
function createQueue(parts: ConversationParts, words: Words, unsent: Waiting[], left: AbortSignal) {
  const { view, session, send, runCommand } = parts;
  const { terminal, outward } = parts.ports;
  let work: Promise<void> = Promise.resolve();
  async function carryOut({ input, isWithdrawn }: Waiting): Promise<void> {
    if (isWithdrawn) return;
    try {
      const command = ownCommandOf(input);
      if (command !== undefined) await runCommand(command);
      else if (input.startsWith("/")) await runSlash(terminal, session, words, input);
      else await send(await words.contentOf(input));
    } catch (error) {
      if (!left.aborted) terminal.err(`${await outward.describe(error)}\n`);
    }
    if (!left.aborted) unsent.shift();
  }
  /** Whoever cancels a turn thinks again: what was typed to follow it is not sent by itself. */
  const stopListening = terminal.onInterrupt(() => {
    const withdrawn = unsent.splice(1);
    if (withdrawn.length > 0) view.finishLine();
    for (const one of withdrawn) {
      one.isWithdrawn = true;
      terminal.err(`Not sent: ${visibleLine(one.input)} (arrow-up brings it back)\n`);
    }
  });
  return {
    add(input: string): void {
      if (unsent.length > 0) view.finishLine();
      if (unsent.length > UNSENT_MAX) {
        terminal.err(`✗ ${UNSENT_MAX} inputs are already queued. Not sent: ${visibleLine(input)}\n`);
        return;
      }
      if (unsent.length > 0) terminal.err(`${paint(terminal, "dim", `queued: ${visibleLine(input)}`)}\n`);
      const waiting = { input, isWithdrawn: false };
      unsent.push(waiting);
      work = work.then(() => carryOut(waiting));
    },
    async drained(): Promise<void> {
      await work;
      stopListening();
    },
  };
}
