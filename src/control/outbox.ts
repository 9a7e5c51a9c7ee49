/**
 * What waits for one remote client. Its size is bounded in events and in characters, whatever the client does: one that does not
 * read loses events, is told which ones by a StreamGap as soon as it takes something again, and can get them from the log.
 * Pushing never waits and never throws, so a slow client costs the engine nothing.
 */
import type { Event, EventOf, SessionId } from "#protocol";

export const OUTBOX_MAX_EVENTS = 1024;
export const OUTBOX_MAX_CHARS = 1024 * 1024;

export interface OutboxOptions {
  /** How the event looks on the wire; undefined for one that this wire does not carry. */
  readonly encode: (event: Event) => string | undefined;
  /** Hands over one piece. False when the connection holds enough: nothing more comes until `drained`. */
  readonly send: (piece: string) => boolean;
  readonly maxEvents?: number;
  readonly maxChars?: number;
}

export interface Outbox {
  push(event: Event): void;
  /** The connection takes more. */
  drained(): void;
  /** Undefined when nothing waits or it is closed; else resolves when that is so. */
  ready(): Promise<void> | undefined;
  close(): void;
  /** Events that wait. */
  readonly waiting: number;
}

export function createOutbox(options: OutboxOptions): Outbox {
  const { encode, send, maxEvents = OUTBOX_MAX_EVENTS, maxChars = OUTBOX_MAX_CHARS } = options;
  let pieces: { readonly event: Event; readonly piece: string }[] = [];
  let chars = 0;
  let isFull = false;
  let isClosed = false;
  /** The events that were dropped since the client took something last, for each session that it is told of. */
  const lost = new Map<SessionId, { readonly first: Event; readonly last: Event }>();
  let wake: (() => void)[] = [];

  function isBusy(): boolean {
    return isFull || pieces.length > 0 || lost.size > 0;
  }

  function tellReady(): void {
    if (!isClosed && isBusy()) return;
    const waiting = wake;
    wake = [];
    for (const resume of waiting) resume();
  }

  function drop(event: Event): void {
    for (const dropped of [...pieces.map((waiting) => waiting.event), event]) {
      lost.set(dropped.session, { first: lost.get(dropped.session)?.first ?? dropped, last: dropped });
    }
    pieces = [];
    chars = 0;
  }

  function sendGaps(): void {
    for (const { first, last } of lost.values()) {
      const gap = encode(gapEvent(last, first.id, "overflow"));
      if (gap !== undefined && !send(gap)) isFull = true;
    }
    lost.clear();
  }

  return {
    push(event) {
      if (isClosed) return;
      // Nothing is told between a loss and the news of it.
      if (lost.size > 0) return drop(event);
      const piece = encode(event);
      if (piece === undefined) return;
      if (!isFull && pieces.length === 0) {
        isFull = !send(piece);
        return;
      }
      if (pieces.length >= maxEvents || chars + piece.length > maxChars) return drop(event);
      pieces.push({ event, piece });
      chars += piece.length;
    },
    drained() {
      if (isClosed) return;
      isFull = false;
      sendGaps();
      let sent = 0;
      while (!isFull && sent < pieces.length) {
        const { piece } = pieces[sent] ?? { piece: "" };
        isFull = !send(piece);
        chars -= piece.length;
        sent += 1;
      }
      pieces.splice(0, sent);
      tellReady();
    },
    ready() {
      if (isClosed || !isBusy()) return undefined;
      return new Promise((resolve) => void wake.push(resolve));
    },
    close() {
      isClosed = true;
      pieces = [];
      chars = 0;
      tellReady();
    },
    get waiting() {
      return pieces.length;
    },
  };
}

/** Not in the log. It has the id of the last event that is missing: that is where the stream stands after it. */
export function gapEvent(
  { session, ts, id }: Event,
  from: number,
  reason: EventOf<"StreamGap">["payload"]["reason"],
): EventOf<"StreamGap"> {
  return { id, kind: "StreamGap", session, ts, payload: { from, to: id, reason } };
}
