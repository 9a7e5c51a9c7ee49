/** Server-sent events on one response: from the log, then live, bounded by an outbox, with a heartbeat. */
import type { ServerResponse } from "node:http";
import { type Control, createOutbox } from "#control";
import type { Event, ReasonError, SessionId } from "#protocol";
import type { Principal } from "./principal.ts";
import type { Streams } from "./streams.ts";

export interface EventStreamOptions {
  readonly control: Control;
  readonly streams: Streams;
  readonly principal: Principal;
  readonly response: ServerResponse;
  readonly session: SessionId;
  /** Replay what has a higher id first; absent: only what happens from now on. */
  readonly since: number | undefined;
  readonly encode: (event: Event) => string | undefined;
  /** Rejects when the token does not hold any more. */
  readonly check: () => Promise<unknown>;
}

/** Resolves when the stream has begun; it ends with the response. Throws before a byte is sent when it cannot begin. */
export async function openEventStream(options: EventStreamOptions): Promise<void> {
  const { control, streams, principal, response, session, since, encode } = options;
  let takesMore = true;
  /** In the log a session can go on after an end; what is told live cannot. */
  let isLive = false;
  let hasEnded = false;
  const write = (piece: string): boolean => {
    takesMore = response.write(piece);
    return takesMore;
  };
  const outbox = createOutbox({ encode, send: write });
  const client = control.connect({
    id: principal.id,
    identityClass: principal.claims.identity_class,
    interactive: true,
    ready: () => outbox.ready(),
    onEvent(event) {
      outbox.push(event);
      if (event.session !== session) return;
      hasEnded = event.kind === "SessionEnded";
      if (isLive) finishWhenEnded();
    },
  });
  /** The session has let go of everybody. */
  function finishWhenEnded(): void {
    if (hasEnded) void Promise.resolve(outbox.ready()).then(finish);
  }
  /** Nothing is written any more when this returns; what was, still goes out. */
  function finish(): void {
    remove();
    client.disconnect();
    outbox.close();
    response.end();
  }
  const remove = streams.add({
    beat() {
      const isTaken = takesMore;
      if (isTaken) write(": heartbeat\n\n");
      return isTaken;
    },
    check: options.check,
    end(error) {
      if (response.writable) write(errorFrame(error));
      finish();
    },
    cut: () => response.destroy(),
  });
  response.on("drain", () => {
    takesMore = true;
    outbox.drained();
  });
  response.on("close", finish);
  // The connection is gone; `close` follows.
  response.on("error", () => undefined);
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  response.flushHeaders();
  await principal.submit({ kind: "AttachSession", session, ...(since === undefined ? {} : { since }) }, client);
  isLive = true;
  finishWhenEnded();
}

function errorFrame({ reason, message }: ReasonError): string {
  return `event: error\ndata: ${JSON.stringify({ reason, message })}\n\n`;
}
