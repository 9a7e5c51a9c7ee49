/**
 * Compares this implementation with starlark-go on generated programs: output, messages and positions. A developer's tool, not a
 * test: it needs Go and Debian's golang-starlark-dev. Usage: node test/starlark/differential.ts [programs] [first seed]
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { randomLibrary, randomProgram, randomStatements } from "./generated.ts";
import { Builtin, call, compile, freezeValue, jsonModule, StarlarkError, structBuiltin } from "./internals.ts";

interface Answer {
  readonly out: string;
  readonly error: string;
}

function buildOracle(dir: string): string {
  cpSync(path.join(import.meta.dirname, "oracle", "main.go"), path.join(dir, "main.go"));
  const binary = path.join(dir, "oracle");
  execFileSync("go", ["build", "-o", binary, "main.go"], {
    cwd: dir,
    env: { ...process.env, GO111MODULE: "off", GOPATH: "/usr/share/gocode" },
  });
  return binary;
}

function askOracle(binary: string, programs: readonly string[]): Answer[] {
  const input = programs.map((p) => `${JSON.stringify(p)}\n`).join("");
  const output = execFileSync(binary, { input, encoding: "utf8", maxBuffer: 1 << 30 });
  return output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Answer);
}

const predeclared = {
  catch: new Builtin({
    name: "catch",
    impl(t, _self, args) {
      try {
        call(t, args[0] ?? null, []);
        return null;
      } catch (e) {
        if (e instanceof StarlarkError && e.kind === "runtime") return e.message;
        throw e;
      }
    },
  }),
  freeze: new Builtin({
    name: "freeze",
    impl(_t, _self, args) {
      freezeValue(args[0]);
      return null;
    },
  }),
  json: jsonModule,
  struct: structBuiltin,
};

function runOurs(program: string): Answer {
  let out = "";
  try {
    compile(program, "program.star", { predeclared }).initSync({
      print: (line) => {
        out += `${line}\n`;
      },
    });
    return { out, error: "" };
  } catch (e) {
    if (!(e instanceof StarlarkError)) throw e;
    return { out, error: e.issues.length > 0 ? e.message : e.backtrace() };
  }
}

/** Differences that are meant: what changed in starlark-go since the packaged version. */
function normalize(line: string): string {
  return line
    .replace(/"(?:string\.)?(elems|codepoints)"/g, '"$1"')
    .replace(/got (?:string\.)?(elems|codepoints)/g, "got $1")
    .replace(/string\.(elems|codepoints)/g, "$1")
    .replaceAll("want string or bytes", "want string")
    .replaceAll("hash: for parameter 1: ", "hash: ");
}

const count = Number(process.argv[2] ?? 200);
const first = Number(process.argv[3] ?? 1);
const dir = mkdtempSync(path.join(tmpdir(), "starlark-oracle-"));
try {
  const oracle = buildOracle(dir);
  const programs = Array.from({ length: count }, (_, i) =>
    ([randomProgram, randomStatements, randomLibrary][i % 3] ?? randomProgram)(first + i),
  );
  const theirs = askOracle(oracle, programs);
  let lines = 0;
  let different = 0;
  programs.forEach((program, i) => {
    const ours = runOurs(program);
    const a = normalize(`${ours.out}${ours.error}`).split("\n");
    const b = normalize(`${theirs[i]?.out ?? ""}${theirs[i]?.error ?? ""}`).split("\n");
    const shown = program.split("\n").filter((l) => l.startsWith("show("));
    for (let k = 0; k < Math.max(a.length, b.length); k++) {
      lines++;
      if (a[k] === b[k]) continue;
      different++;
      console.log(`seed ${first + i}: ${shown[k] ?? ""}\n  ours:   ${a[k]}\n  theirs: ${b[k]}`);
      if (shown.length === 0) break;
    }
  });
  console.log(`${lines} lines compared, ${different} different`);
} finally {
  rmSync(dir, { recursive: true });
}
