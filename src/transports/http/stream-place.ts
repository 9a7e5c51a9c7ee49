/** Where a stream stands in the log: what is told on it and is in no log carries the id of the event before it. */
import type { Event, SessionId } from "#protocol";
import type { StreamNotice } from "./streams.ts";

export interface StreamPlace {
  /** Every event that goes out. */
  passed(event: Event): void;
  /** The stream begins after this event of the log; 0 is before the first, where nothing can be told yet. */
  beginsAfter(session: SessionId, id: number): void;
  /** Undefined while the stream is nowhere. */
  notice(notice: StreamNotice, nowMs: number): Event | undefined;
}

export function createStreamPlace(): StreamPlace {
  let place: { readonly session: SessionId; readonly id: number } | undefined;
  return {
    passed({ session, id }) {
      place = { session, id };
    },
    beginsAfter(session, id) {
      if (place === undefined && id > 0) place = { session, id };
    },
    notice: (notice, nowMs) =>
      place === undefined ? undefined : { ...notice, ...place, ts: new Date(nowMs).toISOString() },
  };
}
