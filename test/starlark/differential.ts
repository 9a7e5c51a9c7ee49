/**
 * Compares this implementation with starlark-go on our own tests and on generated programs: output, messages and positions. A
 * developer's tool, not a test: it needs Go and Debian's golang-starlark-dev, whose version is older than the one we follow.
 * Usage: node test/starlark/differential.ts [programs] [first seed]
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
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

/** One answer for each program. The packaged version dies of some; it is started anew after them. */
function askOracle(binary: string, programs: readonly string[]): Answer[] {
  const answers: Answer[] = [];
  while (answers.length < programs.length) {
    const input = programs.slice(answers.length).map((p) => `${JSON.stringify(p)}\n`);
    const { stdout } = spawnSync(binary, { input: input.join(""), encoding: "utf8", maxBuffer: 1 << 30 });
    const lines = stdout.split("\n").filter((line) => line !== "");
    for (const line of lines) answers.push(JSON.parse(line) as Answer);
    if (answers.length < programs.length) answers.push({ out: "", error: "the oracle died" });
  }
  return answers;
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

/** The `check` module of our tests, here printing what it would compare. */
const checkPrelude = `def _eq(x, y): print(x, y)
def _true(x): print(bool(x))
def _fails(f, pattern): print(catch(f))
check = struct(eq = _eq, true = _true, fails = _fails, freeze = freeze)
`;

/** The chunks of our tests that need no options. */
function ownChunks(): string[] {
  const files = readdirSync(import.meta.dirname).filter((f) => f.endsWith(".star"));
  return files
    .flatMap((f) => readFileSync(path.join(import.meta.dirname, f), "utf8").split(/^---\n/m))
    .filter((chunk) => !chunk.includes("option:"))
    .map((chunk) => checkPrelude + chunk);
}

const count = Number(process.argv[2] ?? 200);
const first = Number(process.argv[3] ?? 1);
const generators = [randomProgram, randomStatements, randomLibrary];
const dir = mkdtempSync(path.join(tmpdir(), "starlark-oracle-"));
try {
  const own = ownChunks().map((program) => ({
    name: program.slice(checkPrelude.length).split("\n")[0] ?? "",
    program,
  }));
  const generated = Array.from({ length: count }, (_, i) => ({
    name: `seed ${first + i}`,
    program: (generators[i % generators.length] ?? randomProgram)(first + i),
  }));
  const all = [...own, ...generated];
  const theirs = askOracle(
    buildOracle(dir),
    all.map((x) => x.program),
  );
  let lines = 0;
  let different = 0;
  let unknown = 0;
  all.forEach(({ name, program }, i) => {
    const ours = runOurs(program);
    const answer = theirs[i] ?? { out: "", error: "" };
    // A program that only the older version cannot even compile uses something newer.
    if (answer.error !== "" && !answer.error.startsWith("Traceback") && ours.error !== answer.error) {
      if (!answer.error.includes("undefined: ")) unknown++;
      return;
    }
    const a = normalize(`${ours.out}${ours.error}`).split("\n");
    const b = normalize(`${answer.out}${answer.error}`).split("\n");
    const shown = program.split("\n").filter((l) => /^(?:show|check\.\w+)\(/.test(l));
    for (let k = 0; k < Math.max(a.length, b.length); k++) {
      lines++;
      if (a[k] === b[k]) continue;
      different++;
      console.log(`${name}: ${shown[k] ?? ""}\n  ours:   ${a[k]}\n  theirs: ${b[k]}`);
      if (a.length !== b.length || shown.length === 0) break;
    }
  });
  console.log(`${lines} lines compared, ${different} different, ${unknown} programs unknown to the packaged version`);
} finally {
  rmSync(dir, { recursive: true });
}
