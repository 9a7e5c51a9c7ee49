/** What vendors do wrong, on both wire families, and how the turn has to end. For the campaign and for the tests. */
import type { Socket } from "node:net";
import type { Reason } from "#protocol";
import type { SocketFault, WireFamilyName } from "./fault-server.ts";
import { anthropicEvents } from "./mock-anthropic-wire.ts";
import { openaiEvents } from "./mock-openai-wire.ts";
import type { MockMessage } from "./mock-reply.ts";

export interface ProviderFault {
  readonly name: string;
  readonly fault: SocketFault;
  /** Absent: the turn is answered all the same. */
  readonly reason?: Reason;
  /** What the message has to say, besides. */
  readonly says?: string;
  /** How often the vendor is asked when one retry is allowed; default 2. */
  readonly asked?: number;
  /** The fault begins with the connection: nothing is read. */
  readonly atConnect?: true;
  /** The address begins with https. */
  readonly tls?: true;
}

/** Limits of the campaign: seconds become tenths and less. One retry. */
export const faultTimeouts = { headersMs: 600, firstTokenMs: 900, chunkMs: 450, stepMs: 2_500 } as const;
export const faultRetry = { maxRetries: 1, initialBackoffMs: 20, maxBackoffMs: 20, multiplier: 1 } as const;

const DRIP_MS = 60;
const STREAM_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const reply: MockMessage = { type: "message", blocks: [{ type: "text", text: "hello to the world", deltas: 4 }] };

function eventsOf(family: WireFamilyName, more: Partial<MockMessage> = {}): readonly string[] {
  return (family === "anthropic" ? anthropicEvents : openaiEvents)({ ...reply, ...more }, "mock");
}

/** All events up to the first with a word of the answer in it, that one included or not. */
function beginning(family: WireFamilyName, isFirstWordIncluded: boolean): string {
  const events = eventsOf(family);
  const at = events.findIndex((event) => event.includes("hell"));
  return events.slice(0, at + (isFirstWordIncluded ? 1 : 0)).join("");
}

/** Everything until the vendor has said why it stopped. */
function untilStopped(family: WireFamilyName): string {
  const events = eventsOf(family);
  const at = events.findLastIndex((event) => /"(stop_reason|finish_reason)":"\w+"/.test(event));
  return events.slice(0, at + 1).join("");
}

/** Again and again until the other side has gone. */
function drip(socket: Socket, bytes: string, everyMs = DRIP_MS): void {
  const timer = setInterval(() => socket.write(bytes), everyMs);
  socket.once("close", () => clearInterval(timer));
}

function streams(write: (socket: Socket, family: WireFamilyName) => void): SocketFault {
  return (socket, family) => {
    socket.write(STREAM_HEAD);
    write(socket, family);
  };
}

function answers(status: string, body: string, headers = ""): SocketFault {
  return (socket) => {
    const length = Buffer.byteLength(body);
    socket.end(
      `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nconnection: close\r\n${headers}content-length: ${length}\r\n\r\n${body}`,
    );
  };
}

function wordDelta(family: WireFamilyName): string {
  return eventsOf(family).find((event) => event.includes("hell")) ?? "";
}

function emptyDelta(family: WireFamilyName): string {
  return wordDelta(family).replace(/"hell[^"]*"/, '""');
}

const error = JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "busy" } });

export const providerFaults: readonly ProviderFault[] = [
  // Silence, phase by phase.
  { name: "silence in the TLS handshake", tls: true, atConnect: true, fault: () => undefined, ...timedOut("headers") },
  { name: "silence after the request", fault: () => undefined, ...timedOut("headers") },
  { name: "half a status line, then silence", fault: (socket) => socket.write("HTTP/1.1 2"), ...timedOut("headers") },
  {
    name: "headers that drip without an end",
    fault: (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      drip(socket, "x-more: y\r\n");
    },
    ...timedOut("headers"),
  },
  {
    name: "interim responses without an end",
    fault: (socket) => drip(socket, "HTTP/1.1 103 Early Hints\r\n\r\n"),
    ...timedOut("headers"),
  },
  { name: "silence after the headers", fault: streams(() => undefined), ...timedOut("first_token") },
  {
    name: "keep-alives instead of a first token",
    fault: streams((socket) => drip(socket, ": ping\n\n")),
    ...timedOut("first_token"),
  },
  {
    name: "silence before the first word",
    fault: streams((socket, family) => socket.write(beginning(family, false))),
    ...timedOut("first_token"),
  },
  {
    name: "empty deltas instead of words",
    fault: streams((socket, family) => {
      socket.write(beginning(family, false));
      drip(socket, emptyDelta(family));
    }),
    ...timedOut("first_token"),
  },
  {
    name: "silence in the middle",
    fault: streams((socket, family) => socket.write(beginning(family, true))),
    ...timedOut("chunk"),
  },
  {
    name: "keep-alives instead of the rest",
    fault: streams((socket, family) => {
      socket.write(beginning(family, true));
      drip(socket, ": ping\n\n");
    }),
    ...timedOut("step"),
    asked: 1,
  },
  {
    name: "a slow drip of words",
    fault: streams((socket, family) => {
      socket.write(beginning(family, true));
      drip(socket, wordDelta(family));
    }),
    ...timedOut("step"),
    asked: 1,
  },
  // Cuts.
  { name: "the connection ends before the headers", fault: (socket) => socket.end(), reason: "ProviderUnreachable" },
  { name: "a reset before the headers", fault: (socket) => socket.resetAndDestroy(), reason: "ProviderUnreachable" },
  {
    name: "the stream ends in the middle",
    fault: streams((socket, family) => socket.end(beginning(family, true))),
    reason: "ProviderStreamCut",
  },
  {
    name: "a reset in the middle",
    fault: streams((socket, family) => {
      socket.write(beginning(family, true), () => setTimeout(() => socket.resetAndDestroy(), 20));
    }),
    reason: "ProviderStreamCut",
  },
  {
    name: "a body shorter than it said",
    fault: (socket, family) => {
      const head = STREAM_HEAD.replace("connection: close", "content-length: 100000");
      socket.end(head + beginning(family, true));
    },
    reason: "ProviderStreamCut",
  },
  // Garbage.
  {
    name: "bytes that are not HTTP",
    fault: (socket) => socket.write(Buffer.alloc(2_000, 7)),
    reason: "ProviderGarbled",
  },
  {
    name: "headers larger than any",
    fault: (socket) => socket.write(`HTTP/1.1 200 OK\r\n${"x-more: y\r\n".repeat(5_000)}`),
    reason: "ProviderGarbled",
  },
  {
    name: "bytes that are not events",
    fault: streams((socket) => socket.end(Buffer.from([0, 255, 254, 10, 10, 128, 200, 10, 10]))),
    reason: "ProviderGarbled",
  },
  {
    name: "half a JSON value in an event",
    fault: streams((socket, family) => socket.write(`${beginning(family, true)}data: {"type":"content_bl\n\n`)),
    reason: "ProviderGarbled",
  },
  {
    name: "a web page instead of a stream",
    fault: (socket) =>
      socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: 6\r\n\r\n<html>"),
    reason: "ProviderGarbled",
  },
  // Refusals.
  { name: "429 with retry-after", fault: answers("429 Slow", error, "retry-after: 0.05\r\n"), reason: "RateLimited" },
  { name: "429 without retry-after", fault: answers("429 Slow", error), reason: "RateLimited" },
  {
    name: "429 with a retry-after of a day",
    fault: answers("429 Slow", error, "retry-after: 86400\r\n"),
    reason: "RateLimited",
    says: "asks to wait 86400 s",
    asked: 1,
  },
  { name: "529", fault: answers("529 Overloaded", error), reason: "ProviderUnavailable" },
  { name: "500", fault: answers("500 Oops", "{}"), reason: "ProviderUnavailable" },
  {
    name: "500 whose body drips without an end",
    fault: (socket) => {
      socket.write("HTTP/1.1 500 Oops\r\ncontent-type: application/json\r\n\r\n{");
      drip(socket, " ");
    },
    reason: "ProviderUnavailable",
  },
  { name: "401", fault: answers("401 No", error), reason: "ProviderUnauthorized", asked: 1 },
  {
    name: "an error event in the stream",
    fault: streams((socket, family) => socket.write(`${beginning(family, true)}event: error\ndata: ${error}\n\n`)),
    reason: "ProviderUnavailable",
  },
  {
    name: "a refusal",
    fault: streams((socket, family) => {
      socket.end(eventsOf(family, { stop: family === "anthropic" ? "refusal" : "content_filter" }).join(""));
    }),
    reason: "ContentFiltered",
    asked: 1,
  },
  {
    name: "an unknown finish reason",
    fault: streams((socket, family) => socket.end(eventsOf(family, { stop: "brand_new" }).join(""))),
    reason: "UnknownFinishReason",
  },
  {
    name: "no finish reason",
    fault: streams((socket, family) => socket.end(eventsOf(family, { stop: null }).join(""))),
    reason: "UnknownFinishReason",
  },
  // Answers without an end are answers.
  {
    name: "a body that does not end after the last event",
    fault: streams((socket, family) => {
      socket.write(eventsOf(family).join(""));
      drip(socket, ": ping\n\n");
    }),
    asked: 1,
  },
  {
    name: "a finish reason, then silence instead of the last event",
    fault: streams((socket, family) => socket.write(untilStopped(family))),
    asked: 1,
  },
];

function timedOut(limit: "headers" | "first_token" | "chunk" | "step"): Pick<ProviderFault, "reason" | "says"> {
  return { reason: "ProviderTimeout", says: `timeouts.${limit}_s` };
}
