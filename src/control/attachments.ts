/** Clients on a session: each is told what it has missed, from the log and at its own pace, and then what happens. */
import type { SessionStore } from "#engine";
import { type Event, ReasonError, type SessionId } from "#protocol";
import type { Client } from "./client.ts";
import { gapEvent } from "./outbox.ts";
import type { SharedSession } from "./shared-session.ts";
import { type ReplayOptions, replayLog, subscribe } from "./subscription.ts";

/** A session whose log is taken, while what is needed to go on with it is still read. */
export interface OpeningSession {
  readonly id: SessionId;
  /** Rejects when it cannot be opened. */
  readonly opened: Promise<unknown>;
  /** Clients that are told what the log has, each with how to stop that. */
  readonly replays: Map<Client, () => void>;
}

/** Resolves when it has caught up. `since` is the last event that the client has seen; without it only what comes is told. */
export async function attach(
  store: SessionStore,
  session: SharedSession,
  client: Client,
  since: number | undefined,
): Promise<void> {
  const { id } = session.live.engine;
  return attachBy(replayOf(store, id, client), store, session, client, since);
}

/**
 * As `attach`, for a session that is being opened: what is in its log is told at once, because opening takes the longer the more
 * there is. Resolves when the client has caught up with the open session, or has left before. Rejects when it cannot be opened.
 */
export async function attachEarly(
  store: SessionStore,
  { id, opened, replays }: OpeningSession,
  find: () => SharedSession,
  client: Client,
  since: number | undefined,
): Promise<void> {
  const replay = replayOf(store, id, client);
  await requireSeen(store, id, since);
  replays.get(client)?.();
  let isStopped = false;
  let isOpen = false;
  const stop = (): void => {
    isStopped = true;
  };
  opened.then(
    () => {
      isOpen = true;
    },
    () => undefined, // awaited below
  );
  replays.set(client, stop);
  try {
    const from = since === undefined ? undefined : await tellExpired(store, id, since, replay.onEvent);
    // The rest is told by the open session, which then knows that somebody is there.
    const last = from === undefined ? undefined : await replayLog(replay, from, () => isStopped || isOpen);
    await opened;
    if (!isStopped) await attachBy(replay, store, find(), client, last);
  } finally {
    if (replays.get(client) === stop) replays.delete(client);
  }
}

/** Rejects for a client that claims to have seen more than there is: it would be told nothing. */
export async function requireSeen(
  store: Pick<SessionStore, "read">,
  id: SessionId,
  since: number | undefined,
): Promise<void> {
  if (since === undefined || since === 0) return;
  if ((await store.read(id, { after: since - 1, limit: 1 })).length > 0) return;
  throw new ReasonError("InvalidCommand", `the log of ${id} has no event ${since}`);
}

export function detach({ attached }: Pick<SharedSession, "attached">, client: Client): void {
  attached.get(client)?.();
  attached.delete(client);
}

async function attachBy(
  replay: ReplayOptions,
  store: SessionStore,
  session: SharedSession,
  client: Client,
  since: number | undefined,
): Promise<void> {
  const { id, bus } = session.live.engine;
  await requireSeen(store, id, since);
  const from = since === undefined ? undefined : await tellExpired(store, id, since, replay.onEvent);
  detach(session, client);
  const subscription = subscribe({ ...replay, bus, since: from });
  session.attached.set(client, subscription.stop);
  await subscription.caughtUp;
}

/** One walk through the log for one client. */
function replayOf(store: SessionStore, id: SessionId, { onEvent, ready, replayed }: Client): ReplayOptions {
  if (onEvent === undefined) throw new ReasonError("InvalidCommand", "this client does not receive events");
  return { read: (page) => store.read(id, page), onEvent, ready, replayed: replayed?.() };
}

/** Where the replay begins: events whose content has passed its time are told as a gap, first. */
async function tellExpired(
  store: SessionStore,
  id: SessionId,
  since: number,
  onEvent: (event: Event) => void,
): Promise<number> {
  const to = (await store.expiredTo?.(id)) ?? 0;
  if (to <= since) return since;
  const [last] = await store.read(id, { after: to - 1, limit: 1 });
  if (last === undefined) return since;
  onEvent(gapEvent(last, since + 1, "ttl"));
  return to;
}
