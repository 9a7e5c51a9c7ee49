/**
 * What counting steps costs: the same generated code with and without it, interleaved, the best of many runs. Built-ins charge
 * for their own work in both, so this is the cost of the counter in loops and at the entry of functions.
 */
import { generate } from "../../src/starlark/compile/codegen.ts";
import { universe } from "../../src/starlark/library/universe.ts";
import { noModules } from "../../src/starlark/program.ts";
import { runtime } from "../../src/starlark/runtime.ts";
import { parseFile } from "../../src/starlark/syntax/parser.ts";
import { resolveFile } from "../../src/starlark/syntax/resolver.ts";
import { defaultDialect } from "../../src/starlark/syntax/scope.ts";
import { makeSource } from "../../src/starlark/syntax/source.ts";
import { Thread } from "../../src/starlark/thread.ts";
import { Fn } from "../../src/starlark/values/values.ts";

/** The counter as the emitter writes it. */
const STEP = /if\(--T\.fuel<0\)T\.refuel\(\);/g;
const COPIES = 4;
const ROUNDS = 12;
const unlimited = { maxSteps: 1e15, maxAllocBytes: 1e15, timeoutMs: 1e9 };

type Run = (n: number) => number;

/** Best times of `main(n)` with the counter and without it, in ms. */
export function stepCost(text: string, n: number): { counted: number; uncounted: number } {
  // The engine optimises each copy on its own and not always equally well, so there are several of each.
  const copies = Array.from({ length: COPIES }, () => ({
    counted: build(text, (code) => code),
    uncounted: build(text, (code) => code.replace(STEP, "")),
  }));
  const best = { counted: Number.POSITIVE_INFINITY, uncounted: Number.POSITIVE_INFINITY };
  for (let round = 0; round < ROUNDS; round++) {
    for (const copy of copies) {
      best.counted = Math.min(best.counted, copy.counted(n));
      best.uncounted = Math.min(best.uncounted, copy.uncounted(n));
    }
  }
  return best;
}

/** The program with its code changed, as a function that runs `main` and tells the time. */
function build(text: string, change: (code: string) => string): Run {
  const source = makeSource("bench.star", text, {});
  const { tree } = parseFile(source);
  const resolved = resolveFile(tree, source, {
    dialect: defaultDialect,
    predeclared: new Set(),
    universal: new Set(universe.keys()),
  });
  const emission = generate(tree, resolved, { source, mode: "sync", dialect: defaultDialect });
  const code = change(emission.code);
  const outside = emission.outside.map((name) => universe.get(name));
  const { top, all } = new Function("R", "K", "C", "D", "L", "P", code)(
    runtime,
    emission.constants,
    emission.functions,
    outside,
    noModules,
    () => source.position(0),
  );
  top(new Thread(unlimited));
  const main = all()[resolved.globals.findIndex((g) => g.name === "main")];
  if (!(main instanceof Fn)) throw new Error("the program has no main");
  return (n) => {
    const thread = new Thread(unlimited);
    const start = performance.now();
    main.j(thread, n);
    return performance.now() - start;
  };
}
