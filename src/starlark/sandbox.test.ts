import { describe, expect, it } from "vitest";
import { randomProgram, randomSource, randomStatements } from "../../test/starlark/generated.ts";
import { generate } from "./compile/codegen.ts";
import { checkEmission, PROLOGUE } from "./compile/emission-check.ts";
import { StarlarkError } from "./errors.ts";
import { compile } from "./program.ts";
import { parseFile } from "./syntax/parser.ts";
import { resolveFile } from "./syntax/resolver.ts";
import { defaultDialect } from "./syntax/scope.ts";
import { makeSource } from "./syntax/source.ts";
import { freeze } from "./values/freeze.ts";
import { Builtin } from "./values/values.ts";

describe("generated code", () => {
  it("is refused unless all of it is known", () => {
    for (const bad of [
      "process",
      "globalThis",
      "constructor",
      "x.__proto__",
      "eval(k0)",
      "'a'",
      "\x60a\x60",
      "a\\b",
      "@",
    ]) {
      expect(() => checkEmission(`${PROLOGUE}return ${bad}`), bad).toThrow(/generated code has/);
    }
    expect(() => checkEmission("return 1")).toThrow(/prologue/);
    checkEmission(`${PROLOGUE}return add(T,k0,l12)`);
  });

  it("holds no text of the program, whatever its names and strings are", () => {
    const hostile = [
      "constructor",
      "__proto__",
      "prototype",
      "process",
      "arguments",
      "this",
      "eval",
      "globalThis",
      "T",
      "R",
      "K",
      "été",
      "l0",
      "g0",
    ];
    for (const name of hostile) {
      const source = `def ${name}(${name}_, k = "*/ ${name} \\n'"): return {"${name}": ${name}_, k: ${name}_.get("${name}")}\nx = ${name}({"${name}": 1})\ny = x["${name}"]\n`;
      for (const mode of ["sync", "generator"] as const) {
        const parsed = parseFile(makeSource("a.star", source));
        const env = { dialect: defaultDialect, predeclared: new Set<string>(), universal: new Set<string>() };
        const resolved = resolveFile(parsed.tree, makeSource("a.star", source), env);
        expect(resolved.issues).toEqual([]);
        const emission = generate(parsed.tree, resolved, {
          source: makeSource("a.star", source),
          mode,
          dialect: defaultDialect,
        });
        checkEmission(emission.code);
        expect(emission.code).not.toContain("*/");
      }
      expect(compile(source, "a.star").initSync().get("y")).toBeDefined();
    }
  });
});

describe("values offer nothing of the host", () => {
  const objects = [
    '""',
    "[]",
    "{}",
    "()",
    "1",
    "1.5",
    "True",
    "None",
    "len",
    "[].append",
    "(lambda: 1)",
    "range(3)",
    'b""',
    "set()",
    '"".elems()',
  ];
  const names = [
    "constructor",
    "__proto__",
    "prototype",
    "toString",
    "valueOf",
    "call",
    "apply",
    "bind",
    "length",
    "a",
    "m",
    "j",
    "lock",
    "push",
    "hasOwnProperty",
  ];
  it("under any attribute name", () => {
    const expression = `[hasattr(o, n) for o in [${objects.join(", ")}] for n in [${names.map((n) => `"${n}"`).join(", ")}]]`;
    const found = compile(`x = any(${expression})`, "a.star").initSync();
    expect(found.get("x")).toBe(false);
  });

  it("as keyword arguments or format keys", () => {
    const source =
      'def f(**k): return k\nx = f(**{"__proto__": 1, "constructor": 2})\ny = "{__proto__}".format(__proto__ = 3)\n';
    const instance = compile(source, "a.star").initSync();
    expect(instance.get("y")).toBe("3");
    expect(() => compile('x = "{constructor}".format()', "a.star").initSync()).toThrow(/keyword constructor not found/);
    expect(() => compile('x = "%(constructor)s" % {}', "a.star").initSync()).toThrow(/key not found/);
  });
});

/** Runs anything; what is neither success nor an error of the language is a bug. */
function survives(source: string, predeclared: Record<string, unknown> = {}): void {
  try {
    compile(source, "fuzz.star", { predeclared }).initSync({
      maxSteps: 20_000,
      maxAllocBytes: 4_000_000,
      maxValueBytes: 1_000_000,
      timeoutMs: 2000,
    });
  } catch (e) {
    if (e instanceof StarlarkError && e.kind !== "internal") return;
    throw new Error(`fuzzing found a bug in:\n${source}\n`, { cause: e });
  }
}

describe("fuzzing", () => {
  const catching = {
    catch: new Builtin({ name: "catch", impl: () => "not called" }),
    freeze: new Builtin({
      name: "freeze",
      impl(_t, _self, args) {
        freeze(args[0]);
        return null;
      },
    }),
  };

  it("survives generated programs", () => {
    for (let seed = 1; seed <= 150; seed++) {
      for (const line of randomProgram(seed, 10).split("\n").slice(5))
        survives(line.replace(/^show\(lambda: (.*)\)$/, "x = $1"), catching);
      survives(randomStatements(seed));
    }
  });

  it("survives programs cut and spliced at random", () => {
    const random = randomSource(42);
    const tokens = [
      "(",
      ")",
      "[",
      "]",
      "{",
      "}",
      ":",
      ",",
      "=",
      "==",
      "\n",
      "\n    ",
      "\t",
      "def ",
      "lambda ",
      "for ",
      "in ",
      "if ",
      "else ",
      "not ",
      "return ",
      "load",
      "x",
      "f",
      "1",
      "0x",
      "1e",
      '"',
      "'''",
      "\\",
      "*",
      "**",
      ".",
      "+=",
      "#",
      "é",
      "\u0000",
      "\ud800",
      ";",
      "break",
      "pass",
    ];
    for (let i = 0; i < 1500; i++) {
      const base = randomStatements(1 + random(50));
      const at = random(base.length);
      const junk = Array.from({ length: 1 + random(4) }, () => tokens[random(tokens.length)] ?? "").join("");
      survives(base.slice(0, at) + junk + base.slice(at + random(20)));
    }
  });

  it("survives random tokens", () => {
    const random = randomSource(7);
    const alphabet = "()[]{}:,=+-*/%<>!&|^~.;'\"\\ \n\tabefinoprstx01289_#é";
    for (let i = 0; i < 1500; i++) {
      survives(Array.from({ length: random(60) }, () => alphabet[random(alphabet.length)] ?? "").join(""));
    }
  });

  it("gives the same result in both ways of running", async () => {
    const yes = new Builtin({ name: "yes", impl: () => true }, undefined, true);
    for (let seed = 1; seed <= 60; seed++) {
      const source = randomStatements(seed);
      const run = async (text: string, predeclared: Record<string, unknown>): Promise<string> => {
        const lines: string[] = [];
        try {
          await compile(text, "a.star", { predeclared }).init({ print: (l) => lines.push(l), maxSteps: 100_000 });
        } catch (e) {
          lines.push(e instanceof StarlarkError ? e.backtrace() : String(e));
        }
        return lines.join("\n");
      };
      expect(await run(`${source}yes\n`, { yes }), source).toBe(await run(`${source}yes\n`, { yes: true }));
    }
  });
});
