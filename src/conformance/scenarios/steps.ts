/** Steps that many scenarios share. */
import { canonicalJson } from "#base";
import type { Event, EventOf } from "#protocol";
import type { Answer, Connection, Feed, Sighting } from "../driver.ts";
import { nth, type Trial } from "../trial.ts";

export const HELLO = "Hello from the conformance scenario.";

export interface Stage {
  readonly connection: Connection;
  readonly session: string;
  readonly feed: Feed;
}

/** A client that watches a new session from its first event. */
export async function stage(trial: Trial): Promise<Stage> {
  const connection = await trial.connect();
  const session = await trial.session(connection);
  return { connection, session, feed: await connection.watch(session, 0) };
}

/** A name for a file that no other scenario uses. */
export function fileName(session: string): string {
  return `conformance-${session.slice(-10).toLowerCase()}.txt`;
}

/** Starts a turn that waits for a permission, and returns the call that it asks about. */
export async function hold(
  { connection, session, feed }: Stage,
  n = 1,
  input?: string,
): Promise<{ sent: Answer; callId: string }> {
  const sent = await connection.send(session, input ?? `write ${fileName(session)}`);
  if (!sent.ok) throw new Error(`the server refused the input: ${sent.reason}`);
  const asked = await nth(feed, "PermissionRequested", n);
  return { sent, callId: asked.callId ?? (await askedCall(connection, session)) };
}

/** Reads the call id from the log, for wires that do not report it. */
export async function askedCall(connection: Connection, session: string): Promise<string> {
  const asked = (await connection.log(session)).findLast((event) => event.kind === "PermissionRequested");
  if (asked === undefined) throw new Error("the log has no PermissionRequested");
  return asked.payload.call_id;
}

export function decide(connection: Connection, session: string, callId: string, decision: string): Promise<Answer> {
  return connection.submit(session, { kind: "AnswerPermission", call_id: callId, decision });
}

export function ended(feed: Feed, n = 1): Promise<Sighting> {
  return nth(feed, "TurnEnded", n);
}

/** Sends an input and waits until its turn, the n-th, has ended. */
export async function turn({ connection, session, feed }: Stage, text: string, n = 1): Promise<Answer> {
  const sent = await connection.send(session, text);
  if (!sent.ok) throw new Error(`the server refused the input: ${sent.reason}`);
  await ended(feed, n);
  return sent;
}

export function eventsOf<Kind extends Event["kind"]>(log: readonly Event[], kind: Kind): EventOf<Kind>[] {
  // Chosen by their kind.
  return log.filter((event) => event.kind === kind) as unknown as EventOf<Kind>[];
}

export function textIn(log: readonly Event[]): string {
  return eventsOf(log, "TextDelta")
    .map(({ payload }) => payload.text)
    .join("");
}

/** The first difference between a stream and the log, up to the last ended turn; undefined if there is none. */
export function difference(feed: Feed, log: readonly Event[], after = 0): string | undefined {
  const { carried } = feed;
  const isCarried = (kind: string): boolean => carried === undefined || [...carried].some((own) => own === kind);
  const seen = upToEnd(feed.seen.filter(({ kind }) => isCarried(kind)));
  const wanted = upToEnd(log.filter(({ id, kind }) => id > after && isCarried(kind)));
  for (const [index, event] of wanted.entries()) {
    const sighting = seen[index];
    if (sighting === undefined) return `event ${event.id} (${event.kind}) is missing from the stream`;
    const why = unlike(sighting, event);
    if (why !== undefined) return why;
  }
  const extra = seen[wanted.length];
  return extra === undefined ? undefined : `the stream has an extra ${extra.kind} that is not in the log`;
}

function unlike(sighting: Sighting, event: Event): string | undefined {
  if (sighting.kind !== event.kind)
    return `the stream has ${sighting.kind} where the log has ${event.kind} (${event.id})`;
  if (sighting.id !== undefined && sighting.id !== event.id)
    return `event ${event.id} has id ${sighting.id} on the stream`;
  if (sighting.text !== undefined && event.kind === "TextDelta" && sighting.text !== event.payload.text) {
    return `the text of event ${event.id} on the stream is ${JSON.stringify(sighting.text.slice(0, 80))}`;
  }
  if (sighting.event !== undefined && canonicalJson(sighting.event) !== canonicalJson(event)) {
    return `event ${event.id} (${event.kind}) has different content on the stream`;
  }
  return undefined;
}

function upToEnd<Item extends { readonly kind: string }>(items: readonly Item[]): readonly Item[] {
  return items.slice(0, items.findLastIndex(({ kind }) => kind === "TurnEnded") + 1);
}
