/**
 * What a durable acknowledgement adds to `POST input`: the control planes of two builds answer in turns, round by round, so that
 * both meet the same load of the machine. `node bench/post-input.ts BASE_DIR [rounds]`, where BASE_DIR is a checkout with its packages.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { BenchServer, startBenchServer } from "./control-plane-server.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const INPUTS_PER_ROUND = 100;
const DEFAULT_ROUNDS = 20;
const INPUT = { content: [{ type: "text", text: "hi" }] };
const agent = new Agent({ keepAlive: true });

interface Place {
  readonly socketPath: string;
  readonly session: string;
  readonly token: string;
}

interface Build extends Place {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: AsyncIterator<string>;
  readonly p95s: number[];
  readonly medians: number[];
}

/**
 * In a process of its own: the server of one build. Prints where it is, and after each turn how long the log took to store its
 * TurnStarted, until its input ends.
 */
async function serve(folder: string): Promise<void> {
  const path = join(folder, "bench", "control-plane-server.ts");
  const server = (await import(path)) as { startBenchServer: typeof startBenchServer; TOKEN: string };
  const bench: BenchServer = await server.startBenchServer(async ({ emit }) => {
    emit({ type: "text", block: 0, text: "done" });
  });
  const [session] = await bench.createSessions(1);
  const bus = session && bench.harness.control.session(session)?.bus;
  if (bus === undefined) throw new Error("the session is not open");
  // A write counts once its events are told: what it took is seen by the next ones.
  let [beforeMs, syncMs] = [0, 0];
  bus.subscribe(({ kind }) => {
    if (kind === "TurnStarted") beforeMs = bus.writeMs;
    if (kind === "TextDelta") syncMs = bus.writeMs - beforeMs;
    if (kind === "TurnEnded") process.stdout.write(`${syncMs}\n`);
  });
  process.stdout.write(`${JSON.stringify({ socketPath: bench.socketPath, session, token: server.TOKEN })}\n`);
  await once(process.stdin.resume(), "end");
  await bench.close();
  process.exit(0);
}

async function startBuild(folder: string): Promise<Build> {
  const child = spawn(process.execPath, [import.meta.filename, "serve", resolve(folder)]);
  child.stderr.pipe(process.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  const place = JSON.parse(value ?? "{}") as Place;
  await ask(place, "GET", "/v1/handshake");
  return { ...place, child, lines, p95s: [], medians: [] };
}

/** Milliseconds until the reply. */
function ask({ socketPath, token }: Place, method: string, path: string, body?: unknown): Promise<number> {
  return new Promise((done, fail) => {
    const startMs = performance.now();
    const headers = { host: "localhost", "x-harness-token": token };
    const asked = request({ socketPath, method, path, headers, agent }, (response) => {
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) fail(new Error(`${method} ${path}: HTTP ${status}`));
      response.resume().on("end", () => done(performance.now() - startMs));
    });
    asked.on("error", fail).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function playRound(build: Build): Promise<{ readonly posts: number[]; readonly syncs: number[] }> {
  const [posts, syncs]: [number[], number[]] = [[], []];
  for (let n = 0; n < INPUTS_PER_ROUND; n++) {
    posts.push(await ask(build, "POST", `/v1/sessions/${build.session}/input`, INPUT));
    syncs.push(Number((await build.lines.next()).value));
  }
  return { posts, syncs };
}

function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? Number.NaN;
}

async function main(baseFolder: string, rounds: number): Promise<void> {
  const before = await startBuild(baseFolder);
  const after = await startBuild(join(import.meta.dirname, ".."));
  for (const build of [before, after]) await playRound(build); // warm
  const [syncP95s, syncMedians]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    for (const build of round % 2 === 0 ? [before, after] : [after, before]) {
      const { posts, syncs } = await playRound(build);
      build.p95s.push(p95(posts));
      build.medians.push(median(posts));
      syncP95s.push(p95(syncs));
      syncMedians.push(median(syncs));
    }
  }
  for (const { child } of [before, after]) {
    child.stdin.end();
    await once(child, "close");
  }
  agent.destroy();
  const grown = (name: string, limitMs: number, read: (build: Build) => number[]): Figure[] => [
    { name: `POST input, ${name}, before`, unit: "ms", ours: median(read(before)) },
    { name: `POST input, ${name}, after`, unit: "ms", ours: median(read(after)) },
    { name: `one sync, ${name}`, unit: "ms", ours: limitMs },
    {
      name: `growth of the ${name} against one sync`,
      unit: "ms",
      ours: median(read(after)) - median(read(before)),
      limit: limitMs,
    },
  ];
  const figures = [
    ...grown("p95", median(syncP95s), ({ p95s }) => p95s),
    ...grown("median", median(syncMedians), ({ medians }) => medians),
  ];
  printFigures(`POST input, medians of ${rounds} rounds of ${INPUTS_PER_ROUND} inputs for each build`, figures);
  process.exitCode = figures.every(holds) ? 0 : 1;
}

const [first, second = String(DEFAULT_ROUNDS)] = process.argv.slice(2);
if (first === undefined) {
  process.stderr.write("usage: node bench/post-input.ts BASE_DIR [rounds]\n");
  process.exitCode = 2;
} else if (first === "serve") await serve(second);
else await main(first, Number(second));
