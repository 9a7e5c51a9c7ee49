/**
 * Starlark against CPython and plain JS on the same machine, interleaved, best of several rounds; then the figures a hook cares
 * about and what counting steps costs. Absolute times mean little on a shared machine. Usage: node bench/starlark.ts
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { builtin, compile, compileExpression, type Instance } from "#starlark";
import { type Figure, printFigures } from "./figures.ts";
import { plainPrograms } from "./starlark/plain.ts";
import { stepCost } from "./starlark/step-cost.ts";

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
  hook: 50_000,
  when: 100_000,
};

const folder = path.join(import.meta.dirname, "starlark");
const unlimited = { maxSteps: 1e15, maxAllocBytes: 1e15, timeoutMs: 1e9 };
const rounds = 5;
const SHORT_RUNS = 100;

function timeMs(run: () => unknown): number {
  const start = performance.now();
  run();
  return performance.now() - start;
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
  ours: number;
  plain: number;
  cpython: number;
}

function comparePrograms(): Row[] {
  const programs = Object.entries(sizes).map(([name, n]) => {
    const source = readFileSync(path.join(folder, `${name}.star`), "utf8");
    const instance: Instance = compile(source, name).initSync(unlimited);
    const row: Row = { name, ours: Infinity, plain: Infinity, cpython: Infinity };
    return { n, row, instance };
  });
  for (let round = 0; round < rounds; round++) {
    for (const { n, row, instance } of programs) {
      const plain = plainPrograms[row.name];
      if (plain === undefined) throw new Error(`no plain program ${row.name}`);
      let result: unknown;
      for (let i = 0; i < 3; i++) {
        row.ours = Math.min(
          row.ours,
          timeMs(() => {
            result = instance.callSync("main", [n], unlimited);
          }),
        );
        row.plain = Math.min(
          row.plain,
          timeMs(() => plain(n)),
        );
      }
      const other = python(row.name, n);
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

const hookSource = readFileSync(path.join(folder, "hook.star"), "utf8").split("PAYLOAD")[0] ?? "";
const whenSource =
  'event == "tool.before" and payload["name"] in ["shell", "write"] and payload["path"].endswith(".ts")';

function hookFigures(): Figure[] {
  const instance = compile(hookSource, "hook.star").initSync();
  const payload = { name: "shell", args: { command: "git status --short" }, path: "/work/src/main.ts" };
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
    const { counted, uncounted } = stepCost(readFileSync(path.join(folder, `${name}.star`), "utf8"), n);
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

/** All figures. The floor of a program is CPython's time; without CPython it is left out, and the name says so. */
export async function benchStarlark(): Promise<Figure[]> {
  const rows = comparePrograms();
  const figures: Figure[] = rows.map(({ name, ours, cpython, plain }) => {
    const label = `${name} (${(ours / plain).toFixed(1)} x plain JS)`;
    if (!Number.isFinite(cpython)) return { name: `${label}, no python3 here to compare with`, unit: "ms", ours };
    return { name: `${label}, against CPython`, unit: "ms", ours, floor: cpython, maxRatio: 3 };
  });
  const compared = rows.filter((r) => Number.isFinite(r.cpython));
  if (compared.length > 0) {
    const mean = geometricMean(compared.map((r) => r.ours / r.cpython));
    figures.push({ name: "geometric mean against CPython", unit: "x", ours: mean, limit: 1 });
  }
  return [...figures, ...hookFigures(), await asyncFigure(), ...stepFigures()];
}

if (import.meta.main) printFigures("Starlark", await benchStarlark());
