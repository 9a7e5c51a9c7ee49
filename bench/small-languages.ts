/**
 * Whether the small languages that pass without a question are harmless: generated awk, sed and jq programs and find and git
 * commands that the judge accepts run with the real programs, and an effect is a changed file or a started program.
 * `node bench/small-languages.ts [executions] [seed]` prints the figures and every effect.
 */
import { quietDecision } from "../src/governance/quiet-preset.ts";
import { createSeededRandom } from "../test/corpora/seeded-random.ts";
import {
  type Argv,
  createSmallLanguageOracle,
  implementationsOf,
  ORACLE_ROOT,
} from "../test/fakes/small-language-oracle.ts";
import { type SmallLanguage, smallProgram } from "../test/fakes/small-programs.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const EXECUTIONS = 100_000;
const SEED = 17;
const BATCH = 400;
/** Of all executions; jq takes long to start. */
const SHARES: Readonly<Record<SmallLanguage, number>> = { awk: 0.45, sed: 0.33, jq: 0.02, find: 0.1, git: 0.1 };
/** What the judge does not accept, to show that the oracle sees effects. */
const CONTROLS: readonly Argv[] = [
  ...implementationsOf("awk").flatMap((awk) => [
    [...awk, 'BEGIN { system("touch x") }'],
    [...awk, 'BEGIN { print 1 > "x" }'],
    [...awk, 'BEGIN { print 1 | "touch x" }'],
  ]),
  ["sed", "w x", "in.txt"],
  ["sed", "1e touch x", "in.txt"],
  ["find", ".", "-fprint", "x"],
  ["find", ".", "-exec", "touch", "x", ";"],
  ["git", "tag", "x"],
  ["git", "log", "--output=x"],
  ["git", "stash", "drop"],
];

const out = (line: string): boolean => process.stdout.write(`${line}\n`);
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

function isAccepted(language: SmallLanguage, words: Argv): boolean {
  const command = [language, ...words.map(quoted)].join(" ");
  return quietDecision({ tool: "exec", args: { command } }, ORACLE_ROOT).quiet;
}

async function measure(language: SmallLanguage, executions: number, seed: number): Promise<Figure[]> {
  const random = createSeededRandom(seed);
  const oracle = createSmallLanguageOracle();
  if (oracle === undefined) throw new Error("bubblewrap, bash or git is missing, or sh is bash");
  const programs = implementationsOf(language);
  try {
    let judged = 0;
    let executed = 0;
    let effects = 0;
    const seen = new Set<string>();
    while (executed < executions && programs.length > 0) {
      const batch: Argv[] = [];
      while (batch.length < BATCH) {
        const words = smallProgram(language, random);
        judged++;
        if (words.some((word) => word.includes("\0")) || seen.has(words.join("\0")) || !isAccepted(language, words))
          continue;
        if (language === "awk" || language === "sed") seen.add(words.join("\0"));
        for (const program of programs) batch.push([...program, ...words]);
      }
      for (const culprit of await oracle.effects(batch)) {
        effects++;
        out(`effect: ${JSON.stringify(culprit)}`);
      }
      executed += batch.length;
    }
    const names = programs.map((program) => program.join(" ")).join(", ");
    return [
      {
        name: `${language}: effects of ${executed} executions (${judged} judged; ${names})`,
        unit: "",
        ours: effects,
        limit: 0,
      },
    ];
  } finally {
    oracle.remove();
  }
}

async function controls(): Promise<Figure> {
  const oracle = createSmallLanguageOracle();
  let unseen = 0;
  for (const argv of CONTROLS) {
    if ((await oracle?.effects([argv]))?.length === 1) continue;
    unseen++;
    out(`the oracle does not see: ${JSON.stringify(argv)}`);
  }
  oracle?.remove();
  return { name: `effects of ${CONTROLS.length} controls that the oracle misses`, unit: "", ours: unseen, limit: 0 };
}

const executions = Number(process.argv[2] ?? EXECUTIONS);
const seed = Number(process.argv[3] ?? SEED);
const figures: Figure[] = [await controls()];
const languages = Object.keys(SHARES) as SmallLanguage[];
for (const language of languages)
  figures.push(...(await measure(language, Math.ceil(executions * SHARES[language]), seed)));
printFigures("small languages", figures);
process.exitCode = figures.every(holds) ? 0 : 1;
