/**
 * What the control plane costs, over real sockets: round trips, the way of an event from the provider to a client, many clients on
 * many sessions, idle sessions, catching up. `node bench/control-plane.ts [seconds of load, default 20]`.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { createParser } from "eventsource-parser";
import WebSocket from "ws";
import type { ModelCall } from "#engine";
import type { SessionId } from "#protocol";
import { type BenchServer, startBenchServer, TOKEN } from "./control-plane-server.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const ROUND_TRIPS = 500;
const INPUTS = 300;
const WARM_INPUTS = 30;
const LOAD_CLIENTS = 100;
const LOAD_SESSIONS = 50;
const LOAD_EVENTS_PER_S = 2000;
const CATCH_UP_EVENTS = 10_000;
const IDLE_SESSIONS = 1000;
const DELTAS = 400;
const DELTA_EVERY_MS = 12;

const headers = { host: "localhost", "x-harness-token": TOKEN };
const agent = new Agent({ keepAlive: true });

function ask(socketPath: string, method: string, path: string, body?: unknown): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method, path, headers, agent }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve(text));
    });
    asked.on("error", reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? Number.NaN;
}

async function roundTrips({ socketPath }: BenchServer, path: string): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < ROUND_TRIPS + 50; n++) {
    const startMs = performance.now();
    await ask(socketPath, "GET", path);
    if (n >= 50) times.push(performance.now() - startMs);
  }
  return p95(times);
}

/** From the answer that is sent to the result that comes on the stream: the call itself changes nothing and takes no time. */
async function permissionRoundTrips(bench: BenchServer, session: SessionId, turns: number): Promise<number> {
  const times: number[] = [];
  const asked = new Map<string, number>();
  let turnEnded = (): void => undefined;
  const stop = await readSse(bench, session, ({ kind, payload }) => {
    const id = String(payload.call_id);
    if (kind === "PermissionRequested") {
      asked.set(id, performance.now());
      void ask(bench.socketPath, "POST", `/v1/sessions/${session}/permission`, { call_id: id, decision: "deny" });
    } else if (kind === "ToolResult") times.push(performance.now() - (asked.get(id) ?? Number.NaN));
    else if (kind === "TurnEnded") turnEnded();
  });
  for (let turn = 0; turn < turns; turn++) {
    const ended = new Promise<void>((resolve) => {
      turnEnded = resolve;
    });
    await ask(bench.socketPath, "POST", `/v1/sessions/${session}/input`, { content: [{ type: "text", text: "ask" }] });
    await ended;
  }
  stop();
  return p95(times);
}

/** Until the 202, which comes when the log has the input; and, in turns with it, one durable event in the same log. */
async function inputRoundTrips(bench: BenchServer, session: SessionId): Promise<readonly Figure[]> {
  const bus = bench.harness.control.session(session)?.bus;
  if (bus === undefined) throw new Error("the session is not open");
  const posts: number[] = [];
  const events: number[] = [];
  let turnEnded = (): void => undefined;
  const stop = bus.subscribe(({ kind }) => {
    if (kind === "TurnEnded") turnEnded();
  });
  for (let n = 0; n < INPUTS + WARM_INPUTS; n++) {
    const ended = new Promise<void>((resolve) => {
      turnEnded = resolve;
    });
    const startMs = performance.now();
    await ask(bench.socketPath, "POST", `/v1/sessions/${session}/input`, { content: [{ type: "text", text: "hi" }] });
    const postMs = performance.now() - startMs;
    await ended;
    const eventMs = performance.now();
    await bus.publish("CustomEvent", { namespace: "input", kind: "tick", payload: n });
    if (n < WARM_INPUTS) continue;
    posts.push(postMs);
    events.push(performance.now() - eventMs);
  }
  stop();
  return [
    { name: "POST input, p95, beside one durable event", unit: "ms", ours: p95(posts), floor: p95(events), limit: 20 },
    { name: "POST input, median, beside one durable event", unit: "ms", ours: median(posts), floor: median(events) },
  ];
}

interface Told {
  readonly kind: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

function readSse({ socketPath }: BenchServer, session: SessionId, onEvent: (event: Told) => void): Promise<() => void> {
  return new Promise((resolve) => {
    const parser = createParser({ onEvent: ({ data }) => onEvent(JSON.parse(data) as Told) });
    request({ socketPath, path: `/v1/sessions/${session}/events`, headers, agent: false }, (response) => {
      response.setEncoding("utf8").on("data", (chunk: string) => parser.feed(chunk));
      response.on("error", () => undefined);
      resolve(() => response.destroy());
    }).end();
  });
}

function readSocket({ socketPath }: BenchServer, session: SessionId, onEvent: (event: Told) => void) {
  return new Promise<() => void>((resolve) => {
    const socket = new WebSocket(`ws+unix:${socketPath}:/v1/ws?session=${session}`, { headers });
    socket.on("open", () => socket.send('{"frame":"handshake","body":{}}'));
    socket.on("message", (data: Buffer) => {
      const { frame, body } = JSON.parse(data.toString()) as { frame: string; body: Told };
      if (frame === "event") onEvent(body);
      else if (frame === "handshake") resolve(() => socket.terminate());
    });
  });
}

/** Each delta carries when the provider gave it; they are further apart than the window in which deltas are merged. */
async function deltaLatency(bench: BenchServer, session: SessionId, read: typeof readSse): Promise<number> {
  const times: number[] = [];
  let ended = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const stop = await read(bench, session, ({ kind, payload }) => {
    if (kind === "TextDelta") times.push(performance.now() - Number(String(payload.text).split(" ")[0]));
    else if (kind === "TurnEnded") ended();
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  await ask(bench.socketPath, "POST", `/v1/sessions/${session}/input`, { content: [{ type: "text", text: "talk" }] });
  await over;
  stop();
  if (times.length < DELTAS * 0.9) throw new Error(`only ${times.length} deltas came`);
  return p95(times);
}

function startClients(bench: BenchServer, events: number, since: string, wire: string, sessions: readonly SessionId[]) {
  const script = join(import.meta.dirname, "control-plane-clients.ts");
  const child = spawn(process.execPath, [script, bench.socketPath, String(events), since, wire, ...sessions]);
  child.stderr.pipe(process.stderr);
  return child;
}

async function* linesOf(child: ChildProcessWithoutNullStreams): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of child.stdout.setEncoding("utf8") as AsyncIterable<string>) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

interface ClientReport {
  readonly seen: number;
  readonly wrong: number;
  readonly ms: number;
}

async function load(bench: BenchServer, seconds: number): Promise<readonly Figure[]> {
  const sessions = await bench.createSessions(LOAD_SESSIONS);
  const perSession = Math.round((LOAD_EVENTS_PER_S * seconds) / LOAD_SESSIONS);
  const attached = Array.from({ length: LOAD_CLIENTS }, (_, n) => sessions[Math.floor(n / 2) % LOAD_SESSIONS]);
  const child = startClients(
    bench,
    perSession,
    "",
    "both",
    attached.filter((id) => id !== undefined),
  );
  const lines = linesOf(child);
  await lines.next();
  await new Promise((resolve) => setTimeout(resolve, 500)); // the last web sockets attach after their handshake
  const rssBefore = process.memoryUsage.rss();
  let peak = rssBefore;
  const startMs = performance.now();
  const buses = sessions.map((id) => bench.harness.control.session(id)?.bus);
  for (let sent = 0; sent < perSession; ) {
    const due = Math.min(perSession, Math.floor(((performance.now() - startMs) / 1000 / seconds) * perSession));
    for (; sent < due; sent++) {
      await Promise.all(
        buses.map(async (bus) => bus?.publish("CustomEvent", { namespace: "load", kind: "tick", payload: sent })),
      );
    }
    peak = Math.max(peak, process.memoryUsage.rss());
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const tookS = (performance.now() - startMs) / 1000;
  const timeout = setTimeout(() => child.kill(), 30_000);
  const { value } = await lines.next();
  clearTimeout(timeout);
  const report = JSON.parse(value ?? '{"seen":0,"wrong":-1}') as ClientReport;
  const lost = perSession * LOAD_CLIENTS - report.seen;
  return [
    {
      name: `${LOAD_CLIENTS} clients, ${LOAD_SESSIONS} sessions, ${seconds} s: lost`,
      unit: "events",
      ours: lost,
      limit: 0,
    },
    { name: "… out of order, twice or behind a gap", unit: "events", ours: Math.abs(report.wrong), limit: 0 },
    { name: `… time for ${LOAD_EVENTS_PER_S} events a second`, unit: "s", ours: tookS, limit: seconds * 1.05 },
    { name: "… memory that it added at most", unit: "MB", ours: (peak - rssBefore) / 1024 / 1024, limit: 200 },
  ];
}

async function catchUp(bench: BenchServer, wire: string): Promise<Figure> {
  const [session] = await bench.createSessions(1);
  if (session === undefined) throw new Error("no session");
  const bus = bench.harness.control.session(session)?.bus;
  const payload = {
    namespace: "history",
    kind: "line",
    payload: "some text of the usual length, about eighty characters",
  };
  const told = Array.from({ length: CATCH_UP_EVENTS - 1 }, async () => bus?.publishSoon("CustomEvent", payload));
  await Promise.all(told);
  const lines = linesOf(startClients(bench, CATCH_UP_EVENTS, "0", wire, [session]));
  await lines.next();
  const { value } = await lines.next();
  const { ms, wrong } = JSON.parse(value ?? "{}") as ClientReport;
  if (wrong !== 0) throw new Error(`${wrong} events out of order`);
  return { name: `attach and catch up, ${CATCH_UP_EVENTS} events, ${wire}`, unit: "ms", ours: ms, limit: 500 };
}

async function model({ emit, request: { messages } }: ModelCall): Promise<void> {
  const said = JSON.stringify(messages.at(-1));
  if (said.includes('"ask"')) {
    emit({ type: "tool_call", block: 0, name: "fs.write", arguments: '{"path":"a.txt","content":"x"}' });
  } else if (said.includes('"talk"')) {
    for (let n = 0; n < DELTAS; n++) {
      await new Promise((resolve) => setTimeout(resolve, DELTA_EVERY_MS));
      emit({ type: "text", block: 0, text: `${performance.now()} \n` });
    }
  } else emit({ type: "text", block: 0, text: "done" });
}

/** In a process of its own, so that nothing else is counted. */
async function idleMemory(): Promise<void> {
  const bench = await startBenchServer(model);
  await bench.createSessions(IDLE_SESSIONS);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  process.stdout.write(`${process.memoryUsage.rss() / 1024 / 1024}\n`);
  await bench.close();
  process.exit(0);
}

async function idleFigure(): Promise<Figure> {
  const child = spawn(process.execPath, [import.meta.filename, "idle"]);
  child.stderr.pipe(process.stderr);
  const { value } = await linesOf(child).next();
  return { name: `${IDLE_SESSIONS} idle sessions, whole process`, unit: "MB", ours: Number(value), limit: 300 };
}

async function main(seconds: number): Promise<void> {
  const bench = await startBenchServer(model);
  const [session] = await bench.createSessions(1);
  if (session === undefined) throw new Error("no session");
  await ask(bench.socketPath, "GET", "/v1/handshake");
  const figures: Figure[] = [
    { name: "GET /v1/handshake, p95", unit: "ms", ours: await roundTrips(bench, "/v1/handshake"), limit: 5 },
    { name: "GET /v1/tools, p95", unit: "ms", ours: await roundTrips(bench, "/v1/tools"), limit: 5 },
    ...(await inputRoundTrips(bench, session)),
    {
      name: "permission round trip, p95",
      unit: "ms",
      ours: await permissionRoundTrips(bench, session, 200),
      limit: 20,
    },
    {
      name: "provider byte to client byte, SSE, p95",
      unit: "ms",
      ours: await deltaLatency(bench, session, readSse),
      limit: 10,
    },
    {
      name: "provider byte to client byte, WS, p95",
      unit: "ms",
      ours: await deltaLatency(bench, session, readSocket),
      limit: 10,
    },
    await catchUp(bench, "sse"),
    await catchUp(bench, "ws"),
    ...(await load(bench, seconds)),
    await idleFigure(),
  ];
  await bench.close();
  printFigures("control plane", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
  agent.destroy();
}

if (process.argv[2] === "idle") await idleMemory();
else await main(Number(process.argv[2] ?? 20));
