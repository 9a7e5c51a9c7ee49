/**
 * The conversation on a session of a daemon. A line can be typed at any time: what happens, here or in another terminal, is shown
 * above it, and a question takes its place until somebody has answered.
 */
import { paint, visibleLine } from "#base";
import type { Client, ClientSession } from "#client";
import type { DaemonRevival } from "#daemon";
import { parseSlash, type Reason, ReasonError, type TurnId } from "#protocol";
import { describe, listedSessions } from "./attach-offer.ts";
import type { AttachedView } from "./attached-view.ts";
import type { CliPorts } from "./cli-ports.ts";
import { restoreCommand } from "./cli-session.ts";
import { isQuit, runSlash, type SlashHandlers, type SlashSession, sessionWords } from "./slash-words.ts";

/** Why the conversation here is over; the session goes on, unless it has ended. */
export type Left = { readonly kind: "left" } | { readonly kind: "other"; readonly session: string };

export interface AttachReplParts {
  readonly ports: CliPorts;
  readonly client: Client;
  readonly session: ClientSession;
  readonly view: AttachedView;
  /** Absent where the daemon is not ours to start. */
  readonly revival: Pick<DaemonRevival, "process"> | undefined;
  /** Inputs that were typed and that the daemon has not answered yet, oldest first. */
  readonly unsent: string[];
  /** Aborts to make it return at once. */
  readonly left: AbortSignal;
}

export async function runAttachRepl(parts: AttachReplParts): Promise<Left> {
  const { ports, session, view, unsent, left } = parts;
  const { terminal, outward } = ports;
  const words = attachedWords(parts);
  /** What was typed is carried out in its order, while the next line is read. */
  let work: Promise<void> = Promise.resolve();
  async function carryOut(input: string): Promise<void> {
    try {
      if (input.startsWith("/")) await runSlash(terminal, words, input);
      else await sendAs(parts, input, () => session.send(input));
    } catch (error) {
      if (!left.aborted) terminal.err(`${await outward.describe(error)}\n`);
    }
  }
  let reason: Left = { kind: "left" };
  while (!left.aborted) {
    while (view.isAsking) await view.idle();
    const prompt = paint(terminal, "green", "› ");
    const line = await terminal.readLine(prompt, AbortSignal.any([left, view.interruption()]));
    if (line.kind === "end") break;
    const input = line.kind === "line" ? line.text.trim() : "";
    if (input === "") continue;
    if (isQuit(input)) break;
    const read = parseSlash(input);
    if ("word" in read && read.word === "sessions:resume") {
      reason = { kind: "other", session: read.args.session ?? "" };
      break;
    }
    unsent.push(input);
    work = work
      .then(() => carryOut(input))
      .finally(() => {
        if (!left.aborted) unsent.shift();
      });
  }
  await work;
  return reason;
}

/** What every conversation understands, and what a daemon adds. */
function attachedWords(parts: AttachReplParts): SlashHandlers {
  const { ports, client, session } = parts;
  return {
    ...sessionWords(ports.terminal, slashSession(session)),
    queue: ({ text = "" }) => sendAs(parts, text, async () => void (await session.queue(text))),
    steer: async ({ text = "" }) => void (await session.steer(text)),
    cancel: async () => void (await session.cancel()),
    // Read before anything is carried out: it ends the conversation here.
    "sessions:resume": async () => undefined,
    async "sessions:list"() {
      const nowMs = ports.clock.now();
      const { terminal } = await ports.outward.through(ports, false);
      for (const info of await listedSessions({ client })) {
        terminal.err(`  ${await describe(client, info, nowMs)} · ${visibleLine(info.working_dir)}\n`);
      }
    },
  };
}

async function sendAs(
  parts: AttachReplParts,
  text: string,
  send: () => Promise<{ turn: TurnId } | undefined>,
): Promise<void> {
  const { view } = parts;
  const [process, since] = [parts.revival?.process(), view.lastEvent];
  view.typed(text);
  try {
    const sent = await send().catch(async (error: unknown) => {
      if (!isLost(error) || !(await wasNotTaken(parts, process, since))) throw error;
      return send();
    });
    if (sent !== undefined) view.sent(text, sent.turn);
  } catch (error) {
    view.untyped(text);
    if (isLost(error)) parts.ports.terminal.err(`Look above whether it was taken: ${visibleLine(text)}\n`);
    if (hasReason(error, "ServerUnreachable")) parts.ports.terminal.err(`Not sent: ${visibleLine(text)}\n`);
    throw error;
  }
}

/** Of an input that may have been begun with when the connection went: its daemon is dead, and the log has no input since. */
async function wasNotTaken(
  { session, revival }: AttachReplParts,
  process: string | undefined,
  since: number,
): Promise<boolean> {
  // Answered by whoever is the daemon then.
  await session.info();
  if (process === undefined || revival?.process() === process) return false;
  for await (const { kind } of session.log({ after: since })) {
    if (kind === "TurnStarted" || kind === "InputQueued") return false;
  }
  return true;
}

function isLost(error: unknown): boolean {
  return hasReason(error, "ConnectionLost");
}

function hasReason(error: unknown, reason: Reason): boolean {
  return error instanceof ReasonError && error.reason === reason;
}

function slashSession(session: ClientSession): SlashSession {
  return {
    setModel: (model) => session.setModel(model),
    health: async () => "The daemon tells how it is: harness daemon status\n",
    async rules() {
      return (await session.submit({ kind: "ListRules" })).result;
    },
    async changeRule(change, rule) {
      await session.submit({ kind: change === "revoke" ? "RevokeRule" : "PromoteRule", rule });
    },
    async restore(action, target) {
      return (await session.submit(restoreCommand(action, target))).result;
    },
  };
}
