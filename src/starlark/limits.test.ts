import { describe, expect, it } from "vitest";
import { failureOf } from "../../test/starlark/failure.ts";
import { StarlarkError } from "./errors.ts";
import { compileExpression } from "./expression.ts";
import { builtin } from "./host-builtin.ts";
import { jsonModule } from "./library/json.ts";
import { compile } from "./program.ts";
import type { ThreadOptions } from "./thread.ts";

/** How a program ends: "ok", or kind and limit of its error. */
function outcome(source: string, options: ThreadOptions = {}): string {
  try {
    compile(source, "a.star", { predeclared: { json: jsonModule } }).initSync(options);
    return "ok";
  } catch (e) {
    if (!(e instanceof StarlarkError)) throw e;
    return e.limit ?? e.kind;
  }
}

function inFunction(...lines: string[]): string {
  return ["def f():", ...lines.map((l) => `  ${l}`), "f()"].join("\n");
}

function cpuMs(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe("limits end what would hang or exhaust the process", () => {
  const small = { maxSteps: 100_000, maxAllocBytes: 8_000_000, maxValueBytes: 2_000_000 };
  const attacks: Record<string, [source: string, expected: string]> = {
    "an endless loop": [inFunction("for i in range(1 << 60):", "  pass"), "steps"],
    "nested loops": [inFunction("for i in range(1000000):", "  for j in range(1000000):", "    pass"), "steps"],
    "a huge comprehension": ["x = [i for i in range(1 << 40)]", "steps"],
    "a huge range as a list": ["x = list(range(1 << 30))", "size"],
    "repetition of a string": ["x = 'a' * (1 << 29)", "size"],
    "repetition of a list": ["x = [0] * (1 << 29)", "size"],
    "a doubling string": [inFunction("s = 'ab'", "for i in range(99):", "  s = s + s"), "size"],
    "a doubling list": [inFunction("s = [1]", "for i in range(99):", "  s += s"), "size"],
    "strings kept in a list": [
      inFunction("l = []", "s = 'a' * 50000", "for i in range(9999):", "  l.append(s + str(i))"),
      "memory",
    ],
    "a squared int": [inFunction("x = 3", "for i in range(99):", "  x = x * x"), "steps"],
    "a shifted int": [inFunction("x = 1", "for i in range(99999):", "  x = x << 511"), "memory"],
    "digits of a long int": ["x = int('1' * 1000000)", "steps"],
    "digits in an odd base": ["x = int('1' * 100000, 7)", "steps"],
    replacement: [inFunction("s = 'a' * 1000", "for i in range(9):", "  s = s.replace('a', 'a' * 1000)"), "steps"],
    join: ["x = ('a' * 100000).join([''] * 1000)", "size"],
    "percent format": ["x = '%s' * 100 % tuple(['a' * 100000] * 100)", "size"],
    "brace format": ["x = ('{0}' * 100).format('a' * 100000)", "size"],
    "text of a shared structure": [inFunction("x = [1]", "for i in range(40):", "  x = [x, x]", "str(x)"), "steps"],
    "text of a deep structure": [inFunction("x = []", "for i in range(5000):", "  x = [x]", "str(x)"), "depth"],
    "JSON of a shared structure": [
      inFunction("x = [1]", "for i in range(40):", "  x = [x, x]", "json.encode(x)"),
      "steps",
    ],
    "deep JSON": ["x = json.decode('[' * 10000)", "depth"],
    "a shared tuple as key": [inFunction("x = (1,)", "for i in range(60):", "  x = (x, x)", "d = {x: 1}"), "steps"],
    "a deep tuple as key": [inFunction("x = ()", "for i in range(5000):", "  x = (x,)", "d = {x: 1}"), "depth"],
    "comparison of shared structures": [
      inFunction("x = [1]", "y = [1]", "for i in range(8):", "  x = [x] * 50", "  y = [y] * 50", "x == y"),
      "steps",
    ],
    "stripping of many characters": [
      inFunction("s = 'a' * 1000000", "for i in range(999):", "  'b'.strip(s)"),
      "steps",
    ],
    "large tuples as keys": [
      inFunction("x = tuple(range(50000))", "d = {1: 1}", "for i in range(9999):", "  d.get(x)"),
      "steps",
    ],
    "tuples of long strings as keys": [
      inFunction("x = ('a' * 1000000,)", "d = {1: 1}", "for i in range(9999):", "  x in d"),
      "steps",
    ],
    "long strings as keys": [
      inFunction("s = 'a' * 1000000", "t = 'a' * 1000000", "d = {s: 1}", "for i in range(9999):", "  d[t] == d.get(t)"),
      "steps",
    ],
    "long strings in sets": [
      inFunction("s = 'a' * 1000000", "t = 'a' * 1000000", "d = set([s])", "for i in range(9999):", "  t in d"),
      "steps",
    ],
    "long bytes as keys": [
      inFunction("s = b'a' * 1000000", "d = {s: 1}", "for i in range(9999):", "  s in d"),
      "steps",
    ],
    "comparison of dicts with large keys": [
      inFunction("d = {tuple(range(50000)): 1}", "for i in range(999):", "  d == d"),
      "steps",
    ],
    ...Object.fromEntries(
      [
        "a == b",
        "a <= b",
        "a | b",
        "a & b",
        "a - b",
        "a ^ b",
        "a.union(b)",
        "a.intersection(b)",
        "a.difference(b)",
        "a.symmetric_difference(b)",
        "a.issubset(b)",
        "a.issuperset(b)",
        "a.isdisjoint(b)",
        "a.update(b)",
        "a.intersection_update(b)",
        "a.difference_update(c)",
        "a.discard(k)",
        "a.add(k)",
      ].map((work): [string, [string, string]] => [
        `${work} of sets with large elements`,
        [
          inFunction(
            "k = tuple(range(1000))",
            "a = set([k, 1])",
            "b = set([k, 2])",
            "c = [(k,)]",
            "for i in range(9999):",
            `  ${work}`,
          ),
          "steps",
        ],
      ]),
    ),
    "a growing dict": [inFunction("d = {}", "for i in range(1 << 30):", "  d[i] = i"), "steps"],
    "a sorted range": ["x = sorted(range(1 << 30))", "size"],
    "search in a long string": [inFunction("s = 'a' * 1000000", "for i in range(99999):", "  s.find('b')"), "steps"],
    "comparison of long strings": [
      inFunction("s = 'a' * 1000000", "t = 'a' * 1000000", "for i in range(99999):", "  s == t"),
      "steps",
    ],
    "removal at the front": [inFunction("l = [0] * 100000", "for i in range(99999):", "  l.pop(0)"), "steps"],
    "many arguments": ["def f(*a): pass\nf(*range(50000))", "size"],
  };
  for (const [name, [source, expected]] of Object.entries(attacks)) {
    it(name, () => {
      expect(outcome(source, small)).toBe(expected);
    });
  }

  it("calls that double at every level", () => {
    const defs = Array.from({ length: 60 }, (_, i) => `def f${i}(): ${i === 0 ? "pass" : `f${i - 1}(); f${i - 1}()`}`);
    expect(outcome(`${defs.join("\n")}\nf59()`, small)).toBe("steps");
  });

  it("short functions that call each other in a circle", () => {
    expect(outcome("def f(): return g()\ndef g(): return f()\nf()")).toBe("runtime");
    expect(outcome("def f(x): return f(x)\nf(1)")).toBe("runtime");
  });

  it("calls of a short function that calls nothing, and of a long one", () => {
    const many = (body: string): string => `def g(x): ${body}\n${"g(1)\n".repeat(2000)}`;
    expect(outcome(many("return x"), { maxSteps: 1000 })).toBe("ok");
    expect(outcome(many(`return x + ${"x + ".repeat(50)}x`), { maxSteps: 1000 })).toBe("steps");
    expect(outcome("x = max(range(2000), key = lambda x: x)", { maxSteps: 1999 })).toBe("steps");
  });

  it("a deep chain of calls", () => {
    const defs = Array.from({ length: 300 }, (_, i) => `def f${i}(): return ${i === 0 ? "1" : `f${i - 1}()`}`);
    expect(outcome(`${defs.join("\n")}\nf200()`)).toBe("ok");
    expect(outcome(`${defs.join("\n")}\nf299()`)).toBe("depth");
  });

  it("recursion where it is allowed", () => {
    const program = compile("def f(n): return f(n + 1)\n", "a.star", { dialect: { recursion: true } });
    expect(() => program.initSync().callSync("f", [1])).toThrow(/call stack too deep/);
  });

  it("deeply nested source", () => {
    const sources = [
      `x=${"(".repeat(9999)}`,
      `x=${"[".repeat(9999)}`,
      `x=${"-".repeat(9999)}1`,
      `x=${"not ".repeat(9999)}1`,
      `x=${"lambda: ".repeat(9999)}1`,
      `x=f${"()".repeat(9999)}`,
      `x=1${" if 1 else 1".repeat(9999)}`,
      `x=[1${" for a in [1]".repeat(9999)}]`,
    ];
    expect(sources.map((s) => outcome(s))).toEqual(sources.map(() => "syntax"));
  });

  it("long flat source is no problem", () => {
    expect(outcome(`x=1${"+1".repeat(20_000)}`)).toBe("ok");
    expect(outcome(`x=1${" and 1".repeat(5000)}`)).toBe("ok");
    expect(outcome(`x=[${"1,".repeat(20_000)}]`)).toBe("ok");
  });

  it("a function with too many parameters", () => {
    const params = Array.from({ length: 70_000 }, (_, i) => `a${i}`).join(",");
    expect(outcome(`def f(${params}): pass`)).toBe("resolve");
  });
});

describe("accounting", () => {
  const program = compile("def f(n):\n  s = 0\n  for i in range(n):\n    s += i\n  return s\n", "a.star");

  it("allows exactly the given number of steps", () => {
    const instance = program.initSync();
    expect(instance.callSync("f", [100], { maxSteps: 100 })).toBe(4950);
    expect(() => instance.callSync("f", [101], { maxSteps: 100 })).toThrow(/too many steps \(limit 100\)/);
  });

  it("counts the same steps in every run", () => {
    const source = "x = sorted([str(i) for i in range(500)], key = lambda s: s[::-1])\ny = ','.join(x).split(',')";
    const steps = [1, 2, 3].map(() => compile(source, "a.star").initSync().steps);
    expect(new Set(steps).size).toBe(1);
  });

  it("stops a synchronous call at its deadline", () => {
    const error = failureOf(() => program.initSync().callSync("f", [1e9], { maxSteps: 1e12, timeoutMs: 20 }));
    expect([error.kind, error.limit]).toEqual(["limit", "time"]);
  });

  it("keeps to the deadline while large keys are hashed", () => {
    const source = "def f():\n  x = tuple(range(50000))\n  d = {1: 1}\n  for i in range(100000):\n    d.get(x)\n";
    const unlimited = { maxSteps: 1e15, maxAllocBytes: 1e15 };
    const run = (): unknown =>
      compile(source, "a.star")
        .initSync()
        .callSync("f", [], { ...unlimited, timeoutMs: 20 });
    let limit: unknown;
    const took = cpuMs(() => {
      limit = failureOf(run).limit;
    });
    expect(limit).toBe("time");
    expect(took).toBeLessThan(2000);
  });

  it("finds large ints as quickly as small ones", () => {
    const source = "def f():\n  d = {}\n  for i in range(40000):\n    d[i << 64] = i\n  return len(d)\n";
    expect(cpuMs(() => compile(source, "a.star").initSync().callSync("f", []))).toBeLessThan(2000);
  });

  it("starts nothing for a signal that is aborted already", async () => {
    const signal = AbortSignal.abort();
    let calls = 0;
    const note = builtin("note", "sync", "", () => {
      calls++;
    });
    const noting = compile("def f(): note()\n", "a.star", { predeclared: { note } });
    const atTop = compile("note()\n", "a.star", { predeclared: { note } });
    const kinds = [
      failureOf(() => noting.initSync().callSync("f", [], { signal })),
      failureOf(() => atTop.initSync({ signal })),
      await noting
        .initSync()
        .call("f", [], { signal })
        .catch((e: unknown) => e),
      await atTop.init({ signal }).catch((e: unknown) => e),
      failureOf(() => compileExpression("1", "e", { names: [] }).test([], { signal })),
    ].map((e) => (e instanceof StarlarkError ? e.kind : e));
    expect([kinds, calls]).toEqual([Array.from({ length: 5 }, () => "cancelled"), 0]);
  });
});
