import { describe, expect, it } from "vitest";
import { StarlarkError } from "./errors.ts";
import { builtin } from "./host-builtin.ts";
import { createSession } from "./session.ts";

describe("session", () => {
  it("remembers what was defined, and lets it be redefined and changed", async () => {
    const session = createSession();
    expect([
      await session.run("x = [1]"),
      await session.run("def f(y): return [x, y]\n"),
      await session.run("x.append('é')"),
      await session.run("f(2)"),
      await session.run("x = 'é'"),
      await session.run("x, len(x)"),
      await session.run("None"),
    ]).toEqual([null, null, null, '[[1, "é"], 2]', null, '("é", 2)', null]);
  });

  it("goes on after an error and keeps what came before it", async () => {
    const session = createSession();
    const error = await session.run("a = 1\nb = a // 0\n").catch((e: unknown) => e);
    expect(error instanceof StarlarkError ? error.backtrace() : error).toBe(
      "Traceback (most recent call last):\n  <stdin>:2:7: in <toplevel>\nError: floored division by zero",
    );
    expect(await session.run("a")).toBe("1");
    await expect(session.run("a +")).rejects.toThrow("<stdin>:1:4: got end of file, want primary expression");
    await expect(session.run("zz")).rejects.toThrow("<stdin>:1:1: undefined: zz");
  });

  it("knows when more lines are to come", () => {
    const { isIncomplete } = createSession();
    const texts = ["f(1,", "'''abc", "def f():", "if x:\n  y = 1", "x = 1", "x = )", ""];
    expect(texts.map(isIncomplete)).toEqual([true, true, true, false, false, false, false]);
  });

  it("waits for asynchronous built-ins, in functions defined earlier as well", async () => {
    const session = createSession({
      predeclared: { get: builtin("get", "async", "x", ({ x }) => Promise.resolve(x)) },
    });
    await session.run("def f(): return get(5) + 1");
    expect(await session.run("[f() for _ in range(2)]")).toBe("[6, 6]");
  });
});
