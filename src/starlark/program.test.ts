import { describe, expect, it } from "vitest";
import { failureOf } from "../../test/starlark/failure.ts";
import { builtin } from "./host-builtin.ts";
import { check, checkSyntax, compile, type Program } from "./program.ts";

describe("errors", () => {
  it("carry a traceback through functions and built-ins", () => {
    const source = [
      "def key(x):",
      "  return x.strip(1)",
      "",
      "def run(xs):",
      "  return sorted(xs, key = key)",
      "",
      'run(["é", "b"])',
    ].join("\n");
    const error = failureOf(() => compile(source, "a.star").initSync());
    expect(error.backtrace()).toBe(
      [
        "Traceback (most recent call last):",
        "  a.star:7:4: in <toplevel>",
        "  a.star:5:16: in run",
        "  <builtin>: in sorted",
        "  a.star:2:17: in key",
        "Error in strip: strip: for parameter 1: got int, want string",
      ].join("\n"),
    );
    expect([error.kind, error.limit, error.issues]).toEqual(["runtime", null, []]);
  });

  it("count columns in code points", () => {
    const error = failureOf(() => compile('x = "😀é" + 1', "a.star").initSync());
    expect(error.frames.at(-1)?.position).toEqual({ file: "a.star", line: 1, column: 10 });
  });

  it("point into the file that contains the program", () => {
    const error = failureOf(() => compile("x = 1\ny = x.z", "a.md", { firstLine: 10, firstColumn: 5 }).initSync());
    expect(error.frames.at(-1)?.position).toEqual({ file: "a.md", line: 11, column: 10 });
  });

  it("are decoded when they leave", () => {
    expect(failureOf(() => compile('fail("é", ["ü"])', "a.star").initSync()).message).toBe('fail: é ["ü"]');
  });

  it("are all listed if they are static", () => {
    const source = "x = y\ndef f(a, a): return z\nbreak\n";
    expect(check(source, "a.star").map((i) => `${i.position.line}:${i.position.column} ${i.message}`)).toEqual([
      "1:5 undefined: y",
      "2:10 duplicate parameter: a",
      "2:21 undefined: z",
      "3:1 break not in a loop",
    ]);
    expect(failureOf(() => compile(source, "a.star")).message).toBe("a.star:1:5: undefined: y");
  });

  it("of syntax are found beyond the first, but not invented", () => {
    const lines = (source: string): number[] => checkSyntax(source, "a.star").map((i) => i.position.line);
    expect(lines("a = (1\nb = )\nc = 1\nd = [1 2]\n")).toEqual([2, 4]);
    expect(lines("def f(:\n  pass\nelse:\n  pass\nx = 1\n")).toEqual([1]);
    expect(lines('x = """abc\ny = )\n')).toEqual([1]);
    expect(lines(Array.from({ length: 50 }, () => "x = )\n").join(""))).toHaveLength(10);
  });
});

describe("load", () => {
  const files: Record<string, string> = {
    "lib.star": 'load("base.star", b = "base")\ndef twice(x): return [x, b] * 2\n_private = 1\nitems = [1]\n',
    "base.star": "base = 'b'\n",
    "loop.star": 'load("loop.star", y = "x")\nx = 1\n',
    "bad.star": "x = 1 // 0\n",
    "broken.star": "x = (",
  };
  const compiled = new Map<string, Program>();
  const load = (module: string): Program => {
    const source = files[module];
    if (source === undefined) throw new Error(`no such file: ${module}`);
    const known = compiled.get(module) ?? compile(source, module, { load });
    compiled.set(module, known);
    return known;
  };
  const run = (source: string): unknown => {
    const instance = compile(source, "main.star", { load }).initSync();
    return instance.callSync("f", []);
  };
  const message = (source: string): string => failureOf(() => run(source)).message;

  it("binds names of other modules", () => {
    expect(run('load("lib.star", "twice", i = "items")\ndef f(): return twice(1), i')).toEqual([[1, "b", 1, "b"], [1]]);
  });

  it("shares one frozen module between all that load it", () => {
    expect(message('load("lib.star", "items")\ndef f(): items.append(1)')).toBe("append: cannot append to frozen list");
  });

  it("does not export loaded or private names", () => {
    expect(message('load("lib.star", "b")\ndef f(): pass')).toBe("load: name b not found in module lib.star");
    expect(message('load("lib.star", "twise")\ndef f(): pass')).toBe(
      "load: name twise not found in module lib.star (did you mean twice?)",
    );
    const instance = compile('load("lib.star", "twice")\nx = 1', "main.star", { load }).initSync();
    expect(instance.names).toEqual(["x"]);
  });

  it("reports why a module cannot be loaded", () => {
    expect([
      message('load("bad.star", "x")\ndef f(): pass'),
      message('load("none.star", "x")\ndef f(): pass'),
      message('load("loop.star", "x")\ndef f(): pass'),
      message('load("broken.star", "x")\ndef f(): pass'),
    ]).toEqual([
      "cannot load bad.star: floored division by zero",
      "cannot load none.star: no such file: none.star",
      "cannot load loop.star: cannot load loop.star: cycle in load graph",
      "cannot load broken.star: broken.star:1:6: got end of file, want primary expression",
    ]);
    expect(failureOf(() => compile('load("x", "y")', "main.star").initSync()).message).toBe(
      "load not implemented by this application",
    );
  });

  it("runs a module when its first load statement is reached, once", () => {
    const lines: string[] = [];
    const lib = compile('print("lib")\nx = 1', "lib.star");
    const source =
      'print("before")\nload("lib.star", "x")\nprint("between")\nload("lib.star", y = "x")\nprint("after")\n';
    compile(source, "main.star", { load: () => lib }).initSync({ print: (l) => lines.push(l) });
    expect(lines).toEqual(["before", "lib", "between", "after"]);
  });

  it("keeps the kind of a failure inside a module", () => {
    const lib = compile("x = [i for i in range(1000)]", "lib.star");
    const program = compile('load("lib.star", "x")', "main.star", { load: () => lib });
    const error = failureOf(() => program.initSync({ maxSteps: 100 }));
    expect([error.kind, error.limit, error.message]).toEqual([
      "limit",
      "steps",
      "cannot load lib.star: too many steps (limit 100)",
    ]);
  });

  it("works with an asynchronous loader and asynchronous modules", async () => {
    const now = builtin("now", "async", "", () => Promise.resolve(7));
    const lib = compile("def time(f): return f(now())", "lib.star", { predeclared: { now } });
    const source = 'load("lib.star", "time")\ndef f(): return time(lambda t: t + 1)';
    const instance = await compile(source, "main.star", { load: () => Promise.resolve(lib) }).init();
    expect(await instance.call("f", [])).toBe(8);
  });

  it("waits for modules that wait for the host while they run", async () => {
    const now = builtin("now", "async", "", () => Promise.resolve(7));
    const lib = compile("t = now()", "lib.star", { predeclared: { now } });
    const bad = compile("t = now() // 0", "bad.star", { predeclared: { now } });
    const load = (module: string): Program => (module === "lib.star" ? lib : bad);
    const instance = await compile('load("lib.star", "t")\nx = t + 1', "main.star", { load }).init();
    expect(instance.get("x")).toBe(8);
    await expect(compile('load("bad.star", "t")', "main.star", { load }).init()).rejects.toThrow(
      "cannot load bad.star: floored division by zero",
    );
  });
});

describe("instances", () => {
  const source = "count = [0]\ndef f(x = []):\n  return count[0], x\n\ndef bump(): count[0] += 1\n";

  it("are frozen and do not see earlier calls", () => {
    const instance = compile(source, "a.star").initSync();
    expect(instance.callSync("f", [])).toEqual([0, []]);
    expect(failureOf(() => instance.callSync("bump", [])).message).toBe("cannot assign to element of frozen list");
  });

  it("print bytes as the text they hold", () => {
    const lines: string[] = [];
    const source = 'print(b"abc", [b"abc"], b"a\\xffb", sep = "|")';
    compile(source, "a.star").initSync({ print: (l) => lines.push(l) });
    expect(lines).toEqual(['abc|[b"abc"]|a\ufffdb']);
    expect(() => compile('fail(b"abc")', "a.star").initSync()).toThrow('fail: b"abc"');
  });

  it("print through the host", () => {
    const lines: string[] = [];
    compile('print("é", 1, sep = "-")\nprint()', "a.star").initSync({ print: (l) => lines.push(l) });
    expect(lines).toEqual(["é-1", ""]);
  });

  it("say which function is missing", () => {
    expect(failureOf(() => compile("x = 1", "a.star").initSync().callSync("nope", [])).message).toBe(
      "module has no function nope",
    );
    expect(failureOf(() => compile("x = 1", "a.star").initSync().callSync("x", [])).message).toBe(
      "invalid call of non-function (int)",
    );
  });

  it("let the host shadow universal names", () => {
    const set = builtin("set.new", "sync", "x?", () => "mine");
    expect(
      compile("x = set()\ny = None", "a.star", { predeclared: { set, None: 5 } })
        .initSync()
        .get("x"),
    ).toBe("mine");
  });
});
