/** How a log stands to the last known head of a session, and how a person is told. Pure. */
import type { SessionId } from "#protocol";
import type { HeadReading, KnownHead } from "./known-heads.ts";

export type HeadComparison =
  /** The log has it. */
  | ({ readonly state: "reached" } & Seen)
  /** The log ends before it. */
  | ({ readonly state: "older" } & Seen)
  /** The log has another hash there: it left the way that it once went. */
  | ({ readonly state: "replaced" } & Seen)
  /** The log has no such session, and nobody deleted it. */
  | ({ readonly state: "gone" } & Seen)
  /** None is known: a new machine, a session of an earlier version, or a state folder that was emptied. */
  | { readonly state: "unknown" }
  | { readonly state: "tampered"; readonly why: string };

type Seen = Pick<KnownHead, "event" | "ts">;

/**
 * `log` is what the log has: its last event, and the hash of its chain at the event of the head; undefined when it does not have the
 * session. The head has to be read before the log: it is written after it, so that a log is never behind for being read early.
 */
export function compareHead(
  reading: HeadReading,
  log: { readonly lastEventId: number; readonly hashAtHead: string | undefined } | undefined,
): HeadComparison {
  if (reading.kind === "none") return { state: "unknown" };
  if (reading.kind === "tampered") return { state: "tampered", why: reading.why };
  const { event, ts, hash } = reading.head;
  if (log === undefined) return { state: "gone", event, ts };
  if (log.lastEventId < event) return { state: "older", event, ts };
  return { state: log.hashAtHead === hash ? "reached" : "replaced", event, ts };
}

/** Sentences for a person; undefined when the log is as new as what is known of it, or nothing is known. */
export function headProblem(session: SessionId, standing: HeadComparison): string | undefined {
  switch (standing.state) {
    case "reached":
    case "unknown":
      return undefined;
    case "older":
      return `The log of ${session} ends before its last known head (${seen(standing)}): someone replaced it with an older copy or cut off its end.`;
    case "replaced":
      return `The log of ${session} does not contain its last known head (${seen(standing)}): someone replaced it with an older copy, and the session continued from there.`;
    case "gone":
      return `The log no longer contains ${session}, although Harness did not delete it. Its last known head is ${seen(standing)}.`;
    case "tampered":
      return `The last known head of ${session} is not trustworthy (${standing.why}). Someone changed it, or another machine key sealed it.`;
  }
}

export function seen({ event, ts }: Seen): string {
  return `event ${event}, ${ts}`;
}
