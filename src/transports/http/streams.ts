/**
 * The open event streams of a server, of both wires: how many there may be, their heartbeat, and the end of those that take
 * nothing or whose token does not hold any more.
 */
import type { Clock } from "#base";
import { messageOf } from "#base";
import { ReasonError } from "#protocol";
import type { HttpLimits } from "./limits.ts";
import type { HttpObserver } from "./observer.ts";

export interface OpenStream {
  /** Sends a sign of life. False when the one before has not gone out yet. */
  beat(): boolean;
  /** Rejects when the token does not hold any more. */
  check(): Promise<unknown>;
  /** Ends it with a reason that the client is told if it still listens. */
  end(error: ReasonError): void;
  /** Ends it without a word: nobody takes anything. */
  cut(): void;
}

export interface Streams {
  /** Throws TooManyStreams. The returned function takes it off the list. */
  add(stream: OpenStream): () => void;
  endAll(error: ReasonError): void;
  close(): void;
  readonly size: number;
}

export function createStreams(clock: Clock, limits: HttpLimits, observer?: HttpObserver): Streams {
  const open = new Map<OpenStream, { stalled: number }>();
  const closed = new AbortController();

  async function beat(): Promise<void> {
    for (;;) {
      await clock.sleep(limits.heartbeatMs, closed.signal);
      if (closed.signal.aborted) return;
      for (const [stream, state] of [...open]) {
        state.stalled = stream.beat() ? 0 : state.stalled + 1;
        if (state.stalled > limits.stalledBeats) stream.cut();
        else await recheck(stream);
      }
    }
  }

  async function recheck(stream: OpenStream): Promise<void> {
    try {
      await stream.check();
    } catch (cause) {
      stream.end(
        cause instanceof ReasonError ? cause : new ReasonError("Unauthorized", { detail: messageOf(cause) }, { cause }),
      );
    }
  }

  void beat();
  return {
    add(stream) {
      if (open.size >= limits.streams) throw new ReasonError("TooManyStreams", { limit: limits.streams });
      open.set(stream, { stalled: 0 });
      observer?.streamOpened(open.size);
      return () => {
        if (open.delete(stream)) observer?.streamClosed(open.size);
      };
    },
    endAll(error) {
      for (const stream of [...open.keys()]) stream.end(error);
    },
    close: () => closed.abort(),
    get size() {
      return open.size;
    },
  };
}
