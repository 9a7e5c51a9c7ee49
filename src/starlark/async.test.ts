import { describe, expect, it } from "vitest";
import { StarlarkError } from "./errors.ts";
import { builtin, hostModule } from "./host-builtin.ts";
import { compile } from "./program.ts";

const later = <T>(value: T): Promise<T> => new Promise((resolve) => setImmediate(() => resolve(value)));
const fetch = builtin("fetch", "async", "url", ({ url }) => later(`<${String(url)}>`));
const boom = builtin("boom", "async", "", () => Promise.reject(new Error("no route")));
const hang = builtin("hang", "async", "", () => new Promise(() => undefined));

async function failure(promise: Promise<unknown>): Promise<StarlarkError> {
  const error = await promise.then(
    () => null,
    (e: unknown) => e,
  );
  if (error instanceof StarlarkError) return error;
  throw new Error(`not a StarlarkError: ${String(error)}`);
}

describe("asynchronous built-ins", () => {
  it("look like plain calls to the script, wherever they stand", async () => {
    const source = [
      "def get(u): return fetch(u).upper()",
      "def main(us):",
      "  out = [get(u) for u in us if fetch(u) != '<x>']",
      "  d = {u: fetch(u) for u in us}",
      "  s = sorted(us, key = lambda u: fetch(u), reverse = True)",
      "  m = max(us, key = fetch)",
      "  f = lambda a, *, k: fetch(a) + fetch(k)",
      "  return [out, d, s, m, f(k = '2', *['1']), net.fetch('n') if fetch('y') else None]",
    ].join("\n");
    const program = compile(source, "a.star", { predeclared: { fetch, net: hostModule("net", { fetch }) } });
    expect(program.isAsync).toBe(true);
    const instance = await program.init();
    expect(await instance.call("main", [["a", "x", "b"]])).toEqual([
      ["<A>", "<B>"],
      { a: "<a>", x: "<x>", b: "<b>" },
      ["x", "b", "a"],
      "x",
      "<1><2>",
      "<n>",
    ]);
  });

  it("may be called while the module is initialised", async () => {
    const instance = await compile("page = fetch('u')", "a.star", { predeclared: { fetch } }).init();
    expect(instance.get("page")).toBe("<u>");
  });

  it("do not make a program asynchronous that does not name them", () => {
    const program = compile("x = 1", "a.star", { predeclared: { fetch } });
    expect(program.isAsync).toBe(false);
    expect(program.initSync().get("x")).toBe(1);
  });

  it("refuse synchronous use", async () => {
    const program = compile("def f(): return fetch('u')", "a.star", { predeclared: { fetch } });
    expect(() => program.initSync()).toThrow(/use init/);
    const instance = await program.init();
    expect(() => instance.callSync("f", [])).toThrow(/use call/);
  });

  it("fail with the host's message and a traceback", async () => {
    const source = "def f():\n  return [boom() for _ in [1]]\n\ndef g():\n  f()\n";
    const instance = await compile(source, "a.star", { predeclared: { boom } }).init();
    const error = await failure(instance.call("g", []));
    expect(error.backtrace()).toBe(
      "Traceback (most recent call last):\n  a.star:5:4: in g\n  a.star:2:15: in f\nError in boom: no route",
    );
    expect(error.cause).toEqual(new Error("no route"));
  });

  it("interleave calls of one instance without confusing them", async () => {
    const source =
      "def f(n):\n  out = []\n  for i in range(3):\n    out.append(fetch(str(n) + '.' + str(i)))\n  return out\n";
    const instance = await compile(source, "a.star", { predeclared: { fetch } }).init();
    const results = await Promise.all([1, 2, 3].map((n) => instance.call("f", [n])));
    expect(results).toEqual([1, 2, 3].map((n) => [0, 1, 2].map((i) => `<${n}.${i}>`)));
  });

  it("still refuse recursion", async () => {
    const instance = await compile("def f(n): return fetch('x') and f(n)", "a.star", { predeclared: { fetch } }).init();
    expect((await failure(instance.call("f", [1]))).message).toBe("function f called recursively");
    expect((await failure(instance.call("f", [1]))).message).toBe("function f called recursively");
  });

  it("keep containers locked while they wait", async () => {
    const source = "def f():\n  x = [1, 2]\n  for e in x:\n    fetch('u')\n    x.append(e)\n";
    const instance = await compile(source, "a.star", { predeclared: { fetch } }).init();
    expect((await failure(instance.call("f", []))).message).toBe("append: cannot append to list during iteration");
  });
});

describe("cancellation", () => {
  const source = "def f():\n  hang()\n\ndef spin():\n  hang\n  for i in range(1 << 50):\n    pass\n";
  const program = compile(source, "a.star", { predeclared: { hang } });

  it("ends a call that waits for the host", async () => {
    const instance = await program.init();
    const controller = new AbortController();
    const call = instance.call("f", [], { signal: controller.signal });
    setImmediate(() => controller.abort(new Error("stop")));
    const error = await failure(call);
    expect([error.kind, error.message, error.frames.map((f) => f.name)]).toEqual([
      "cancelled",
      "Starlark computation cancelled",
      ["f", "hang"],
    ]);
    expect(error.cause).toEqual(new Error("stop"));
  });

  it("ends a call that is out of time while it waits", async () => {
    const error = await failure((await program.init()).call("f", [], { timeoutMs: 5 }));
    expect([error.kind, error.limit]).toEqual(["limit", "time"]);
  });

  it("ends a busy loop, since the event loop gets its turns", async () => {
    const instance = await program.init();
    const controller = new AbortController();
    const call = instance.call("spin", [], { signal: controller.signal, maxSteps: 1e15 });
    setImmediate(() => controller.abort());
    expect((await failure(call)).kind).toBe("cancelled");
  });

  it("ends before it begins if the signal is aborted", async () => {
    const error = await failure((await program.init()).call("f", [], { signal: AbortSignal.abort() }));
    expect(error.kind).toBe("cancelled");
  });

  it("may come from a built-in of the call itself", async () => {
    const controller = new AbortController();
    const stop = builtin("stop", "async", "", () => {
      controller.abort();
      return null;
    });
    const text = "def f():\n  pause()\n  stop()\n  pause()\n  return 1\n";
    const pause = builtin("pause", "async", "", () => later(null));
    const instance = await compile(text, "a.star", { predeclared: { stop, pause } }).init();
    const error = await failure(instance.call("f", [], { signal: controller.signal }));
    expect([error.kind, error.frames.at(-2)?.position?.line]).toEqual(["cancelled", 4]);
  });

  it("hands the signal and the host context to built-ins", async () => {
    const seen: unknown[] = [];
    const look = builtin("look", "async", "", (_args, call) => {
      seen.push(call.host, call.signal);
      return null;
    });
    const controller = new AbortController();
    const instance = await compile("def f(): look()", "a.star", { predeclared: { look } }).init();
    await instance.call("f", [], { host: "ctx", signal: controller.signal });
    expect(seen).toEqual(["ctx", controller.signal]);
  });
});
