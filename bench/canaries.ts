/**
 * `node bench/canaries.ts [count]`: canaries through every way in, then a look for each of them, raw, in every exit: what vendors
 * are sent, what is told, stored, printed, exported and left on the disk. First without redaction, which shows that each way is
 * open; at the end a log that was written without it. Exit code 1 unless nothing is found.
 */
import { type Canary, makeCanaries, rawIn, redactorFor } from "../test/fakes/canaries.ts";
import { type CliRun, readBack, runCanaryCli, runProgram } from "../test/fakes/canary-cli.ts";
import { type Exits, openCanaryPlace, runCanarySession, waysOut } from "../test/fakes/canary-session.ts";
import { apart, everywhere, WAYS } from "../test/fakes/canary-ways.ts";
import { noRedaction } from "../test/fakes/no-redaction.ts";
import { type Figure, holds, printFigures } from "./figures.ts";

const CANARIES = 1000;
/** So many at once: more would be cut by the limits of results before they get anywhere. */
const BATCH = 50;

const canaries = makeCanaries(Number(process.argv[2] ?? CANARIES));
const kinds = new Set(canaries.map(({ kind }) => kind)).size;
const raw = new Map<string, Set<string>>();
const figures: Figure[] = [
  {
    name: "ways in that are closed when redaction is off (nothing would be tested)",
    unit: "",
    ours: await closed(),
    limit: 0,
  },
];
for (let from = 0; from < canaries.length; from += BATCH) {
  const batch = canaries.slice(from, from + BATCH);
  for (const run of [runCanarySession, runCanaryCli]) {
    const place = await openCanaryPlace(everywhere(batch));
    try {
      look(run === runCanaryCli ? "program" : "session", await run(place), batch);
    } finally {
      await place.close();
    }
  }
  process.stderr.write(`${Math.min(from + BATCH, canaries.length)} of ${canaries.length}\n`);
}
await oldLog(canaries.slice(0, BATCH));
for (const [exit, found] of raw) {
  figures.push({ name: `raw in ${exit}`, unit: `of ${canaries.length}`, ours: found.size, limit: 0 });
  for (const name of found) process.stderr.write(`raw in ${exit}: ${name}\n`);
}
figures.push(...splits());
printFigures(`${canaries.length} canaries of ${kinds} kinds, ${WAYS.length} ways in`, figures);
process.exitCode = figures.every(holds) ? 0 : 1;

async function closed(): Promise<number> {
  const place = await openCanaryPlace(apart(makeCanaries(Math.max(300, canaries.length)), 1));
  try {
    const out = waysOut(place.load, await runCanarySession(place, async () => noRedaction));
    return WAYS.filter((way) => !out.has(way)).length;
  } finally {
    await place.close();
  }
}

function look(where: string, exits: Exits, batch: readonly Canary[]): void {
  for (const [exit, text] of exits) {
    const name = `${where}: ${exit}`.replace(/(?:call|sess)_\w+/, "…");
    const found = raw.get(name) ?? new Set();
    raw.set(name, found);
    for (const canary of rawIn(text, batch)) found.add(canary.name);
  }
}

/** What an earlier version would have let into the log does not leave it. */
async function oldLog(batch: readonly Canary[]): Promise<void> {
  const place = await openCanaryPlace(everywhere(batch));
  try {
    const written = await runCanarySession(place, async () => noRedaction);
    const told = written.get("events at a subscriber") ?? "";
    if (rawIn(told, batch).length < batch.length) throw new Error("the old log does not hold all canaries");
    const exits = new Map<string, string>();
    const harness = async (name: string, args: readonly string[]): Promise<CliRun> => {
      const run = await runProgram(place, args);
      exits.set(name, `${exits.get(name) ?? ""}${run.out}${run.err}`);
      return run;
    };
    const [session = "", call = ""] = ["sess", "call"].map((kind) => new RegExp(`${kind}_\\w{26}`).exec(told)?.[0]);
    await readBack(harness, session, call);
    look("a log from before", exits, batch);
  } finally {
    await place.close();
  }
}

/** Each text cut in two at every position, with and without a pause in between. */
function splits(): Figure[] {
  const redactor = redactorFor(canaries);
  let positions = 0;
  let passed = 0;
  for (const canary of canaries) {
    for (let at = 1; at < canary.text.length; at++) {
      positions += 1;
      for (const pauses of [false, true]) {
        const stream = redactor.createStreamRedactor();
        const begin = stream.push(canary.text.slice(0, at)) + (pauses ? stream.settle() : "");
        const whole = begin + stream.push(canary.text.slice(at)) + stream.flush();
        passed += rawIn(whole, [canary]).length;
      }
    }
  }
  return [
    {
      name: `raw after a cut in two, ${positions} positions, with and without a pause`,
      unit: "",
      ours: passed,
      limit: 0,
    },
  ];
}
