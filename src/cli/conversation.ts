/**
 * The line-by-line conversation on a terminal, with a session of this process or of a daemon. What happens is shown above the line
 * that is typed, and a question takes its place until somebody has answered. Slash words are handled here and never reach the model.
 */
import { paint, visibleLine } from "#base";
import type { ClientSession } from "#client";
import { parseSlash } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import { openInputHistory } from "./input-history.ts";
import type { SessionView } from "./session-view.ts";
import { isQuit, runSlash, type SlashHandlers, sessionWords, typedWords } from "./slash-words.ts";

/** Inputs that wait for the turn to end. */
const UNSENT_MAX = 100;

/** Why the conversation here is over. A session that was left goes on. */
export type Left =
  | { readonly kind: "left" }
  | { readonly kind: "ended" }
  | { readonly kind: "other"; readonly session: string };

export interface ConversationParts {
  readonly ports: Pick<CliPorts, "terminal" | "outward" | "env">;
  readonly session: ClientSession;
  readonly view: SessionView;
  /** Besides those of every conversation. `sessions:resume` leaves this one. */
  readonly words: SlashHandlers & Required<Pick<SlashHandlers, "health">>;
  /** Resolves when the next input can be sent. */
  send(text: string): Promise<unknown>;
  /** Aborts to make it return at once. */
  readonly left: AbortSignal;
}

/** Returns when the person leaves or the session ends; rejects when its events cannot be followed any more. */
export async function converse(parts: ConversationParts): Promise<Left> {
  const { view } = parts;
  const over = new AbortController();
  const left = AbortSignal.any([parts.left, over.signal]);
  /** Inputs that were typed and not carried out yet, oldest first. */
  const unsent: string[] = [];
  // The line that is being read ends with the session.
  const ended = view.ended
    .then((): Left => ({ kind: parts.left.aborted ? "left" : "ended" }))
    .finally(() => over.abort());
  try {
    return await Promise.race([readLines(parts, unsent, left), ended]);
  } catch (error) {
    view.finishLine();
    for (const text of unsent) parts.ports.terminal.err(`Not sent: ${visibleLine(text)}\n`);
    throw error;
  } finally {
    view.finishLine();
  }
}

async function readLines(parts: ConversationParts, unsent: string[], left: AbortSignal): Promise<Left> {
  const { ports, view } = parts;
  const { terminal, outward } = ports;
  const words: SlashHandlers = { ...sessionWords(terminal, parts.session), ...parts.words };
  /** What was typed is carried out in its order. */
  let work: Promise<void> = Promise.resolve();
  async function carryOut(input: string): Promise<void> {
    try {
      if (input.startsWith("/")) await runSlash(terminal, words, input);
      else await parts.send(input);
    } catch (error) {
      if (!left.aborted) terminal.err(`${await outward.describe(error)}\n`);
    }
    if (!left.aborted) unsent.shift();
  }
  const history = openInputHistory(ports);
  const tell = async (error: unknown): Promise<void> => terminal.err(`${await outward.describe(error)}\n`);
  let reason: Left = { kind: "left" };
  /** The lines so far of an input whose last line ended with a backslash. */
  let begun = "";
  while (!left.aborted) {
    while (view.isAsking) await view.idle();
    const prompt = paint(terminal, "green", begun === "" ? "› " : "… ");
    const question = view.interruption();
    const aid = { history: history.inputs(), words: begun === "" ? typedWords(words) : [] };
    const line = await terminal.readLine(prompt, AbortSignal.any([left, question]), aid);
    if (line.kind === "end") break;
    if (line.kind === "interrupted") {
      if (!question.aborted) begun = "";
      continue;
    }
    if (line.text.endsWith("\\")) {
      begun += `${line.text.slice(0, -1)}\n`;
      continue;
    }
    const input = (begun + line.text).trim();
    begun = "";
    if (input === "") continue;
    await history.add(input).catch(tell);
    if (isQuit(input)) break;
    const read = parseSlash(input);
    if ("word" in read && read.word === "sessions:resume" && words["sessions:resume"] !== undefined) {
      reason = { kind: "other", session: read.args.session ?? "" };
      break;
    }
    if (unsent.length > 0) view.finishLine();
    if (unsent.length > UNSENT_MAX) {
      terminal.err(`✗ ${UNSENT_MAX} inputs are already queued. Not sent: ${visibleLine(input)}\n`);
      continue;
    }
    if (unsent.length > 0) terminal.err(`${paint(terminal, "dim", `queued: ${visibleLine(input)}`)}\n`);
    unsent.push(input);
    work = work.then(() => carryOut(input));
  }
  if (unsent.length > 0 && !left.aborted) {
    view.finishLine();
    terminal.err(`${paint(terminal, "dim", "Leaving when the turn ends; Ctrl-C cancels it.")}\n`);
  }
  await work;
  return reason;
}
