/**
 * `node bench/undo.ts [sequences] [seed]`: random sequences that undo must take back exactly (default 1,000), and what the
 * snapshots around one command cost in a workspace of 10,000 files, compared with one `find -printf` over it.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createUndoRig } from "../test/fakes/undo-rig.ts";
import { runUndoSequence } from "../test/fakes/undo-sequences.ts";
import { type Figure, holds, median, printFigures } from "./figures.ts";

const FOLDERS = 100;
const FILES_PER_FOLDER = 100;
const FILE_BYTES = 1_000;
const ROUNDS = 21;
const LANES = 4;
const MAX_SNAPSHOT_RATIO = 5;
const FIND_FORMAT = "%p %s %T@ %C@ %i %m\\n";

const sequences = Number(process.argv[2] ?? 1_000);
const firstSeed = Number(process.argv[3] ?? 1);
const campaign = await runCampaign();
const figures = [...campaign, ...(await measureOverhead()), await measureWrite()];
printFigures("undo", figures);
process.exitCode = figures.every(holds) ? 0 : 1;

async function runCampaign(): Promise<Figure[]> {
  let operations = 0;
  let notRestored = 0;
  let notRedone = 0;
  let bystanders = 0;
  let next = firstSeed;
  // Each sequence waits for its commands most of the time, so several run side by side.
  const lane = async (): Promise<void> => {
    while (next < firstSeed + sequences) {
      const seed = next++;
      try {
        const result = await runUndoSequence(seed);
        operations += result.operations;
        bystanders += result.bystandersChanged;
        if (!result.restored) notRestored += 1;
        if (!result.redone) notRedone += 1;
        if (!result.restored || !result.redone) process.stderr.write(`seed ${seed}: ${JSON.stringify(result)}\n`);
      } catch (error) {
        notRestored += 1;
        process.stderr.write(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}\n`);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return [
    { name: `random sequences (${operations} calls)`, unit: "", ours: sequences },
    { name: "sequences whose tree was not restored", unit: "", ours: notRestored, limit: 0 },
    { name: "sequences that redo did not bring back", unit: "", ours: notRedone, limit: 0 },
    { name: "bystander files changed", unit: "", ours: bystanders, limit: 0 },
  ];
}

async function measureOverhead(): Promise<Figure[]> {
  const rig = createUndoRig();
  try {
    for (let folder = 0; folder < FOLDERS; folder++) {
      mkdirSync(join(rig.root, `folder-${folder}`));
      for (let file = 0; file < FILES_PER_FOLDER; file++) {
        const content = `${folder}/${file}\n`.padEnd(FILE_BYTES, "x");
        writeFileSync(join(rig.root, `folder-${folder}`, `file-${file}.txt`), content);
      }
    }
    const tracker = rig.workspace.tracker();
    const around = async (change: () => void): Promise<number> => {
      const facts = { id: rig.mintCall(), turn: rig.newTurn(), session: rig.session, tool: { name: "exec" } };
      const start = performance.now();
      const pending = await tracker.begin(facts, [""]);
      const changeStart = performance.now();
      change();
      const changeEnd = performance.now();
      await pending.finish();
      return performance.now() - start - (changeEnd - changeStart);
    };
    const first = await around(() => undefined);
    await around(() => undefined); // files written just now are read twice before their looks are trusted
    const floor: number[] = [];
    const quiet: number[] = [];
    const changing: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const start = performance.now();
      execFileSync("find", [rig.root, "-printf", FIND_FORMAT], { stdio: "ignore" });
      floor.push(performance.now() - start);
      quiet.push(await around(() => undefined));
      const edit = (): void => writeFileSync(join(rig.root, "folder-7", "file-7.txt"), `round ${round}`);
      changing.push(await around(edit));
    }
    const common = { unit: "ms", floor: median(floor), maxRatio: MAX_SNAPSHOT_RATIO };
    return [
      { name: "both snapshots of a command that changes nothing, 10,000 files", ours: median(quiet), ...common },
      { name: "both snapshots of a command that changes a file, 10,000 files", ours: median(changing), ...common },
      { name: "first command in a new workspace (every file is read and kept), 10,000 files", unit: "ms", ours: first },
    ];
  } finally {
    rig.dispose();
  }
}

/** One `fs.write` with and without undo; both wait for the disk, undo for its two records on top. */
async function measureWrite(): Promise<Figure> {
  const rigs = { ours: createUndoRig(), floor: createUndoRig({ record: false }) };
  const times: Record<keyof typeof rigs, number[]> = { ours: [], floor: [] };
  for (let round = 0; round < ROUNDS * 5; round++) {
    for (const name of ["ours", "floor"] as const) {
      const start = performance.now();
      await rigs[name].call("fs.write", { path: "file.txt", content: `${round}`.padEnd(FILE_BYTES) });
      times[name].push(performance.now() - start);
    }
  }
  rigs.ours.dispose();
  rigs.floor.dispose();
  return {
    name: "one fs.write with undo, and without",
    unit: "ms",
    ours: median(times.ours),
    floor: median(times.floor),
  };
}
