/** One streamed model call over HTTP: sends a body, feeds the events of the answer to a reader, names what went wrong. */
import { createParser } from "eventsource-parser";
import type { Clock } from "#base";
import type { CredentialRef, WireTrace } from "#engine";
import { eventFailure, type Failure, failure, garbled, type Peer, statusFailure } from "./failure.ts";
import type { BodySink, HttpClient, HttpHead } from "./http.ts";
import type { StreamReader, WireEnd } from "./wire-family.ts";

/** An error body is read this far; vendors' are a few hundred bytes. */
const MAX_ERROR_BODY_CHARS = 64 * 1024;

export interface CallLimits {
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly maxResponseBytes: number;
}

/** A model may think for minutes before its first byte, but then it keeps writing or pinging. */
export const defaultLimits: CallLimits = {
  firstByteTimeoutMs: 300_000,
  idleTimeoutMs: 120_000,
  maxResponseBytes: 64 * 1024 * 1024,
};

export interface StreamCall {
  readonly peer: Peer;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly credential?: CredentialRef;
  readonly body: object;
  readonly signal: AbortSignal;
  readonly limits: CallLimits;
  readonly reader: StreamReader;
  readonly trace?: WireTrace;
}

/** What a trace is told of one response. */
const MAX_TRACED_CHARS = 4 * 1024 * 1024;

export async function streamCall(call: StreamCall, ports: { http: HttpClient; clock: Clock }): Promise<WireEnd> {
  const { peer, reader } = call;
  let head: HttpHead | undefined;
  let eventCount = 0;
  let complete = false;
  let oddity: string | undefined;
  // What was sent instead of an event stream.
  let other = "";

  const collect: BodySink = (text) => {
    other += text;
    return other.length >= MAX_ERROR_BODY_CHARS;
  };
  const readEvents = (): BodySink => {
    const parser = createParser({
      onEvent(event) {
        // One chunk may hold many events: nothing is told after the cancel that one of them may have caused.
        if (complete || call.signal.aborted) return;
        eventCount += 1;
        try {
          complete = reader.read(event.data);
        } catch (error) {
          // A shape that the reader did not expect, whatever it was: the vendor's mistake ends the call, nothing else.
          oddity = error instanceof Error ? error.message : String(error);
          complete = true;
        }
      },
    });
    return (text) => {
      parser.feed(text);
      return complete;
    };
  };

  const body = JSON.stringify(call.body);
  const { trace } = call;
  let traced = "";
  const watched = (sink: BodySink): BodySink => {
    if (trace === undefined) return sink;
    return (text) => {
      if (traced.length < MAX_TRACED_CHARS) traced += text;
      return sink(text);
    };
  };
  trace?.sent({ url: call.url.href, body });
  const outcome = await ports.http.send(
    {
      peer: peer.name,
      url: call.url,
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream", ...call.headers },
      body,
      ...(call.credential === undefined ? {} : { credential: call.credential }),
      signal: call.signal,
      ...call.limits,
    },
    (received) => {
      head = received;
      return watched(received.status < 300 && isEventStream(received) ? readEvents() : collect);
    },
  );
  trace?.received({ status: head?.status ?? 0, type: head?.headers["content-type"] ?? "", body: traced });
  if (oddity !== undefined) return withUsage(garbled(peer, `an event of an unknown shape (${oddity})`), reader);
  if (complete) return reader.end();
  if (outcome.type === "failed") return withUsage(outcome, reader);
  if (outcome.status >= 400) {
    return statusFailure(peer, outcome.status, outcome.headers, other, ports.clock.now());
  }
  if (head !== undefined && !isEventStream(head)) return notAStream(peer, head, other);
  if (eventCount === 0) return garbled(peer, "an empty response");
  return withUsage(failure("ProviderStreamCut", true, { provider: peer.name }), reader);
}

/** Servers that forget the content type are taken at their word only when they say that it is something else. */
function isEventStream({ headers }: HttpHead): boolean {
  const type = headers["content-type"];
  return type === undefined || type.startsWith("text/event-stream");
}

function notAStream(peer: Peer, head: HttpHead, body: string): Failure {
  const type = head.headers["content-type"] ?? "";
  if (body.trim() === "") return garbled(peer, "an empty response");
  if (!type.includes("json")) return garbled(peer, `${type.split(";")[0]} instead of an event stream`);
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === "object" && parsed !== null && "error" in parsed) return eventFailure(peer, parsed.error);
  } catch {
    return garbled(peer, "broken JSON instead of an event stream");
  }
  return garbled(peer, "JSON instead of an event stream");
}

function withUsage(failed: Failure, reader: StreamReader): Failure {
  const usage = reader.usage();
  return usage === undefined ? failed : { ...failed, usage };
}
