/**
 * Clients of the control plane in a process of their own: they read streams of both wires and check that each event comes once and
 * in order. Started by bench/control-plane.ts; `SOCKET EVENTS SINCE WIRE SESSION…` on the command line. Prints `ready` when all are
 * attached, and a line of JSON when each client has seen so many events.
 */
import { Agent, request } from "node:http";
import { createParser } from "eventsource-parser";
import WebSocket from "ws";
import { TOKEN } from "./control-plane-server.ts";

const [socketPath = "", eventsText = "0", since = "", wire = "both", ...sessions] = process.argv.slice(2);
const wanted = Number(eventsText);
const headers = { host: "localhost", "x-harness-token": TOKEN };
const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
const startMs = performance.now();
let wrong = 0;
let seen = 0;

interface Told {
  readonly id: number;
  readonly kind: string;
}

function createReader(done: () => void): (event: Told) => void {
  let last = since === "" ? undefined : Number(since);
  let count = 0;
  return ({ id, kind }) => {
    if (kind === "StreamGap" || (last !== undefined && id !== last + 1)) wrong += 1;
    last = id;
    count += 1;
    seen += 1;
    if (count === wanted) done();
  };
}

function readSse(session: string): { readonly attached: Promise<void>; readonly done: Promise<void> } {
  const attached = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const read = createReader(done.resolve);
  const parser = createParser({ onEvent: ({ data }) => read(JSON.parse(data) as Told) });
  const path = `/v1/sessions/${session}/events${since === "" ? "" : `?since=${since}`}`;
  request({ socketPath, path, headers, agent }, (response) => {
    if (response.statusCode !== 200) throw new Error(`HTTP ${response.statusCode}`);
    attached.resolve();
    response.setEncoding("utf8").on("data", (chunk: string) => parser.feed(chunk));
  }).end();
  return { attached: attached.promise, done: done.promise };
}

function readSocket(session: string): { readonly attached: Promise<void>; readonly done: Promise<void> } {
  const attached = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const read = createReader(done.resolve);
  const from = since === "" ? "" : `&lastEventId=${since}`;
  const socket = new WebSocket(`ws+unix:${socketPath}:/v1/ws?session=${session}${from}`, { headers });
  socket.on("open", () => socket.send('{"frame":"handshake","body":{}}'));
  socket.on("message", (data: Buffer) => {
    const { frame, body } = JSON.parse(data.toString()) as { frame: string; body: Told };
    if (frame === "handshake") attached.resolve();
    else if (frame === "event") read(body);
  });
  return { attached: attached.promise, done: done.promise };
}

await new Promise<void>((resolve) => {
  request({ socketPath, path: "/v1/handshake", headers, agent }, (response) =>
    response.resume().on("end", resolve),
  ).end();
});
const clients = sessions.map((session, index) =>
  wire === "ws" || (wire === "both" && index % 2 === 1) ? readSocket(session) : readSse(session),
);
await Promise.all(clients.map(({ attached }) => attached));
process.stdout.write("ready\n");
await Promise.all(clients.map(({ done }) => done));
process.stdout.write(`${JSON.stringify({ seen, wrong, ms: performance.now() - startMs })}\n`);
process.exit(0);
