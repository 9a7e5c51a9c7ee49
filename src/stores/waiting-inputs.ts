/** Inputs that wait in sessions that are closed: those that a daemon finds when it starts, and those that a copy leaves behind. */
import {
  createInputQueue,
  type EventDraft,
  type InputQueue,
  nextTs,
  type SessionMeta,
  type SessionStore,
} from "#engine";
import { type Event, reasonText, type SessionId } from "#protocol";
import type { ArchiveStore } from "./archive.ts";
import { isExpired } from "./expired-payload.ts";

const READ_PAGE = 500;
/** The end of the last turn is mostly among the last events of a session. */
const FIRST_PAGE = 50;
/** How far back it is looked for. An input that is further back waits until somebody opens the session. */
const LOOK_BACK_EVENTS = 20_000;

export interface WaitingSession {
  readonly id: SessionId;
  /** When the input that waits longest was queued. */
  readonly since: string;
  readonly inputs: number;
}

/**
 * Of the `limit` sessions that changed last, those in which an input waits, the longest wait first. A session that somebody ended is
 * not among them, nor one whose input has lost its content. Yields nothing to other work by itself: call it with a bound.
 */
export async function findWaitingInputs(
  store: Pick<SessionStore, "list" | "read">,
  limit: number,
): Promise<readonly WaitingSession[]> {
  const found: WaitingSession[] = [];
  for (const meta of await store.list({ limit })) {
    const tail = await tailOf(store, meta);
    if (wasEnded(meta, tail)) continue;
    const inputs = (await queueAt(store, meta.id, tail)).waiting();
    const [first] = inputs;
    if (first === undefined) continue;
    const [queued] = await store.read(meta.id, { after: first.id - 1, limit: 1 });
    if (queued === undefined || isExpired(queued.kind, JSON.stringify(queued.payload))) continue;
    found.push({ id: meta.id, since: queued.ts, inputs: inputs.length });
  }
  return found.toSorted((a, b) => a.since.localeCompare(b.since));
}

/** The events from the end of the last turn on, oldest first; all that were looked at when there is none. */
async function tailOf(store: Pick<SessionStore, "read">, { id, lastEventId }: SessionMeta): Promise<readonly Event[]> {
  let tail: readonly Event[] = [];
  let size = FIRST_PAGE;
  for (let before = lastEventId; before > 0 && tail.length < LOOK_BACK_EVENTS; size = READ_PAGE) {
    const after = Math.max(0, before - size);
    tail = [...(await store.read(id, { after, limit: before - after })), ...tail];
    const end = tail.findLastIndex(({ kind }) => kind === "TurnEnded");
    if (end >= 0) return tail.slice(end);
    before = after;
  }
  return tail;
}

/** By somebody; one that ended with its program, or because it was idle, is only closed. */
function wasEnded({ state }: SessionMeta, tail: readonly Event[]): boolean {
  const last = tail.findLast(({ kind }) => kind === "SessionEnded" || kind === "SessionStarted");
  if (last?.kind !== "SessionEnded") return state === "ended";
  return last.payload.reason !== "binary-shutdown" && last.payload.reason !== "idle";
}

/** The end of a turn names the inputs that waited then. */
async function queueAt(
  store: Pick<SessionStore, "read">,
  id: SessionId,
  tail: readonly Event[],
): Promise<Pick<InputQueue, "waiting">> {
  const inputs = createInputQueue();
  const [first] = tail;
  for (const queued of first?.kind === "TurnEnded" ? (first.payload.queued ?? []) : []) {
    for (const input of await store.read(id, { after: queued - 1, limit: 1 })) inputs.apply(input);
  }
  for (const event of tail) inputs.apply(event);
  return inputs;
}

/**
 * Inputs that waited in the session that a copy was made of. Nobody gave them to the copy, so they do not begin there: once in the
 * source would be twice, and the ids of their tokens are those of another log, or of another machine. Says so in the log of the
 * copy, before anybody opens it.
 */
export async function leaveWaitingInputs(store: ArchiveStore, id: SessionId, now: string): Promise<void> {
  const inputs = createInputQueue();
  for (let after = 0; ; ) {
    const page = await store.read(id, { after, limit: READ_PAGE });
    for (const event of page) inputs.apply(event);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.id;
  }
  const waiting = inputs.waiting();
  if (waiting.length === 0) return;
  const reason = "InputLeftBehind";
  const log = await store.acquire(id);
  try {
    const ts = nextTs(log.lastTs, Date.parse(now));
    const drafts = waiting.map(({ id: queued, by }): EventDraft => {
      return { kind: "InputRefused", ts, payload: { queued, by, reason, message: reasonText(reason) } };
    });
    await log.append(drafts, ts);
  } finally {
    await log.release();
  }
}
