import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { builtin, hostModule } from "./host-builtin.ts";
import { toHost, toStarlark, toStarlarkLazily } from "./interop.ts";
import { compile } from "./program.ts";
import { Float } from "./values/values.ts";

function call(source: string, args: readonly unknown[], predeclared: Record<string, unknown> = {}): unknown {
  return compile(source, "a.star", { predeclared }).initSync().callSync("f", args);
}

describe("conversion", () => {
  it("keeps data as it is, both ways, at once or lazily", () => {
    const leaf = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.integer(),
      fc.maxSafeInteger(),
      fc.bigInt().filter((n) => n > 2n ** 53n || n < -(2n ** 53n)),
      fc.double({ noNaN: true }).filter((x) => !Number.isInteger(x)),
      fc.boolean(),
      fc.constant(null),
      fc.uint8Array({ maxLength: 8 }),
    );
    const data = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: "small" }, leaf, fc.array(tie("value")), fc.dictionary(fc.string(), tie("value"))),
    })).value;
    fc.assert(
      fc.property(data, (x) => {
        const normal = structuredClone(x);
        expect(toHost(toStarlark(x))).toEqual(normal);
        expect(toHost(toStarlarkLazily(x))).toEqual(normal);
      }),
      { seed: 7, numRuns: 300 },
    );
  });

  it("turns integral numbers into ints and the rest into floats", () => {
    expect([toStarlark(3), toStarlark(-0), toStarlark(1e20), toStarlark(2n ** 60n), toStarlark(5n)]).toEqual([
      3,
      0,
      100000000000000000000n,
      2n ** 60n,
      5,
    ]);
    expect(toStarlark(1.5)).toEqual(new Float(1.5));
  });

  it("reads own properties only", () => {
    const source = "def f(x): return [x.get('constructor'), x.get('toString'), x.get('__proto__'), 'a' in x, x['a']]";
    expect(call(source, [{ a: 1 }])).toEqual([null, null, null, true, 1]);
    expect(call(source, [JSON.parse('{"a": 1, "__proto__": 5}')])).toEqual([null, null, 5, true, 1]);
  });

  it("makes own properties only", () => {
    const result = call("def f(): return {'__proto__': {'x': 1}, 'a': 2}", []);
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(Object.keys(result as object)).toEqual(["__proto__", "a"]);
  });

  it("keeps the order of lazy entries, however they are touched", () => {
    const source = "def f(x):\n  x['c']\n  x['new'] = 1\n  x['a'] = 9\n  return list(x.items())";
    expect(call(source, [{ a: 1, b: 2, c: 3 }])).toEqual([
      ["a", 9],
      ["b", 2],
      ["c", 3],
      ["new", 1],
    ]);
  });

  it("does not touch entries the script does not touch", () => {
    const touched: string[] = [];
    const payload = {
      get used() {
        touched.push("used");
        return 1;
      },
      get unused() {
        touched.push("unused");
        return 2;
      },
    };
    expect(call("def f(x): return x['used'] + x['used']", [payload])).toBe(2);
    expect(touched).toEqual(["used"]);
  });

  it("refuses what is cyclic, foreign or a function", () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    expect(() => toStarlark(cyclic)).toThrow(/cyclic/);
    expect(() => toStarlark(new Date())).toThrow(/object of a class/);
    expect(() => toStarlark(() => 1)).toThrow(/cannot convert a host function/);
    expect(() => call("def f():\n  x = []\n  x.append(x)\n  return x", [])).toThrow(/cyclic/);
    expect(() => call("def f(): return len", [])).toThrow(/cannot convert builtin_function_or_method/);
    const loop: Record<string, unknown> = {};
    Object.assign(loop, { self: loop });
    expect(() => call("def f(x): return x", [loop])).toThrow(/cyclic/);
  });

  it("gives a Map for keys that are not strings", () => {
    expect(call("def f(): return {1: 'a', (2, 3): 'b'}", [])).toEqual(
      new Map<unknown, unknown>([
        [1, "a"],
        [[2, 3], "b"],
      ]),
    );
  });
});

describe("host built-ins", () => {
  const show = builtin("show", "sync", "a, b?, *rest, k, o?, **more", (args) => args);

  it("bind arguments by name", () => {
    const source = "def f(): return show(1, 2, 3, k = 4, z = 5)";
    expect(call(source, [], { show })).toEqual({ a: 1, b: 2, rest: [3], k: 4, more: { z: 5 } });
  });

  it("fills in what a parameter is when it is not given", () => {
    const params = "a, n?=None, t?=True, i?=-5, s?='x y', absent?";
    const fill = builtin("fill", "sync", params, (args) => args);
    const value = compile("def f():\n    return fill(1, t=False)\n", "f.star", { predeclared: { fill } })
      .initSync()
      .callSync("f", []);
    expect(value).toEqual({ a: 1, n: null, t: false, i: -5, s: "x y" });
    for (const wrong of ["a=1", "a?=[]", "a?=x", "a ?? b"]) {
      expect(() => builtin("bad", "sync", wrong, () => null)).toThrow(TypeError);
    }
  });

  it("complain in the language's words", () => {
    const plain = builtin("plain", "sync", "a, b?", () => null);
    const message = (source: string): string => {
      try {
        call(`def f(): ${source}`, [], { plain, show });
        return "";
      } catch (e) {
        return e instanceof Error ? e.message : "";
      }
    };
    expect([
      message("plain()"),
      message("plain(1, 2, 3)"),
      message("plain(1, a = 2)"),
      message("plain(1, c = 2)"),
      message("show(1)"),
    ]).toEqual([
      "plain: missing argument for a",
      "plain: got 3 arguments, want at most 2",
      'plain: got multiple values for keyword argument "a"',
      'plain: unexpected keyword argument "c"',
      "show: missing argument for k",
    ]);
  });

  it("may call back", () => {
    const apply = builtin("apply", "sync", "g, x", (_args, c) => c.call(c.values.get("g") ?? null, 20), { raw: ["g"] });
    expect(call("def f(): return apply(lambda v: v + 1, 0)", [], { apply })).toBe(21);
  });

  it("keep their exceptions to themselves but for the message", () => {
    const bad = builtin("bad", "sync", "", () => {
      throw new TypeError("é broke");
    });
    expect(() => call("def f(): bad()", [], { bad })).toThrow(/^é broke$/);
  });

  it("may hide behind a module that can itself be called", () => {
    const log = hostModule(
      "log",
      { warn: builtin("log.warn", "sync", "m", ({ m }) => `w:${String(m)}`) },
      builtin("log", "sync", "m", ({ m }) => m),
    );
    expect(call("def f(): return [log('a'), log.warn('b'), str(log), type(log)]", [], { log })).toEqual([
      "a",
      "w:b",
      '<module "log">',
      "module",
    ]);
  });
});
