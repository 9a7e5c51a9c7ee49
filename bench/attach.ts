/**
 * A second process attaches to a live session and catches up, as a library and as `harness attach`; and what is lost or comes twice
 * when the connections of a reader are cut again and again. `node bench/attach.ts [cuts, default 100]`.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { SessionId } from "#protocol";
import { startCuttingProxy } from "../test/fakes/cutting-proxy.ts";
import { type BenchServer, startBenchServer, TOKEN } from "./control-plane-server.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const EVENTS = 10_000;
const RUNS = 5;
/** Events at a time while connections are cut. */
const BREATH = 20;
const launcher = resolve(import.meta.dirname, "../bin/harness.cjs");
const payload = {
  namespace: "history",
  kind: "line",
  payload: "some text of the usual length, about eighty characters",
};

interface Report {
  readonly last: number;
  readonly wrong: number;
  readonly ms: number;
}

/** A session with so many events. Live: it goes on while somebody attaches, until `stop`. */
async function liveSession(
  bench: BenchServer,
): Promise<{ readonly id: SessionId; readonly stop: () => Promise<void> }> {
  const [id] = await bench.createSessions(1);
  const bus = id && bench.harness.control.session(id)?.bus;
  if (id === undefined || bus === undefined) throw new Error("no session");
  await Promise.all(Array.from({ length: EVENTS - 1 }, async () => bus.publishSoon("CustomEvent", payload)));
  let isOver = false;
  const going = (async () => {
    while (!isOver) {
      await bus.publish("CustomEvent", payload);
      await new Promise((resume) => setTimeout(resume, 2));
    }
  })();
  return {
    id,
    stop() {
      isOver = true;
      return going;
    },
  };
}

async function readBy(socket: string, wire: string, session: SessionId, events: number): Promise<Report> {
  const script = join(import.meta.dirname, "attach-client.ts");
  const child = spawn(process.execPath, [script, socket, wire, session, String(events)]);
  child.stderr.pipe(process.stderr);
  let text = "";
  for await (const chunk of child.stdout.setEncoding("utf8") as AsyncIterable<string>) text += chunk;
  return JSON.parse(text) as Report;
}

async function catchUp(bench: BenchServer, wire: string): Promise<Figure> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const { id, stop } = await liveSession(bench);
    const { ms, wrong } = await readBy(bench.socketPath, wire, id, EVENTS);
    if (wrong !== 0) throw new Error(`${wrong} events out of order`);
    times.push(ms);
    await stop();
  }
  return {
    name: `library attaches and catches up, ${EVENTS} events, ${wire}`,
    unit: "ms",
    ours: median(times),
    limit: 500,
  };
}

/** From the start of the process to the last line. */
async function catchUpByProgram(bench: BenchServer): Promise<Figure> {
  const tokenFile = join(dirname(bench.socketPath), "token");
  writeFileSync(tokenFile, TOKEN);
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const { id, stop } = await liveSession(bench);
    const startMs = performance.now();
    const flags = ["--json", "--since", "0", "--connect", `unix:${bench.socketPath}`, "--token-file", tokenFile];
    const child = spawn(process.execPath, [launcher, "attach", id, ...flags], {
      env: { PATH: process.env.PATH, HOME: dirname(tokenFile) },
    });
    child.stderr.pipe(process.stderr);
    let lines = 0;
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      for (const byte of chunk) if (byte === 0x0a) lines += 1;
      if (lines >= EVENTS) break;
    }
    times.push(performance.now() - startMs);
    child.kill("SIGKILL");
    await stop();
  }
  const name = `harness attach --json from its start, ${EVENTS} events`;
  return { name, unit: "ms", ours: median(times), limit: 500 };
}

/** Events flow while each connection is cut somewhere else, until there were so many cuts. */
async function cuts(bench: BenchServer, wire: string, wanted: number): Promise<readonly Figure[]> {
  const [id] = await bench.createSessions(1);
  const bus = id && bench.harness.control.session(id)?.bus;
  if (id === undefined || bus === undefined) throw new Error("no session");
  const proxy = await startCuttingProxy(bench.socketPath, (connection) =>
    connection === 0 || proxy.cuts >= wanted ? undefined : 3000 + ((connection * 3571) % 20_000),
  );
  const enough = wanted * 160;
  const reading = readBy(proxy.socketPath, wire, id, enough);
  for (let told = 0; told < enough; told += BREATH) {
    await Promise.all(Array.from({ length: BREATH }, async () => bus.publishSoon("CustomEvent", payload)));
    await new Promise((resume) => setTimeout(resume, 1));
  }
  const { last, wrong } = await reading;
  const done = proxy.cuts;
  await proxy.close();
  if (done < wanted) throw new Error(`only ${done} connections were cut`);
  return [
    { name: `${done} cut connections, ${enough} events, ${wire}: lost`, unit: "events", ours: enough - last, limit: 0 },
    { name: "… twice or out of order", unit: "events", ours: wrong, limit: 0 },
  ];
}

const wanted = Number(process.argv[2] ?? 100);
const bench = await startBenchServer(async ({ emit }) => emit({ type: "text", block: 0, text: "done" }));
const figures = [
  await catchUp(bench, "sse"),
  await catchUp(bench, "ws"),
  await catchUpByProgram(bench),
  ...(await cuts(bench, "sse", wanted)),
  ...(await cuts(bench, "ws", wanted)),
];
await bench.close();
printFigures("attach", figures);
process.exitCode = figures.every(holds) ? 0 : 1;
