/** Runs the tests written in the language: chunks between `---` lines, expected errors as `### pattern` on the failing line. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { call, settle } from "./calls.ts";
import { fault, StarlarkError } from "./errors.ts";
import { structBuiltin } from "./host-builtin.ts";
import { jsonModule } from "./library/json.ts";
import { compile } from "./program.ts";
import { eq } from "./values/compare.ts";
import { freeze } from "./values/freeze.ts";
import { repr } from "./values/repr.ts";
import { truth } from "./values/truth.ts";
import { decodeUtf8 } from "./values/utf8.ts";
import { Builtin, type Impl, Module, Pending, type Value } from "./values/values.ts";

const folder = path.join(import.meta.dirname, "../../test/starlark");

interface Chunk {
  readonly line: number;
  readonly source: string;
  readonly expected: ReadonlyMap<number, string>;
}

function readChunks(file: string): Chunk[] {
  const chunks: Chunk[] = [];
  let line = 1;
  for (const text of readFileSync(file, "utf8").split(/^---\n/m)) {
    const expected = new Map<number, string>();
    text.split("\n").forEach((l, i) => {
      const at = l.indexOf("### ");
      if (at >= 0) expected.set(line + i, l.slice(at + 4));
    });
    chunks.push({ line, source: "\n".repeat(line - 1) + text, expected });
    line += text.split("\n").length;
  }
  return chunks;
}

/** The `check` module. As generators, its callbacks and so the whole program run asynchronously. */
function checkModule(async: boolean): Module {
  const matches = (f: Value, pattern: string, message: string | null): Value => {
    if (message === null) throw fault(`call of ${String(f)} did not fail`);
    if (!new RegExp(decodeUtf8(pattern), "u").test(decodeUtf8(message))) {
      throw fault(`message "${message}" does not match "${pattern}"`);
    }
    return null;
  };
  const messageOf = (e: unknown): string => {
    if (e instanceof StarlarkError && e.kind === "runtime") return e.message;
    throw e;
  };
  const fails: Impl = (t, _self, args) => {
    const [f = null, pattern] = args;
    let result: Value | Pending;
    try {
      result = call(t, f, []);
    } catch (e) {
      return matches(f, String(pattern), messageOf(e));
    }
    if (!(result instanceof Pending)) return matches(f, String(pattern), null);
    const pending = result;
    function* steps(): Generator<unknown, Value, Value> {
      let message: string | null = null;
      try {
        yield* settle(pending);
      } catch (e) {
        message = messageOf(e);
      }
      return matches(f, String(pattern), message);
    }
    return new Pending(steps(), "check.fails");
  };
  const members: Record<string, Impl> = {
    fails,
    eq(t, _self, args) {
      const [x = null, y = null] = args;
      if (!eq(t, x, y)) throw fault(`${repr(t, x)} != ${repr(t, y)}`);
      return null;
    },
    true(t, _self, args) {
      if (!truth(args[0] ?? null)) throw fault(`not true: ${repr(t, args[0] ?? null)}`);
      return null;
    },
    freeze(_t, _self, args) {
      freeze(args[0]);
      return null;
    },
  };
  const entries = Object.entries(members).map(([name, impl]): [string, Value] => [
    name,
    new Builtin({ name: `check.${name}`, impl }, undefined, async),
  ]);
  return new Module("check", new Map(entries));
}

async function runChunk(file: string, chunk: Chunk, async: boolean): Promise<Map<number, string>> {
  const on = (name: string): boolean => chunk.source.includes(`option:${name}`);
  try {
    const program = compile(chunk.source, file, {
      predeclared: { check: checkModule(async), json: jsonModule, struct: structBuiltin },
      dialect: {
        while: on("while"),
        recursion: on("recursion"),
        topLevelControl: on("toplevelcontrol"),
        globalReassign: on("globalreassign"),
      },
    });
    if (async) await program.init();
    else program.initSync();
    return new Map();
  } catch (e) {
    if (!(e instanceof StarlarkError)) throw e;
    if (e.issues.length > 0) return new Map(e.issues.map((i) => [i.position.line, i.message]));
    const frame = e.frames.findLast((f) => f.position?.file === file);
    return new Map([[frame?.position?.line ?? 0, e.message]]);
  }
}

for (const name of readdirSync(folder).filter((f) => f.endsWith(".star"))) {
  const file = path.join(folder, name);
  describe(name, () => {
    for (const chunk of readChunks(file)) {
      for (const mode of ["synchronous", "generator"] as const) {
        it(`line ${chunk.line}, ${mode}`, async () => {
          const errors = await runChunk(file, chunk, mode === "generator");
          // A message that matches counts as its pattern, so that one comparison shows everything.
          const found = [...errors].map(([line, message]) => {
            const pattern = chunk.expected.get(line);
            return [line, pattern !== undefined && new RegExp(pattern, "u").test(message) ? pattern : message];
          });
          expect(Object.fromEntries(found)).toEqual(Object.fromEntries(chunk.expected));
        });
      }
    }
  });
}
