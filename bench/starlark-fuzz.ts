/**
 * Fuzzes Starlark with starlark-go as the oracle: generated programs and our own tests run under both, here as synchronous code
 * and as generators. A difference in value fails; one in the text or place of an error is counted. `node bench/starlark-fuzz.ts
 * [--seed N] [--programs N] [--show N] [--only values] [--corpus FILE]`; `--corpus` writes the programs and answers instead. It
 * needs Go and the source of go.starlark.net below GOPATH, as Debian's golang-starlark-dev (of 2026) has it; STARLARK_ORACLE names
 * an oracle that is built already.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { type Answer, answerOf, difference } from "../test/starlark/comparison.ts";
import { randomLibrary, randomProgram, randomStatements } from "../test/starlark/generated.ts";
import { randomCalls } from "../test/starlark/generated-calls.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const BATCH = 2000;
/** Longer programs are left out of the corpus, which is read by people as well. */
const MAX_CORPUS_LINE = 2500;
const folder = path.join(import.meta.dirname, "../test/starlark");

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    programs: { type: "string", default: "100000" },
    show: { type: "string", default: "20" },
    only: { type: "string", default: "" },
    corpus: { type: "string" },
  },
});
const out = (line: string): boolean => process.stdout.write(`${line}\n`);

/** Half of the programs are calls and control flow; the rest are expressions, statements and the library. */
const generators: readonly ((seed: number) => string)[] = [
  randomCalls,
  (seed) => randomProgram(seed, 12),
  randomCalls,
  randomStatements,
  randomCalls,
  (seed) => randomLibrary(seed, 12),
];

function programOf(seed: number): string {
  return (generators[seed % generators.length] ?? randomCalls)(seed);
}

/** The `check` module of our tests, here printing what it would compare. */
const checkPrelude = `def _eq(x, y): print(x, y)
def _true(x): print(bool(x))
def _fails(f, pattern): print("error: %s" % catch(f))
check = struct(eq = _eq, true = _true, fails = _fails, freeze = freeze)
`;

/** The chunks of our tests that need no options and differ from starlark-go nowhere on purpose. */
function ownChunks(): string[] {
  return readdirSync(folder)
    .filter((f) => f.endsWith(".star"))
    .flatMap((f) => readFileSync(path.join(folder, f), "utf8").split(/^---\n/m))
    .filter((chunk) => !/option:|extension:|digit separators/.test(chunk))
    .map((chunk) => checkPrelude + chunk);
}

function buildOracle(dir: string): string {
  const binary = path.join(dir, "oracle");
  const env = { GOPATH: "/usr/share/gocode", CGO_ENABLED: "0", ...process.env, GO111MODULE: "off" };
  execFileSync("go", ["build", "-o", binary, path.join(folder, "oracle/main.go")], { env, stdio: "inherit" });
  return binary;
}

function ask(oracle: string, programs: readonly string[]): Answer[] {
  const input = programs.map((p) => `${JSON.stringify(p)}\n`).join("");
  const { stdout, status } = spawnSync(oracle, { input, encoding: "utf8", maxBuffer: 1 << 30 });
  const answers = stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Answer);
  if (status !== 0 || answers.length !== programs.length) {
    throw new Error(`the oracle died of this program:\n${programs[answers.length]}`);
  }
  return answers;
}

const tally = { programs: 0, unanswered: 0, failed: 0, lines: 0, values: 0, messages: 0 };
let shown = Number(values.show);

async function compare(
  names: readonly string[],
  programs: readonly string[],
  answers: readonly Answer[],
): Promise<void> {
  for (const [i, program] of programs.entries()) {
    const theirs = answers[i] ?? { out: "", error: "" };
    if (theirs.error === "panic") {
      tally.unanswered++;
      continue;
    }
    tally.programs++;
    tally.lines += theirs.out.split("\n").length - 1;
    if (theirs.error !== "") tally.failed++;
    for (const mode of ["sync", "generator"] as const) {
      const found = difference(await answerOf(program, mode), theirs);
      if (found === null) continue;
      tally[found.isValue ? "values" : "messages"]++;
      if (shown <= 0 || (values.only === "values" && !found.isValue)) continue;
      shown--;
      out(
        `${names[i]}, ${mode}: ${found.isValue ? "VALUE" : "message"}\n  ours:   ${found.ours}\n  theirs: ${found.theirs}`,
      );
    }
  }
}

async function fuzz(oracle: string, first: number, count: number): Promise<void> {
  const own = ownChunks();
  const titles = own.map((chunk) => chunk.slice(checkPrelude.length).split("\n")[0] ?? "");
  await compare(titles, own, ask(oracle, own));
  for (let at = 0; at < count; at += BATCH) {
    const seeds = Array.from({ length: Math.min(BATCH, count - at) }, (_, i) => first + at + i);
    const programs = seeds.map(programOf);
    await compare(
      seeds.map((seed) => `seed ${seed}`),
      programs,
      ask(oracle, programs),
    );
    if ((at / BATCH) % 10 === 9)
      out(`${tally.programs} programs, ${tally.values} values, ${tally.messages} messages differ`);
  }
}

const dir = mkdtempSync(path.join(tmpdir(), "starlark-oracle-"));
try {
  const oracle = process.env.STARLARK_ORACLE ?? buildOracle(dir);
  const [first, count] = [Number(values.seed), Number(values.programs)];
  if (values.corpus !== undefined) {
    const programs = Array.from({ length: count }, (_, i) => programOf(first + i));
    const answers = ask(oracle, programs);
    const lines = programs.map((program, i) => `${JSON.stringify({ program, ...answers[i] })}\n`);
    writeFileSync(values.corpus, lines.filter((line) => line.length < MAX_CORPUS_LINE).join(""));
  } else {
    await fuzz(oracle, first, count);
    const name = `${tally.programs} programs (${tally.failed} end in an error, ${tally.lines} lines), two modes`;
    const figures: Figure[] = [
      { name: `${name}: differences in value`, unit: "", ours: tally.values, limit: 0 },
      { name: `${name}: differences in the text or place of an error`, unit: "", ours: tally.messages },
    ];
    out(`starlark-go itself fails on ${tally.unanswered} further programs`);
    printFigures("Starlark against starlark-go", figures);
    process.exitCode = figures.every(holds) ? 0 : 1;
  }
} finally {
  rmSync(dir, { recursive: true });
}
