import { describe, expect, it } from "vitest";
import { StarlarkError } from "./errors.ts";
import { compileExpression } from "./expression.ts";

/** Compiles and evaluates once, with each name's value. */
function evalExpression(text: string, values: Readonly<Record<string, unknown>>): unknown {
  const names = Object.keys(values);
  return compileExpression(text, "<expr>", { names }).evaluate(names.map((name) => values[name]));
}

const names = ["event", "payload"];

function issuesOf(text: string): string[] {
  try {
    compileExpression(text, "hook.md", { names, firstLine: 12, firstColumn: 9 });
    return [];
  } catch (e) {
    if (!(e instanceof StarlarkError)) throw e;
    return e.issues.map((i) => `${i.position.file}:${i.position.line}:${i.position.column}: ${i.message}`);
  }
}

describe("expressions", () => {
  it("are tested against inputs", () => {
    const when = compileExpression('event == "tool" and payload["name"] in ["shell", "write"]', "w", { names });
    expect([
      when.test(["tool", { name: "shell" }]),
      when.test(["tool", { name: "read" }]),
      when.test(["turn", {}]),
    ]).toEqual([true, false, false]);
  });

  it("evaluate to host data", () => {
    expect(evalExpression("[x * n for x in range(3)] + [s.upper()]", { n: 2, s: "é" })).toEqual([0, 2, 4, "É"]);
    expect(evalExpression("a, b", { a: 1, b: null })).toEqual([1, null]);
  });

  it("compare with constant displays as with any list", () => {
    const has = (x: unknown): unknown => evalExpression("x in [1, 'a', None, True]", { x });
    expect([1, "a", null, true, 0, "b", false, 1.5, [1]].map(has)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(evalExpression("1.0 in (1, 2)", {})).toBe(true);
    expect(evalExpression("x not in ('a', 'b')", { x: "c" })).toBe(true);
  });

  it("report static errors at their place in the file around them", () => {
    expect(issuesOf("payload +")).toEqual(["hook.md:12:18: got end of file, want primary expression"]);
    expect(issuesOf("payloda['x'] and evnt")).toEqual([
      "hook.md:12:9: undefined: payloda (did you mean payload?)",
      "hook.md:12:26: undefined: evnt (did you mean event?)",
    ]);
    expect(issuesOf("x = 1")).toEqual(["hook.md:12:12: got '=' after expression, want EOF"]);
  });

  it("cannot print or fail", () => {
    expect(issuesOf("print(1) or fail(2)")).toEqual([
      "hook.md:12:9: undefined: print (did you mean int?)",
      "hook.md:12:21: undefined: fail",
    ]);
  });

  it("have tight limits of their own", () => {
    expect(() => evalExpression("[x for x in range(100000)]", {})).toThrow(/too many steps \(limit 10000\)/);
    expect(() => evalExpression("'a' * 10000000", {})).toThrow(/too much memory/);
  });

  it("fail with the place of the failure", () => {
    const e = compileExpression("payload['missing'] == 1", "w.md", { names });
    try {
      e.test(["x", {}]);
      expect.unreachable();
    } catch (error) {
      expect(error instanceof StarlarkError ? error.backtrace() : "").toBe(
        'Traceback (most recent call last):\n  w.md:1:8: in <expr>\nError: key "missing" not in dict',
      );
    }
  });
});
