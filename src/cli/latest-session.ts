/** Which sessions a command that reads the log is about: the one that is named, else the latest of a folder. */
import { findSession, readEvents } from "#program";
import { type Event, ReasonError } from "#protocol";
import { type ArchiveStore, delegatedBy, type SessionMeta } from "#stores";

/** A session that was cut off may have many delegates that are newer than itself. */
const LATEST_LIMIT = 200;

export async function namedOrLatest(store: ArchiveStore, named: string | undefined, dir: string): Promise<SessionMeta> {
  if (named !== undefined) return findSession(store, named);
  for (const meta of await store.list({ limit: LATEST_LIMIT, workingDir: dir })) {
    if ((await delegatedBy(store, meta)) === undefined) return meta;
  }
  throw new ReasonError(
    "UsageInvalid",
    `the log has no session of ${dir}. To list all sessions, run: harness sessions list`,
  );
}

/** The last `limit` events that `wanted` chooses, oldest first. */
export async function lastEvents(
  store: ArchiveStore,
  { id }: SessionMeta,
  wanted: (event: Event) => boolean,
  limit: number,
): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of readEvents(store, id)) {
    if (!wanted(event)) continue;
    events.push(event);
    if (events.length > limit) events.shift();
  }
  return events;
}
