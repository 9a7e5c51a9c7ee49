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
  let lastTs = "";
  return {
    passed({ session, id, ts }) {
      place = { session, id };
      lastTs = ts;
    },
    beginsAfter(session, id) {
      if (place === undefined && id > 0) place = { session, id };
    },
    notice(notice, nowMs) {
      const now = new Date(nowMs).toISOString();
      // Not before the event that it follows, also when the clock was set back.
      return place === undefined ? undefined : { ...notice, ...place, ts: now < lastTs ? lastTs : now };
    },
  };
}
