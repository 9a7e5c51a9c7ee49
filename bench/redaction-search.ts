/**
 * `node bench/redaction-search.ts [seconds] [seed]`: looks for the content that takes redaction longest. Pieces of the rule table and
 * of what stands between them are put together at random, and the slowest are varied. Times are CPU time of this thread.
 */
import { createRedactor } from "#redaction";
import { ruleRows } from "../src/redaction/rule-table.ts";
import { createSeededRandom } from "../test/corpora/seeded-random.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const CHARS = 1_000_000;
const LIMIT_MS_PER_MB = 100;
const KEPT = 30;
const VARIED = 12;
const SHOWN = 5;
const MAX_PIECES = 8;
const ROUNDS = 1;
const CONFIRMING_ROUNDS = 9;
const WARM_UP_ROUNDS = 60;
const BETWEEN =
  '_PROD= PASSWORD_ = : is for -- " \' \\" \\n <key> </key> <string> -----BEGIN -----END PRIVATE KEY----- :// @ a 1 xK9# Basic ; , ( [ { ' +
  "value: name: login machine - . / % %3D \\u0022 4111 DE89 $ { } | > & ! \u001b[31m «redacted: » пароль";

interface Content {
  readonly pieces: readonly string[];
  readonly msPerMb: number;
}

const seconds = Number(process.argv[2] ?? 60);
const random = createSeededRandom(Number(process.argv[3] ?? 1));
const redactor = createRedactor();
const pieces = [...new Set([...shortTexts(ruleRows()), ...BETWEEN.split(" "), " ", "\n", "\t"])];

for (let round = 0; round < WARM_UP_ROUNDS; round++) measure(["password is "]);
let slowest: readonly Content[] = [];
const until = performance.now() + seconds * 1000;
while (performance.now() < until) {
  const chosen = next();
  if (chosen.join("") === "" || chosen.length > MAX_PIECES) continue;
  const known = slowest.filter((content) => content.pieces.join("") !== chosen.join(""));
  slowest = [...known, measure(chosen)].sort((a, b) => b.msPerMb - a.msPerMb).slice(0, KEPT);
}
// A measure that something else has disturbed stays on top: those on top are measured again.
const confirmed = slowest.map(({ pieces }) => measure(pieces, CONFIRMING_ROUNDS)).sort((a, b) => b.msPerMb - a.msPerMb);
const figures: Figure[] = confirmed.slice(0, SHOWN).map(({ pieces, msPerMb }) => ({
  name: `1 MB of \`${JSON.stringify(pieces.join(""))}\``,
  unit: "ms",
  ours: msPerMb,
  limit: LIMIT_MS_PER_MB,
}));
printFigures("the slowest content that was found", figures);
process.exitCode = figures.every(holds) ? 0 : 1;

function next(): string[] {
  const isVariation = slowest.length > VARIED && random.integer(10) < 6;
  if (!isVariation) return Array.from({ length: 1 + random.integer(4) }, () => random.pick(pieces));
  const varied = [...random.pick(slowest.slice(0, VARIED)).pieces];
  const at = random.integer(varied.length);
  // Takes one out, puts one in, or puts one in its place.
  const removed = random.integer(3) === 0 ? 0 : 1;
  varied.splice(at, removed, ...(removed === 1 && random.integer(2) === 0 ? [] : [random.pick(pieces)]));
  return varied;
}

function measure(chosen: readonly string[], rounds = ROUNDS): Content {
  const piece = chosen.join("");
  const text = piece.repeat(Math.ceil(CHARS / piece.length)).slice(0, CHARS);
  const times = Array.from({ length: rounds }, () => {
    const startMs = cpuMs();
    redactor.redact(text);
    return cpuMs() - startMs;
  });
  return { pieces: chosen, msPerMb: (Math.min(...times) * 1_000_000) / CHARS };
}

function shortTexts(value: unknown): string[] {
  if (typeof value === "string") return value.length < 24 ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(shortTexts) : [];
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
