/**
 * Clients of a session of a million events, in both stores and over every wire: what the first event after a cursor costs the server,
 * what a whole catch-up costs it, and whether others wait meanwhile. `node bench/large-sessions.ts [events] [folder to keep the logs]`.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { connect as connectSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "#client";
import type { SessionId } from "#protocol";
import { createSystemClock, createSystemRandom } from "#world";
import { createClient } from "../src/client/client.ts";
import { DEFAULT_RECONNECT } from "../src/client/retry.ts";
import { createRpcTransport } from "../src/client/rpc-transport.ts";
import { TOKEN } from "./control-plane-server.ts";
import { type Figure, holds, printFigures } from "./figures.ts";
import { makeLogs, SESSION, type StoreKind, storeKinds } from "./large-sessions-log.ts";
import type { Ready, Used } from "./large-sessions-server.ts";

const FIRST_EVENT_CPU_MS = 100;
/** Of the event loop: what another session waits for at most. */
const BLOCKED_MS = 20;
const PEAK_MB = 300;
const headers = { host: "localhost", "x-harness-token": TOKEN };
const clock = createSystemClock();

const wires = ["sse", "ws", "rpc"] as const;
type Wire = (typeof wires)[number];

interface Server extends Ready {
  used(): Promise<Used>;
  end(): Promise<void>;
}

async function startServer(folder: string, kind: StoreKind): Promise<Server> {
  const child = fork(join(import.meta.dirname, "large-sessions-server.ts"), [folder, kind]);
  const ready = (await nextMessage(child)) as Ready;
  return {
    ...ready,
    async used() {
      const told = nextMessage(child);
      child.send("used");
      return (await told) as Used;
    },
    async end() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.send("end");
      await ended;
    },
  };
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new Error("the server ended"));
    child.once("exit", fail);
    child.once("message", (message) => {
      child.off("exit", fail);
      resolve(message);
    });
  });
}

async function connectBy(wire: Wire, { socketPath, rpcPath }: Server): Promise<Client> {
  if (wire !== "rpc") return connect({ socket: socketPath, token: TOKEN, wire });
  const transport = createRpcTransport({
    address: rpcPath,
    start(onEnd) {
      const socket = connectSocket(rpcPath).on("close", onEnd);
      return { stdin: socket, stdout: socket, errors: () => "", kill: () => socket.destroy() };
    },
    clock,
  });
  const signal = new AbortController().signal;
  return createClient({ transport, clock, random: createSystemRandom(), reconnect: DEFAULT_RECONNECT, signal });
}

/** From the moment at which the client asks to that at which it has the first event; what the server sends behind it counts as well. */
async function firstEvent(server: Server, wire: Wire, since: number): Promise<Used> {
  const client = await connectBy(wire, server);
  const before = await server.used();
  const stop = new AbortController();
  for await (const { id } of client.session(SESSION).events({ since, signal: stop.signal })) {
    if (id !== since + 1) throw new Error(`event ${id} came after the cursor ${since}`);
    break;
  }
  const after = await server.used();
  stop.abort();
  await client.close();
  return { ...after, cpuMs: after.cpuMs - before.cpuMs };
}

/** Another session, opened and read: what a process loads and compiles once has nothing to do with the length of a log. */
async function warmUp(server: Server, wire: Wire): Promise<void> {
  await ask(server, "GET", "/v1/handshake");
  const { id } = JSON.parse(await ask(server, "POST", "/v1/sessions", {})) as { id: SessionId };
  for (let times = 0; times < 3; times++) {
    const client = await connectBy(wire, server);
    for await (const _ of client.session(id).events({ since: 0 })) break;
    await client.close();
  }
}

function ask(server: Server, method: string, path: string, body?: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: server.socketPath, method, path, headers, agent: false }, (response) => {
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

async function catchUp(server: Server, wire: Wire, last: number): Promise<Used & { ms: number; waitedMs: number }> {
  const client = await connectBy(wire, server);
  await server.used();
  const startMs = performance.now();
  let isOver = false;
  let waitedMs = 0;
  const other = (async () => {
    while (!isOver) {
      const from = performance.now();
      await ask(server, "GET", "/v1/handshake");
      waitedMs = Math.max(waitedMs, performance.now() - from);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  let seen = 0;
  for await (const { id } of client.session(SESSION).events({ since: 0 })) {
    seen += 1;
    if (id !== seen) throw new Error(`event ${id} came instead of ${seen}`);
    if (id >= last) break;
  }
  const ms = performance.now() - startMs;
  isOver = true;
  await other;
  const used = await server.used();
  await client.close();
  return { ...used, ms, waitedMs };
}

async function measure(folder: string, kind: StoreKind): Promise<Figure[]> {
  const figures: Figure[] = [];
  const cpu = (name: string, ours: number): void =>
    void figures.push({ name: `${kind}: ${name}`, unit: "ms CPU", ours, limit: FIRST_EVENT_CPU_MS });
  const blocked = (name: string, { blockedMs, delayMs }: Pick<Used, "blockedMs" | "delayMs">): void =>
    void figures.push({
      name: `${kind}: ${name} (${delayMs.toFixed(0)} ms by the clock)`,
      unit: "ms CPU",
      ours: blockedMs,
      limit: BLOCKED_MS,
    });
  let last = 0;
  {
    const server = await startServer(folder, kind);
    await ask(server, "GET", "/v1/handshake");
    const before = await server.used();
    const { sessions } = JSON.parse(await ask(server, "GET", "/v1/sessions")) as {
      sessions: { id: SessionId; last_event_id: number }[];
    };
    const listed = await server.used();
    last = sessions.find(({ id }) => id === SESSION)?.last_event_id ?? 0;
    cpu("list of sessions", listed.cpuMs - before.cpuMs);
    const asked = performance.now();
    await ask(server, "GET", `/v1/sessions/${SESSION}/log?after=${last - 10}`);
    const read = await server.used();
    cpu(`a page of the log near the end (${(performance.now() - asked).toFixed(0)} ms)`, read.cpuMs - listed.cpuMs);
    await warmUp(server, "sse");
    const closed = await server.used();
    const startMs = performance.now();
    await ask(server, "POST", "/v1/sessions", { resume: SESSION });
    const opened = await server.used();
    const openMs = (performance.now() - startMs).toFixed(0);
    const cpuMs = opened.cpuMs - closed.cpuMs;
    figures.push({ name: `${kind}: CreateSession resume (${openMs} ms by the clock)`, unit: "ms CPU", ours: cpuMs });
    blocked("… longest block of the event loop", opened);
    await server.end();
  }
  for (const wire of wires) {
    const server = await startServer(folder, kind);
    await warmUp(server, wire);
    const opening = await firstEvent(server, wire, Math.floor(last / 2));
    cpu(`first event after ${Math.floor(last / 2)} of a session that is not open, ${wire}`, opening.cpuMs);
    blocked("… longest block of the event loop", opening);
    for (const since of [0, 10, Math.floor(last / 2) + 1000, last - 10]) {
      const used = await firstEvent(server, wire, since);
      cpu(`first event after ${since}, ${wire}`, used.cpuMs);
      blocked("… longest block of the event loop", used);
    }
    const { peakMb: beforeMb } = await server.used();
    const { ms, peakMb, waitedMs, ...used } = await catchUp(server, wire, last);
    blocked(`whole catch-up, ${wire}, longest block of the event loop`, used);
    figures.push(
      { name: `… longest wait of another client`, unit: "ms", ours: waitedMs },
      {
        name: `… peak memory of the server (${beforeMb.toFixed(0)} MB before)`,
        unit: "MB",
        ours: peakMb,
        limit: PEAK_MB,
      },
      { name: `… events a second`, unit: "events", ours: (last / ms) * 1000 },
    );
    await server.end();
  }
  return figures;
}

const events = Number(process.argv[2] ?? 1_000_000);
const kept = process.argv[3];
const folder = kept ?? mkdtempSync(join(tmpdir(), "harness-bench-large-"));
try {
  const startMs = performance.now();
  await makeLogs(folder, events);
  const made: Figure = { name: "making the logs", unit: "s", ours: (performance.now() - startMs) / 1000, limit: 180 };
  const figures = [made];
  for (const kind of storeKinds) figures.push(...(await measure(folder, kind)));
  printFigures("large sessions", figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
} finally {
  if (kept === undefined) rmSync(folder, { recursive: true, force: true });
}
