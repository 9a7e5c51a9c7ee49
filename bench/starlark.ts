/**
 * Starlark against CPython and plain JS on the same machine, CPU time, interleaved, best of several rounds; then the figures a hook cares
 * about and what counting steps costs. Absolute times mean little on a shared machine. Usage: node bench/starlark.ts
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { builtin, compile, compileExpression, type Instance } from "#starlark";
import { type Figure, printFigures } from "./figures.ts";
import { plainPrograms } from "./starlark/plain.ts";
import { stepCost } from "./starlark/step-cost.ts";

const folder = path.join(import.meta.dirname, "starlark");
const unlimited = { maxSteps: 1e15, maxAllocBytes: 1e15, timeoutMs: 1e9 };
const rounds = 5;
const SHORT_RUNS = 100;

/** How large each program's input is: a few milliseconds of work. */
const sizes: Readonly<Record<string, number>> = {
  fib: 4000,
  sieve: 200_000,
  strings: 40_000,
  words: 4000,
  sorting: 8000,
  comprehensions: 100,
  calls: 100_000,
  tree: 50,
  bigints: 600,
  wordcount: 1500,
  factorial: 300,
  hook: 50_000,
  when: 100_000,
};

function timeMs(run: () => unknown): number {
  const start = performance.now();
  run();
  return performance.now() - start;
}

/** CPU time of all threads, which other work on the machine disturbs less than a clock. */
function cpuMs(run: () => unknown): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** One run under CPython, or null if there is none. */
function python(name: string, n: number): { ms: number; result: string } | null {
  const input = `${path.join(folder, `${name}.star`)} ${n} 2\n`;
  const { stdout, status } = spawnSync("python3", [path.join(folder, "run.py")], { input, encoding: "utf8" });
  if (status !== 0) return null;
  const [ms = "", result = ""] = stdout.trim().split(" ");
  return { ms: Number(ms), result };
}

interface Row {
  readonly name: string;
  /** The program it runs. */
  readonly file: string;
  ours: number;
  plain: number;
  cpython: number;
}

function sourceOf(name: string): string {
  return readFileSync(path.join(folder, `${name}.star`), "utf8");
}

const payload = { name: "shell", args: { command: "git status --short" }, risk: 3, path: "/work/src/main.ts" };

/** The loops of hook.star and when.star run by the host, which hands over its own object each time. CPython converts nothing. */
const hostLoops: Readonly<Record<string, () => (n: number) => unknown>> = {
  hook() {
    const instance = compile(sourceOf("hook"), "hook").initSync();
    return (n) => {
      let result: unknown;
      for (let i = 0; i < n; i++) result = instance.callSync("on_tool", ["tool.before", payload]);
      return Object.keys(result as object).length;
    };
  },
  when() {
    const [, condition = ""] = /return (.*)/.exec(sourceOf("when")) ?? [];
    const when = compileExpression(condition, "when", { names: ["event", "payload"] });
    return (n) => {
      let hits = 0;
      for (let i = 0; i < n; i++) if (when.test(["tool.before", payload])) hits++;
      return hits;
    };
  },
};

function comparePrograms(): Row[] {
  const times = { ours: Infinity, plain: Infinity, cpython: Infinity };
  const programs = Object.keys(sizes).map((file) => {
    const instance: Instance = compile(sourceOf(file), file).initSync(unlimited);
    const row: Row = { name: file, file, ...times };
    return { row, run: (n: number): unknown => instance.callSync("main", [n], unlimited) };
  });
  for (const [file, make] of Object.entries(hostLoops)) {
    programs.push({ row: { name: `${file}, payload converted`, file, ...times }, run: make() });
  }
  for (let round = 0; round < rounds; round++) {
    for (const { row, run } of programs) {
      const plain = plainPrograms[row.file];
      const n = sizes[row.file] ?? 0;
      if (plain === undefined) throw new Error(`no plain program ${row.name}`);
      let result: unknown;
      for (let i = 0; i < 3; i++) {
        row.ours = Math.min(
          row.ours,
          cpuMs(() => {
            result = run(n);
          }),
        );
        row.plain = Math.min(
          row.plain,
          cpuMs(() => plain(n)),
        );
      }
      const other = python(row.file, n);
      if (other === null) continue;
      row.cpython = Math.min(row.cpython, other.ms);
      if (other.result !== String(result))
        throw new Error(`${row.name}: ${String(result)} here, ${other.result} there`);
    }
  }
  return programs.map((p) => p.row);
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, v) => sum + Math.log(v), 0) / values.length);
}

/** Best time of one call in microseconds: many short runs, so that some of them are undisturbed. */
function microseconds(run: () => unknown, times: number): number {
  let best = Infinity;
  for (let k = 0; k < SHORT_RUNS; k++) {
    const ms = timeMs(() => {
      for (let i = 0; i < times; i++) run();
    });
    best = Math.min(best, (1000 * ms) / times);
  }
  return best;
}

const hookSource = sourceOf("hook").split("PAYLOAD")[0] ?? "";
const whenSource =
  'event == "tool.before" and payload["name"] in ["shell", "write"] and payload["path"].endswith(".ts")';

function hookFigures(): Figure[] {
  const instance = compile(hookSource, "hook.star").initSync();
  const large = { ...payload, output: "x".repeat(100_000) };
  const when = compileExpression(whenSource, "when", { names: ["event", "payload"] });
  const hook = (p: object): number => microseconds(() => instance.callSync("on_tool", ["tool.before", p]), 2000);
  const test = (p: object): number => microseconds(() => when.test(["tool.before", p]), 5000);
  const compiling = microseconds(() => compile(hookSource, "hook.star").initSync(), 20);
  return [
    { name: "hook call, payload converted", unit: "us", ours: hook(payload), limit: 1.5 },
    { name: "hook call, 100 kB field untouched", unit: "us", ours: hook(large), limit: 1.5 },
    { name: "when", unit: "us", ours: test(payload), limit: 0.5 },
    { name: "when, 100 kB field untouched", unit: "us", ours: test(large), limit: 0.5 },
    { name: "compile and initialise a hook", unit: "us", ours: compiling, limit: 300 },
  ];
}

async function asyncFigure(): Promise<Figure> {
  const get = builtin("get", "async", "x", ({ x }) => Promise.resolve(x));
  const source = "def f(n):\n  s = 0\n  for i in range(n):\n    s += get(i)\n  return s\n";
  const instance = await compile(source, "a.star", { predeclared: { get } }).init();
  const n = 50_000;
  let best = Infinity;
  for (let k = 0; k < 2 * rounds; k++) {
    const start = performance.now();
    await instance.call("f", [n], unlimited);
    best = Math.min(best, (1000 * (performance.now() - start)) / n);
  }
  return { name: "awaited host call", unit: "us", ours: best, limit: 1 };
}

/** The share of time that counting steps takes, in percent. */
function stepFigures(): Figure[] {
  const shares = Object.entries(sizes).map(([name, n]) => {
    const { counted, uncounted } = stepCost(sourceOf(name), n);
    return { name, ratio: counted / uncounted };
  });
  const percent = (ratio: number): number => 100 * (ratio - 1);
  const worst = shares.reduce((a, b) => (b.ratio > a.ratio ? b : a));
  const mean = geometricMean(shares.map((s) => s.ratio));
  return [
    { name: "counting steps, geometric mean", unit: "%", ours: percent(mean), limit: 5 },
    { name: `counting steps, worst program (${worst.name})`, unit: "%", ours: percent(worst.ratio) },
  ];
}

/**
 * All figures. The floor of a program is CPython's time, which includes no conversion of payloads; without CPython it is left out,
 * and the name says so.
 */
export async function benchStarlark(): Promise<Figure[]> {
  const rows = comparePrograms();
  const figures: Figure[] = rows.map(({ name, file, ours, cpython, plain }) => {
    const label = `${name} (${(ours / plain).toFixed(1)} x plain JS)`;
    if (!Number.isFinite(cpython)) return { name: `${label}, no python3 here to compare with`, unit: "ms", ours };
    return { name: `${label}, against CPython`, unit: "ms", ours, floor: cpython, maxRatio: name === file ? 3 : 4 };
  });
  const compared = rows.filter((r) => Number.isFinite(r.cpython));
  if (compared.length > 0) {
    const mean = geometricMean(compared.map((r) => r.ours / r.cpython));
    figures.push({ name: "geometric mean against CPython", unit: "x", ours: mean, limit: 1 });
  }
  return [...figures, ...hookFigures(), await asyncFigure(), ...stepFigures()];
}

if (import.meta.main) printFigures("Starlark", await benchStarlark());
