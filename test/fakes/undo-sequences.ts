/**
 * Random sequences of what an agent does to a workspace, with somebody else at work in the same folders, and the checks
 * that undo has to pass after each: all of the agent's changes gone, all of the others' left alone.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, posix } from "node:path";
import { ReasonError } from "#protocol";
import { createUndoRig, readTree, type UndoRig } from "./undo-rig.ts";

const MAX_OPERATIONS = 14;
const BYSTANDER = "by-";

type Random = (below: number) => number;

export interface SequenceResult {
  /** The agent's part of the tree is as it was before the sequence, twice: before and after a redo. */
  readonly restored: boolean;
  /** Redo brought the tree to where the sequence had left it. */
  readonly redone: boolean;
  readonly bystandersChanged: number;
  readonly operations: number;
}

/** One sequence. The same seed gives the same operations. */
export async function runUndoSequence(seed: number, maxOperations = MAX_OPERATIONS): Promise<SequenceResult> {
  const random = createRandom(seed);
  const rig = createUndoRig();
  try {
    buildTree(rig.root, random);
    const initial = agentPart(readTree(rig.root), readTree(rig.root));
    const operations = 3 + random(maxOperations - 2);
    for (let at = 0; at < operations; at++) {
      if (random(3) === 0) rig.newTurn();
      if (random(3) === 0) actAsHuman(rig, random);
      await actAsAgent(rig, random);
    }
    if (random(2) === 0) actAsHuman(rig, random);
    await refusesOverHumanEdit(rig, random);
    const final = readTree(rig.root);
    await repeat(() => rig.undo());
    const undone = readTree(rig.root);
    await repeat(() => rig.redo());
    const redone = readTree(rig.root);
    await repeat(() => rig.undo());
    const undoneAgain = readTree(rig.root);
    return {
      restored: sameTree(agentPart(undone, initial), initial) && sameTree(agentPart(undoneAgain, initial), initial),
      redone: sameTree(redone, final),
      bystandersChanged:
        changedEntries(bystanders(final), bystanders(undone)) +
        changedEntries(bystanders(final), bystanders(undoneAgain)),
      operations,
    };
  } finally {
    rig.dispose();
  }
}

function buildTree(root: string, random: Random): void {
  for (const directory of ["a", "a/b", "a/b/c", "d", "empty"]) mkdirSync(join(root, directory), { recursive: true });
  for (const directory of ["", "a", "a/b", "a/b/c", "d"]) {
    for (let at = 0; at < 1 + random(3); at++) {
      writeFileSync(join(root, directory, `f${at}.txt`), text(random), { mode: random(4) === 0 ? 0o755 : 0o644 });
    }
    if (random(2) === 0) writeFileSync(join(root, directory, `${BYSTANDER}${random(3)}.txt`), text(random));
  }
  symlinkSync("f0.txt", join(root, "a", "link"));
  symlinkSync("nowhere", join(root, "dangling"));
}

/** Touches only bystander files, in any folder that there is. */
function actAsHuman({ root, workspace }: UndoRig, random: Random): void {
  // In or below a folder that was a file before, undo would have to stop at somebody else's file; that is another test.
  const wereFiles = new Set(
    workspace
      .read()
      .sets.flatMap(({ files }) =>
        files
          .filter(({ before, after }) => [before, after].some((state) => state !== null && state.kind !== "directory"))
          .map(({ path }) => path),
      ),
  );
  const isSafe = (path: string): boolean => path === "." || (!wereFiles.has(path) && isSafe(posix.dirname(path)));
  const folders = ["", ...paths(root, "directory").filter(isSafe)];
  const existing = [...readTree(root).keys()].filter(isBystander);
  const action = random(4);
  const old = existing.length === 0 ? undefined : existing[random(existing.length)];
  if (old === undefined || action === 0) {
    const folder = folders[random(folders.length)] ?? "";
    writeFileSync(join(root, folder, `${BYSTANDER}${random(5)}.txt`), text(random));
  } else if (action === 1) writeFileSync(join(root, old), text(random));
  else if (action === 2) chmodSync(join(root, old), random(2) === 0 ? 0o600 : 0o644);
  else rmSync(join(root, old));
}

async function actAsAgent(rig: UndoRig, random: Random): Promise<void> {
  if (random(2) === 0) {
    const commands = Array.from({ length: 1 + random(4) }, () => shellCommand(rig.root, random));
    await rig.call("exec", { command: commands.join("\n") });
    return;
  }
  const files = paths(rig.root, "file");
  const file = files[random(files.length)];
  const target = newPath(rig.root, random);
  const folder = freeFolder(rig.root, random);
  const action = random(6);
  if (action === 0 || file === undefined) await rig.call("fs.write", { path: target, content: text(random) });
  else if (action === 1) await rig.call("fs.write", { path: file, content: text(random) });
  else if (action === 2) {
    const old = readFileSync(join(rig.root, file), "utf8").slice(0, 3);
    await rig.call("fs.edit", { path: file, old_text: old, new_text: text(random), all: true });
  } else if (action === 3) await rig.call("fs.remove", { path: file });
  else if (action === 4 && folder !== undefined) {
    await (random(2) === 0
      ? rig.call("fs.remove", { path: folder, recursive: true })
      : rig.call("fs.move", { from: folder, to: target }));
  } else await rig.call("fs.move", { from: file, to: target });
}

function shellCommand(root: string, random: Random): string {
  const files = paths(root, "file");
  const file = files[random(files.length)] ?? "none";
  const folder = freeFolder(root, random) ?? "none";
  const target = newPath(root, random);
  const parent = posix.dirname(target);
  const commands = [
    `mkdir -p ${parent} && printf %s '${text(random)}' > ${target}`,
    `printf %s '${text(random)}' > ${file}`,
    // The same size within the same tick of the clock.
    `s=$(wc -c < ${file}) && head -c $s /dev/zero | tr '\\0' '${"abc"[random(3)]}' > ${file}`,
    `printf x >> ${file}`,
    `rm -f ${file}`,
    `rm -rf ${folder}`,
    `mkdir -p ${parent} && mv -n ${file} ${target}`,
    `mkdir -p ${parent} && mv -n ${folder} ${target}`,
    `chmod ${["600", "755", "444", "640"][random(4)]} ${file}`,
    `chmod ${["700", "755", "775"][random(3)]} ${folder}`,
    `mkdir -p ${parent} && ln -s ../${file} ${target}`,
    `rm -f a/link && ln -s elsewhere a/link`,
    `mkdir -p ${target}/x/y`,
    `rmdir ${folder}`,
    `rm -f ${file} && mkdir ${file} && printf %s '${text(random)}' > ${file}/inside.txt`,
    `rm -rf ${folder} && printf %s '${text(random)}' > ${folder}`,
    `cp -p ${file} ${target}`,
    `touch -d '2001-01-01' ${file}`,
    `ln ${file} ${target}`,
  ];
  return `{ ${commands[random(commands.length)]}; } 2>/dev/null || true`;
}

/** One edit by a person in a file that the agent has changed must stop undo, and leave everything as it is. */
async function refusesOverHumanEdit(rig: UndoRig, random: Random): Promise<void> {
  const turn = rig.workspace.read().sets.at(-1)?.turn;
  const changed = rig.workspace
    .read()
    .sets.filter((set) => set.turn === turn)
    .flatMap(({ files }) => files)
    .filter(({ path, after }) => after?.kind === "file" && readTree(rig.root).get(path)?.startsWith("file") === true);
  const path = changed[random(Math.max(1, changed.length))]?.path;
  if (path === undefined) return;
  const file = join(rig.root, path);
  const aside = join(rig.root, "..", "aside");
  renameSync(file, aside);
  writeFileSync(file, "edited by a person");
  chmodSync(file, lstatSync(aside).mode & 0o7777);
  const before = readTree(rig.root);
  const report = await rig.undo();
  if (report.outcome !== "refused" || !report.conflicts.some((conflict) => conflict.path === path)) {
    throw new Error(`undo went over an edit of ${path}: ${JSON.stringify(report)}`);
  }
  if (!sameTree(readTree(rig.root), before)) throw new Error(`undo was refused over ${path} and changed something`);
  renameSync(aside, file);
}

/** Until there is nothing left; every step must be complete. */
async function repeat(step: () => ReturnType<UndoRig["undo"]>): Promise<void> {
  for (;;) {
    try {
      const report = await step();
      if (report.outcome !== "done") throw new Error(`not done: ${JSON.stringify(report)}`);
      if (report.uncovered.length > 0) throw new Error(`not covered: ${JSON.stringify(report.uncovered)}`);
    } catch (error) {
      if (error instanceof ReasonError && error.reason === "NothingToUndo") return;
      throw error;
    }
  }
}

function paths(root: string, kind: "file" | "directory"): string[] {
  return [...readTree(root)]
    .filter(([path, state]) => state.startsWith(kind) && !isBystander(path))
    .map(([path]) => path);
}

/** A folder in which nobody else has a file. */
function freeFolder(root: string, random: Random): string | undefined {
  const tree = [...readTree(root).keys()];
  const free = paths(root, "directory").filter(
    (folder) => !tree.some((path) => path.startsWith(`${folder}/`) && isBystander(path)),
  );
  return free[random(Math.max(1, free.length))];
}

function newPath(root: string, random: Random): string {
  const folders = ["", "new", "new/deep", ...paths(root, "directory")];
  const path = posix.join(folders[random(folders.length)] ?? "", `n${random(20)}`);
  return existsSync(join(root, path)) ? `${path}-${random(1000)}` : path;
}

function isBystander(path: string): boolean {
  return posix.basename(path).startsWith(BYSTANDER);
}

function bystanders(tree: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...tree].filter(([path]) => isBystander(path)));
}

/** Without bystanders, and without folders that were not there at first and are there only for them. */
function agentPart(tree: ReadonlyMap<string, string>, initial: ReadonlyMap<string, string>): Map<string, string> {
  const all = [...tree.keys()];
  const holdsOnlyOthers = (folder: string): boolean => {
    const below = all.filter((path) => path.startsWith(`${folder}/`));
    return (
      below.some(isBystander) && below.every((path) => isBystander(path) || tree.get(path)?.startsWith("directory"))
    );
  };
  return new Map(
    [...tree].filter(
      ([path, state]) =>
        !isBystander(path) && (initial.has(path) || !(state.startsWith("directory") && holdsOnlyOthers(path))),
    ),
  );
}

function sameTree(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return changedEntries(a, b) === 0;
}

function changedEntries(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): number {
  return [...new Set([...a.keys(), ...b.keys()])].filter((path) => a.get(path) !== b.get(path)).length;
}

function text(random: Random): string {
  return Array.from({ length: 1 + random(40) }, () => "abcdefghij \n"[random(12)]).join("");
}

function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
