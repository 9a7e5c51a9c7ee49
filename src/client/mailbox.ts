/**
 * Events that came and were not taken yet, for wires that bring them whether they are taken or not. Bounded: a reader that falls too
 * far behind loses what waits, its loop ends, and it asks the log for what it has not seen. So nothing that waits for the reader
 * can hold up an answer on the same connection.
 */
import type { Event } from "#protocol";

export const MAILBOX_MAX_EVENTS = 4096;
/** As they came over the wire. A single one may be larger. */
const MAILBOX_MAX_BYTES = 64 * 1024 * 1024;

export interface Mailbox {
  /** `bytes`: what it takes, where a stranger decides about that. */
  push(event: Event, bytes?: number): void;
  /** No more will come; with an error, the reader gets that after what is there. */
  end(error?: unknown): void;
  /** Undefined when there is room; else resolves when there is. For a sender that can wait. */
  room(): Promise<void> | undefined;
  /** Ends after `end`, and after a loss. */
  take(): AsyncGenerator<Event, void, undefined>;
}

export function createMailbox(maxEvents = MAILBOX_MAX_EVENTS): Mailbox {
  let waiting: Event[] = [];
  let waitingBytes = 0;
  let ended: { readonly error?: unknown } | undefined;
  let wake = (): void => undefined;
  let makeRoom: (() => void)[] = [];

  function end(error?: unknown): void {
    ended ??= error === undefined ? {} : { error };
    wake();
    tellRoom();
  }

  function tellRoom(): void {
    const told = makeRoom;
    makeRoom = [];
    for (const resume of told) resume();
  }

  return {
    push(event, bytes = 0) {
      if (ended !== undefined) return;
      waitingBytes = waiting.length === 0 ? bytes : waitingBytes + bytes;
      if (waiting.length >= maxEvents || (waiting.length > 0 && waitingBytes > MAILBOX_MAX_BYTES)) {
        waiting = [];
        end();
        return;
      }
      waiting.push(event);
      wake();
    },
    end,
    room() {
      if (ended !== undefined || waiting.length < maxEvents / 2) return undefined;
      return new Promise((resolve) => void makeRoom.push(resolve));
    },
    async *take() {
      for (;;) {
        const taken = waiting;
        waiting = [];
        tellRoom();
        yield* taken;
        if (waiting.length > 0) continue;
        if (ended !== undefined) {
          if ("error" in ended) throw ended.error;
          return;
        }
        await new Promise<void>((resume) => {
          wake = resume;
        });
      }
    },
  };
}
