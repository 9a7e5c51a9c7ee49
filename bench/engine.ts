/**
 * The engine, installed, against a bare fetch loop, in one run: cold start to the first request, own time per step, twenty steps, a
 * reply of 20,000 deltas, peak memory and the size of the first prompt. Ratios count; the machine's speed does not, but for its disk:
 * what a step takes without the log on it, and what a sync takes there, say how much of a step that is. The model needs no key: what
 * one adds is measured in credentials.ts.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, fdatasyncSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { defined } from "#base";
import { installInto } from "../test/fakes/installed-package.ts";
import { type Figure, median, printFigures } from "./figures.ts";
import type { MockPlan, MockReport } from "./mock-model.ts";

const root = resolve(import.meta.dirname, "..");
const REPEATS = Number(process.env.BENCH_REPEATS ?? 15);

/** Model calls of the long turn: each but the last reads a file. */
const STEPS = 20;
const SYNCS = 200;

interface Run {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakMb: number;
  readonly coldMs: number;
  readonly report: MockReport;
}

export async function benchEngine(): Promise<Figure[]> {
  const scratch = mkdtempSync(join(tmpdir(), "harness-bench-"));
  const program = installInto(join(scratch, "package"));
  const workspace = join(scratch, "workspace");
  mkdirSync(workspace);
  for (let step = 0; step < STEPS; step++) {
    writeFileSync(join(workspace, `data-${step}.txt`), "a line of text\n".repeat(50));
  }
  const { server, baseUrl } = await startMock();
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: scratch,
    XDG_DATA_HOME: join(scratch, "data"),
    XDG_CONFIG_HOME: join(scratch, "config"),
    XDG_CACHE_HOME: join(scratch, "cache"),
    OLLAMA_BASE_URL: baseUrl,
  };
  const ours = [program, "run", "--model", "ollama:bench", "--cwd", workspace, "hello"];
  const bare = [join(root, "bench/bare-loop.mjs"), baseUrl, workspace];
  try {
    const compare = async (plan: MockPlan, repeats: number, ...flags: string[]) => {
      const results: { ours: Run[]; bare: Run[] } = { ours: [], bare: [] };
      for (let i = 0; i < repeats + 2; i++) {
        const ourRun = await run([...ours, ...flags], env, baseUrl, plan);
        const bareRun = await run(bare, env, baseUrl, plan);
        // The first runs fill the compile cache and the page cache.
        if (i < 2) continue;
        results.ours.push(ourRun);
        results.bare.push(bareRun);
      }
      return results;
    };
    const cold = await compare({ steps: 0, deltas: 5 }, REPEATS);
    const steps = await compare({ steps: STEPS - 1, deltas: 5 }, REPEATS);
    const inMemory = await compare({ steps: STEPS - 1, deltas: 5 }, Math.ceil(REPEATS / 2), "--store", "memory");
    const deltas = await compare({ steps: 0, deltas: 20_000 }, Math.ceil(REPEATS / 2));
    const promptBytes = cold.ours[0]?.report.promptBytes ?? Number.NaN;
    return [
      figure("cold start to the first request, without a key", "ms", cold, ({ coldMs }) => coldMs, 1.6),
      figure("own time per step", "ms", steps, ({ report }) => median(report.gapsMs), 1.5),
      figure("own time per step, the log in memory", "ms", inMemory, ({ report }) => median(report.gapsMs)),
      { name: "a sync of 4 KiB on the disk of the log", unit: "ms", ours: syncMs(scratch) },
      figure("20 steps, wall", "ms", steps, ({ wallMs }) => wallMs, 1.8),
      figure("20 steps, CPU", "ms", steps, ({ cpuMs }) => cpuMs, 2),
      figure("20,000 deltas, wall", "ms", deltas, ({ wallMs }) => wallMs, 1.5),
      figure("peak memory of 20 steps", "MB", steps, ({ peakMb }) => peakMb, 1.3),
      { name: "system prompt and tool schemas", unit: "KiB", ours: promptBytes / 1024, limit: 5 },
    ];
  } finally {
    server.stdin?.end();
    rmSync(scratch, { recursive: true, force: true });
  }
}

function figure(
  name: string,
  unit: string,
  runs: { readonly ours: readonly Run[]; readonly bare: readonly Run[] },
  measure: (run: Run) => number,
  maxRatio?: number,
): Figure {
  const medians = { ours: median(runs.ours.map(measure)), floor: median(runs.bare.map(measure)) };
  return { name, unit, ...medians, ...defined({ maxRatio }) };
}

function syncMs(folder: string): number {
  const file = openSync(join(folder, "synced"), "w");
  const page = Buffer.alloc(4096);
  const took = Array.from({ length: SYNCS }, () => {
    writeSync(file, page);
    const startMs = performance.now();
    fdatasyncSync(file);
    return performance.now() - startMs;
  });
  closeSync(file);
  return median(took);
}

async function startMock(): Promise<{ server: ChildProcess; baseUrl: string }> {
  const server = spawn(process.execPath, [join(root, "bench/mock-model.ts")], { stdio: ["pipe", "pipe", "inherit"] });
  const port = await new Promise<string>((resolvePort) => {
    server.stdout?.once("data", (chunk: Buffer) => resolvePort(chunk.toString().trim()));
  });
  return { server, baseUrl: `http://127.0.0.1:${port}` };
}

async function run(args: string[], env: Record<string, string>, baseUrl: string, plan: MockPlan): Promise<Run> {
  await fetch(`${baseUrl}/plan`, { method: "POST", body: JSON.stringify(plan) });
  const startMs = performance.timeOrigin + performance.now();
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...env, NODE_OPTIONS: `--import=${join(root, "bench/report-usage.mjs")}` },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const [code, usage, errors] = await Promise.all([
    new Promise<number | null>((done) => child.once("close", done)),
    readAll(child.stdio[3]),
    readAll(child.stderr),
    readAll(child.stdout),
  ]);
  const wallMs = performance.timeOrigin + performance.now() - startMs;
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${errors}`);
  const report = (await (await fetch(`${baseUrl}/report`)).json()) as MockReport;
  if (report.requests !== plan.steps + 1) throw new Error(`${report.requests} requests, expected ${plan.steps + 1}`);
  const { cpuMs, peakMb } = JSON.parse(usage) as { cpuMs: number; peakMb: number };
  return { wallMs, cpuMs, peakMb, coldMs: report.firstRequestMs - startMs, report };
}

async function readAll(stream: unknown): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

if (import.meta.main) printFigures("engine", await benchEngine());
