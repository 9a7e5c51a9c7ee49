/** Clients on an open session: each is told what it has missed, from the log and at its own pace, and then what happens. */
import type { EngineSession, SessionStore } from "#engine";
import { type Event, ReasonError, type SessionId } from "#protocol";
import type { Client } from "./client.ts";
import { gapEvent } from "./outbox.ts";
import type { SharedSession } from "./shared-session.ts";
import { subscribe } from "./subscription.ts";

/** Resolves when it has caught up. `since` is the last event that the client has seen; without it only what comes is told. */
export async function attach(
  store: SessionStore,
  session: SharedSession,
  client: Client,
  since: number | undefined,
): Promise<void> {
  const { id, bus } = session.live.engine;
  const { onEvent, ready } = client;
  if (onEvent === undefined) throw new ReasonError("InvalidCommand", { detail: "this client takes no events" });
  await requireSeen(store, id, since);
  const from = since === undefined ? undefined : await tellExpired(store, session.live.engine, since, onEvent);
  detach(session, client);
  const clean = client.replayed?.();
  const subscription = subscribe({
    bus,
    async read(after, limit) {
      const page = await store.read(id, { after, limit });
      return clean === undefined ? page : page.map(clean);
    },
    onEvent,
    ...(ready === undefined ? {} : { ready }),
    ...(from === undefined ? {} : { since: from }),
  });
  session.attached.set(client, subscription.stop);
  await subscription.caughtUp;
}

/** Rejects for a client that claims to have seen more than there is: it would be told nothing. */
export async function requireSeen(
  store: Pick<SessionStore, "read">,
  id: SessionId,
  since: number | undefined,
): Promise<void> {
  if (since === undefined || since === 0) return;
  if ((await store.read(id, { after: since - 1, limit: 1 })).length > 0) return;
  throw new ReasonError("InvalidCommand", { detail: `the log of ${id} has no event ${since}` });
}

export function detach({ attached }: SharedSession, client: Client): void {
  attached.get(client)?.();
  attached.delete(client);
}

/** Where the replay begins: events whose content has passed its time are told as a gap, first. */
async function tellExpired(
  store: SessionStore,
  { id }: EngineSession,
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
