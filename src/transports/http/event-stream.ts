/** Server-sent events on one response: from the log, then live, bounded by an outbox, with a heartbeat. */

import type { ServerResponse } from "node:http";
import { type Clock, defined } from "#base";
import { type Control, createOutbox } from "#control";
import type { Event, ReasonError, SessionId } from "#protocol";
import { commentFrame, eventFrame } from "#wire";
import type { PresentedToken } from "./access.ts";
import type { Principal } from "./principal.ts";
import { createStreamPlace } from "./stream-place.ts";
import type { Streams } from "./streams.ts";

export interface EventStreamOptions {
  readonly control: Control;
  readonly streams: Streams;
  readonly principal: Principal;
  readonly response: ServerResponse;
  readonly session: SessionId;
  /** Replay what has a higher id first; absent: only what happens from now on. */
  readonly since: number | undefined;
  /** The last event that the log has, or the one that the client has seen. */
  readonly standsAt: number;
  readonly encode: (event: Event) => string | undefined;
  readonly replayed: () => (event: Event) => Event;
  readonly presented: PresentedToken;
  readonly clock: Pick<Clock, "now">;
  /** Whatever was thrown, as it may be told. */
  readonly told: (cause: unknown) => ReasonError;
}

/** Resolves when the client has caught up; the stream ends with the response. What fails after the headers is told on it. */
export async function openEventStream(options: EventStreamOptions): Promise<void> {
  const { control, streams, principal, response, session, since, encode, presented, clock } = options;
  let takesMore = true;
  /** In the log a session can go on after an end; what is told live cannot. */
  let isLive = false;
  let hasEnded = false;
  const write = (piece: string): boolean => {
    takesMore = response.write(piece);
    return takesMore;
  };
  const outbox = createOutbox({ encode, send: write });
  const place = createStreamPlace();
  place.beginsAfter(session, options.standsAt);
  const client = control.connect({
    id: principal.id,
    identityClass: principal.claims.identity_class,
    transport: "http",
    ...defined({ name: principal.name }),
    interactive: true,
    ready: () => outbox.ready(),
    replayed: options.replayed,
    onEvent(event) {
      outbox.push(event);
      if (event.session !== session) return;
      place.passed(event);
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
  function endWith(error: ReasonError): void {
    if (response.writable) write(errorFrame(error));
    finish();
  }
  const remove = streams.add({
    beat() {
      const isTaken = takesMore;
      if (isTaken) write(commentFrame("heartbeat"));
      return isTaken;
    },
    presented,
    claims: principal.claims,
    tell(notice) {
      const event = place.notice(notice, clock.now());
      if (event === undefined || encode(event) === undefined || outbox.ready() !== undefined) return false;
      outbox.push(event);
      return true;
    },
    end: endWith,
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
  try {
    await principal.submit({ kind: "AttachSession", session, ...defined({ since }) }, client);
  } catch (cause) {
    return endWith(options.told(cause));
  }
  isLive = true;
  finishWhenEnded();
}

function errorFrame({ reason, message }: ReasonError): string {
  return eventFrame({ event: "error", data: JSON.stringify({ reason, message }) });
}
