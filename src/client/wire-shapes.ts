/** What comes over a wire, checked as far as the client itself relies on it. The rest passes as it is, also what is not known here. */
import { isRecord } from "#base";
import { type Event, SessionId, type SessionInfo } from "#protocol";
import { connectionLost } from "./refusal.ts";

/** An envelope with an id, a kind and a session; kinds and fields of newer servers included. */
export function eventFrom(value: unknown, address: string): Event {
  if (isRecord(value)) {
    const { id, kind, session, payload } = value;
    const isEnvelope =
      typeof id === "number" && typeof kind === "string" && typeof session === "string" && isRecord(payload);
    // A kind that is not known here has a payload that is not looked at: whoever switches on the kind has a default.
    if (isEnvelope && Number.isSafeInteger(id) && SessionId.is(session)) return value as unknown as Event;
  }
  throw connectionLost(address, "it sent something that is not an event");
}

export function sessionInfoFrom(value: unknown, address: string): SessionInfo {
  if (isRecord(value) && typeof value.id === "string" && typeof value.last_event_id === "number") {
    return value as unknown as SessionInfo; // fields that were added since do no harm
  }
  throw connectionLost(address, "it sent something that is not a session");
}

/** Of the session that an answer is about. */
export function sessionIdFrom(value: unknown, address: string): SessionId {
  if (isRecord(value) && typeof value.id === "string" && SessionId.is(value.id)) return value.id;
  throw connectionLost(address, "its answer names no session");
}
