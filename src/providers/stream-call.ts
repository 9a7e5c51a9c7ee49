/** One streamed model call over HTTP: sends a body, feeds the events of the answer to a reader, names what went wrong. */

import { defaultTimeouts, type TimeoutSettings } from "#artifacts";
import { type Clock, defined, messageOf } from "#base";
import type { WireTrace } from "#engine";
import { createEventStreamReader } from "#wire";
import { eventFailure, type Failure, failure, garbled, type Peer, statusFailure } from "./failure.ts";
import type { BodySink, CallLimits, HttpClient, HttpHead } from "./http.ts";
import { jsonText, type StreamReader, type WireEnd } from "./wire-family.ts";
import type { WireEndpoint } from "./wire-provider.ts";

/** An error body is read this far; vendors' are a few hundred bytes. */
const MAX_ERROR_BODY_CHARS = 64 * 1024;

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** A model may think for minutes before its first word, but then it keeps writing or pinging. */
export function limitsOf(timeouts: TimeoutSettings = {}): CallLimits {
  const { headersMs, firstTokenMs, chunkMs } = { ...defaultTimeouts, ...timeouts };
  return {
    headersTimeoutMs: headersMs,
    firstTokenTimeoutMs: firstTokenMs,
    chunkTimeoutMs: chunkMs,
    maxResponseBytes: MAX_RESPONSE_BYTES,
  };
}

export interface StreamCall extends Pick<WireEndpoint, "peer" | "url" | "headers" | "credential" | "limits"> {
  readonly body: object;
  readonly signal: AbortSignal;
  readonly reader: StreamReader;
  /** Called when a piece of the answer has come. */
  readonly onProgress?: () => void;
  /** Called when the request has left this process. */
  readonly onSent?: () => void;
  readonly trace?: WireTrace;
}

/** What a trace is told of one response. */
const MAX_TRACED_CHARS = 4 * 1024 * 1024;

export async function streamCall(call: StreamCall, ports: { http: HttpClient; clock: Clock }): Promise<WireEnd> {
  const { peer, reader } = call;
  let head: HttpHead | undefined;
  let eventCount = 0;
  /** Events that brought a piece of the answer: pings and empty deltas do not. */
  let pieces = 0;
  let complete = false;
  let oddity: string | undefined;
  // What was sent instead of an event stream.
  let other = "";

  const collect: BodySink = (text) => {
    other += text;
    // What it says is in its status and its first lines: whether the rest comes does not matter.
    return other.length >= MAX_ERROR_BODY_CHARS ? "complete" : "ending";
  };
  const readEvents = (): BodySink => {
    const events = createEventStreamReader({
      // More does not come.
      maxEventChars: call.limits.maxResponseBytes,
      onEvent(event) {
        // One chunk may hold many events: nothing is told after the cancel that one of them may have caused.
        if (complete || call.signal.aborted) return;
        eventCount += 1;
        try {
          const state = reader.read(event.data);
          complete = state === "over";
          if (state === "content") pieces += 1;
        } catch (error) {
          // A shape that the reader did not expect, whatever it was: the vendor's mistake ends the call, nothing else.
          oddity = messageOf(error);
          complete = true;
        }
      },
    });
    return (text) => {
      const before = pieces;
      events.push(text);
      if (pieces > before) call.onProgress?.();
      if (complete) return "complete";
      if (reader.isWhole()) return "ending";
      return pieces > 0 ? "flowing" : "waiting";
    };
  };

  const body = jsonText(call.body);
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
      ...defined({ credential: call.credential, onSent: call.onSent }),
      signal: call.signal,
      ...call.limits,
    },
    (received) => {
      head = received;
      return watched(received.status < 300 && isEventStream(received) ? readEvents() : collect);
    },
  );
  trace?.received({ status: head?.status ?? 0, type: head?.headers["content-type"] ?? "", body: traced });
  if (oddity !== undefined) return misshapen(peer, reader, oddity);
  // What says that the stream is over may be missing: a vendor that has said why it stopped has said everything.
  if (complete || (reader.isWhole() && !call.signal.aborted)) return endOf(peer, reader);
  if (head !== undefined && head.status >= 400 && !call.signal.aborted) {
    return statusFailure(peer, head.status, head.headers, other, ports.clock.now());
  }
  if (outcome.type === "failed") return withUsage(outcome, reader);
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

/** Some of what a reader gathers it only looks at in the end. */
function endOf(peer: Peer, reader: StreamReader): WireEnd {
  try {
    return reader.end();
  } catch (error) {
    return misshapen(peer, reader, messageOf(error));
  }
}

function misshapen(peer: Peer, reader: StreamReader, oddity: string): Failure {
  return withUsage(garbled(peer, `an event of an unknown shape (${oddity})`), reader);
}

function withUsage(failed: Failure, reader: StreamReader): Failure {
  const usage = reader.usage();
  return usage === undefined ? failed : { ...failed, usage };
}
