/** Undo and redo on real files, real tools and real commands. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createUndoRig, readTree, type UndoRig, type UndoRigOptions } from "../../test/fakes/undo-rig.ts";
import { runUndoSequence } from "../../test/fakes/undo-sequences.ts";
import { sessionChanges } from "./session-changes.ts";
import { BIRTH_MARGIN_MS, RACY_MS } from "./snapshot.ts";
import { createUndoStore } from "./undo-store.ts";

function openRig(options: UndoRigOptions = {}): UndoRig {
  const rig = createUndoRig(options);
  onTestFinished(() => rig.dispose());
  return rig;
}

function put(rig: UndoRig, path: string, content: string): string {
  const file = join(rig.root, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const sh = (rig: UndoRig, command: string) => rig.call("exec", { command });
const read = (rig: UndoRig, path: string): string => readFileSync(join(rig.root, path), "utf8");

test("a turn of tools and commands is taken back whole, and made again", async () => {
  const rig = openRig();
  put(rig, "a.txt", "one");
  chmodSync(put(rig, "dir/run.sh", "echo"), 0o755);
  put(rig, "dir/old.txt", "old");
  symlinkSync("a.txt", join(rig.root, "link"));
  const before = readTree(rig.root);
  await rig.call("fs.write", { path: "new/deep/file.txt", content: "made" });
  await rig.call("fs.edit", { path: "a.txt", old_text: "one", new_text: "two" });
  await rig.call("fs.move", { from: "dir", to: "moved" });
  await rig.call("fs.remove", { path: "link" });
  await sh(
    rig,
    "chmod 600 moved/run.sh; rm moved/old.txt; ln -s x moved/l; mkdir -p e/f; printf 3 > a.txt; mv a.txt b.txt",
  );
  const after = readTree(rig.root);
  expect(await rig.undo()).toMatchObject({ outcome: "done", conflicts: [], failed: [], uncovered: [], leftOut: [] });
  expect(readTree(rig.root)).toEqual(before);
  expect(await rig.redo()).toMatchObject({ outcome: "done" });
  expect(readTree(rig.root)).toEqual(after);
  expect(await rig.undo()).toMatchObject({ outcome: "done" });
  expect(readTree(rig.root)).toEqual(before);
});

const NS = /^\d{19}$/;

test("records per call what each path was and is", async () => {
  const rig = openRig({ clock: createManualClock() });
  put(rig, "a.txt", "one");
  const { id } = await sh(rig, "printf two > a.txt; mkdir d");
  const { sets, open } = rig.workspace.read();
  const file = { kind: "file", mode: 0o644, size: 3, hash: expect.stringMatching(/^[0-9a-f]{64}$/) };
  expect({ sets, open }).toEqual({
    open: [],
    sets: [
      {
        call: id,
        session: rig.session,
        turn: expect.stringMatching(/^turn_/),
        tool: "exec",
        time: Date.UTC(2026, 0, 1),
        order: 1,
        files: [
          {
            path: "a.txt",
            before: file,
            after: file,
            foundAt: expect.stringMatching(NS),
            leftAt: expect.stringMatching(NS),
          },
          { path: "d", before: null, after: { kind: "directory", mode: 0o755 } },
        ],
        uncovered: [],
        leftOut: [],
      },
    ],
  });
  await sh(rig, "cat a.txt");
  expect(rig.workspace.read()).toMatchObject({ sets: { length: 1 }, open: [] });
});

test("a file rewritten with the same size and times is seen", async () => {
  const rig = openRig();
  const file = put(rig, "a.txt", "one");
  await sh(rig, "true");
  const { mtime, atime } = statSync(file);
  await sh(rig, `printf two > a.txt; touch -d @${mtime.getTime() / 1000} a.txt`);
  await sh(rig, "printf six > a.txt");
  expect(rig.workspace.read().sets).toHaveLength(2);
  expect(atime).toBeDefined();
  await rig.undo();
  expect(read(rig, "a.txt")).toBe("one");
});

describe("targets", () => {
  test("a call, a turn, the last turn, and one after the other", async () => {
    const rig = openRig();
    const first = rig.newTurn();
    const one = await rig.call("fs.write", { path: "1", content: "1" });
    await rig.call("fs.write", { path: "2", content: "2" });
    rig.newTurn();
    await rig.call("fs.write", { path: "3", content: "3" });
    expect(await rig.undo({ target: { call: one.id } })).toMatchObject({ outcome: "done", calls: [one.id] });
    expect(readdirSync(rig.root).sort()).toEqual(["2", "3"]);
    await expect(rig.undo({ target: { call: one.id } })).rejects.toMatchObject({
      reason: "NothingToUndo",
      message: expect.stringContaining("was already undone"),
    });
    await rig.undo({ target: { turn: first } });
    expect(readdirSync(rig.root)).toEqual(["3"]);
    await rig.undo();
    expect(readdirSync(rig.root)).toEqual([]);
    await expect(rig.undo()).rejects.toMatchObject({
      message: expect.stringContaining("everything is already undone"),
    });
    await rig.redo();
    await rig.redo({ target: { call: one.id } });
    expect(readdirSync(rig.root).sort()).toEqual(["1", "3"]);
    await expect(rig.redo({ target: { call: one.id } })).rejects.toMatchObject({ reason: "NothingToUndo" });
  });

  test("nothing on record is said", async () => {
    const rig = openRig();
    await expect(rig.undo()).rejects.toMatchObject({
      message: expect.stringContaining("no call has changed files"),
    });
    await expect(rig.undo({ target: { call: rig.mintCall() } })).rejects.toMatchObject({ reason: "NothingToUndo" });
    await expect(rig.redo()).rejects.toMatchObject({ reason: "NothingToUndo" });
  });

  test("an earlier call whose file a later call changed again is a conflict that names it", async () => {
    const rig = openRig();
    put(rig, "a", "0");
    const one = await rig.call("fs.write", { path: "a", content: "1" });
    const two = await rig.call("fs.write", { path: "a", content: "2" });
    const report = await rig.undo({ target: { call: one.id } });
    expect(report).toMatchObject({
      outcome: "refused",
      conflicts: [{ path: "a", why: expect.stringContaining(two.id) }],
    });
  });

  test("sessions are kept apart, and a later run of the program finds what an earlier one did", async () => {
    const rig = openRig();
    await rig.call("fs.write", { path: "1", content: "1" });
    const later = createUndoRig({ after: rig });
    await sh(later, "printf 2 > 2");
    expect(await later.undo({ session: rig.session })).toMatchObject({ session: rig.session });
    expect(readdirSync(rig.root)).toEqual(["2"]);
    expect(await later.undo()).toMatchObject({ session: later.session });
    expect(readdirSync(rig.root)).toEqual([]);
  });
});

describe("somebody else's work", () => {
  test("an edit after the call is shown and nothing is changed", async () => {
    const rig = openRig();
    put(rig, "a", "0");
    put(rig, "b", "0");
    await sh(rig, "printf 1 > a; printf 1 > b; rm -f c; printf 1 > c");
    put(rig, "a", "mine");
    chmodSync(join(rig.root, "c"), 0o600);
    const before = readTree(rig.root);
    const report = await rig.undo();
    expect(report).toMatchObject({
      outcome: "refused",
      reason: "UndoConflict",
      conflicts: [
        { path: "a", why: "now has different contents" },
        { path: "c", why: "now has a different mode: 600, was 644" },
      ],
    });
    expect(readTree(rig.root)).toEqual(before);
    expect(await rig.undo({ dryRun: true, skipConflicts: true })).toMatchObject({
      outcome: "planned",
      restored: [{ path: "b", what: "restored" }],
    });
    expect(readTree(rig.root)).toEqual(before);
    expect(await rig.undo({ skipConflicts: true })).toMatchObject({
      outcome: "partial",
      restored: [{ path: "b", what: "restored" }],
      conflicts: [{ path: "a" }, { path: "c" }],
    });
    expect([read(rig, "a"), read(rig, "b"), read(rig, "c")]).toEqual(["mine", "0", "1"]);
  });

  test("an edit between two calls stops undo at that edit", async () => {
    const rig = openRig();
    put(rig, "a", "0");
    await rig.call("fs.write", { path: "a", content: "1" });
    put(rig, "a", "mine");
    await rig.call("fs.write", { path: "a", content: "2" });
    expect(await rig.undo()).toMatchObject({ outcome: "refused", conflicts: [{ path: "a" }] });
    expect(read(rig, "a")).toBe("2");
  });

  /** As the same person does a moment later: the clock of the file system may not have ticked yet. */
  function putLater(rig: UndoRig, path: string, content: string): void {
    const file = put(rig, path, content);
    const { mtimeMs } = statSync(file);
    utimesSync(file, new Date(mtimeMs + 60_000), new Date(mtimeMs + 60_000));
  }
  const AGAIN = "was written again after the call, with the same contents";

  test("a file that they wrote again, with what the agent had written, is theirs", async () => {
    const rig = openRig();
    put(rig, "edited", "0");
    put(rig, "other", "0");
    await sh(rig, "printf 1 > made; printf 1 > edited; printf 1 > other; ln -s made link");
    putLater(rig, "made", "1");
    putLater(rig, "edited", "1");
    expect(await rig.undo()).toMatchObject({
      outcome: "refused",
      conflicts: [
        { path: "edited", why: AGAIN },
        { path: "made", why: AGAIN },
      ],
    });
    expect(await rig.undo({ skipConflicts: true })).toMatchObject({
      outcome: "partial",
      restored: [{ path: "link" }, { path: "other" }],
    });
    expect([read(rig, "made"), read(rig, "edited"), read(rig, "other")]).toEqual(["1", "1", "0"]);
  });

  test("also when the agent went on from it in a later call", async () => {
    const rig = openRig();
    await rig.call("fs.write", { path: "a", content: "1" });
    putLater(rig, "a", "1");
    await rig.call("fs.write", { path: "a", content: "2" });
    expect(await rig.undo()).toMatchObject({ outcome: "refused", conflicts: [{ path: "a", why: AGAIN }] });
    expect(read(rig, "a")).toBe("2");
  });

  test("what the agent, undo or redo wrote again is not theirs, nor is what was only moved, copied or made private", async () => {
    const rig = openRig();
    put(rig, "a", "0");
    const first = rig.newTurn();
    await sh(rig, "printf 1 > a; printf 1 > made; ln -s a link; printf 1 > moved");
    await sh(rig, "sleep 0.02; printf 1 > a; printf 1 > made; ln -sfn a link");
    await sh(rig, "chmod 640 made");
    await sh(rig, "touch -d 2001-01-01 made");
    rig.newTurn();
    await rig.call("fs.write", { path: "a", content: "2" });
    for (const action of [rig.undo, rig.redo, rig.undo, rig.redo, rig.undo]) {
      expect(await action()).toMatchObject({ outcome: "done" });
    }
    // The first turn now stands on what undo has put back, which a command then writes once more.
    await sh(rig, "sleep 0.02; cat a > b; cat b > a; rm b");
    renameSync(join(rig.root, "moved"), join(rig.root, "away"));
    execFileSync("cp", ["-p", join(rig.root, "away"), join(rig.root, "moved")]);
    rmSync(join(rig.root, "away"));
    chmodSync(join(rig.root, "made"), 0o600);
    chmodSync(join(rig.root, "made"), 0o640);
    for (const action of [rig.undo, rig.redo, rig.undo]) {
      expect(await action({ target: { turn: first } })).toMatchObject({ outcome: "done" });
    }
    expect(readTree(rig.root)).toEqual(new Map([["a", expect.stringContaining("644 MA==")]]));
  });

  test("a file of theirs in a folder of the agent's keeps the folder", async () => {
    const rig = openRig();
    await sh(rig, "mkdir -p d/e; printf 1 > d/e/agent");
    put(rig, "d/e/mine", "mine");
    expect(await rig.undo()).toMatchObject({
      outcome: "done",
      kept: [
        { path: "d/e", why: "holds mine" },
        { path: "d", why: "holds e" },
      ],
    });
    expect([...readTree(rig.root).keys()]).toEqual(["d", "d/e", "d/e/mine"]);
    expect(await rig.redo()).toMatchObject({ outcome: "done" });
    expect(read(rig, "d/e/agent")).toBe("1");
  });

  test("a folder that became a link or is gone is not restored into", async () => {
    const rig = openRig();
    put(rig, "d/a", "0");
    put(rig, "e/b", "0");
    put(rig, "elsewhere/a", "theirs");
    await sh(rig, "rm d/a e/b");
    rmSync(join(rig.root, "d"), { recursive: true });
    symlinkSync("elsewhere", join(rig.root, "d"));
    rmSync(join(rig.root, "e"), { recursive: true });
    expect(await rig.undo()).toMatchObject({
      outcome: "refused",
      conflicts: [
        { path: "d/a", why: expect.stringContaining("symbolic link") },
        { path: "e/b", why: "its directory no longer exists" },
      ],
    });
    expect(read(rig, "elsewhere/a")).toBe("theirs");
  });
});

describe("what is not covered is said", () => {
  test("large files, caches, git's objects, what was moved in", async () => {
    const rig = openRig({ limits: { maxFileBytes: 10 } });
    put(rig, "node_modules/x/index.js", "0");
    put(rig, "node_modules/old/only", "copy");
    put(rig, "target/CACHEDIR.TAG", "");
    put(rig, "target/out", "0");
    put(rig, ".git/objects/ab", "0");
    put(rig, ".git/HEAD", "ref: a");
    put(rig, ".git/index", "0");
    // A file counts as moved in when it is clearly older than the call.
    const born = statSync(join(rig.root, "node_modules/old/only")).birthtimeMs;
    await expect.poll(() => Date.now() - born, { interval: 5 }).toBeGreaterThan(BIRTH_MARGIN_MS + 1);
    await sh(
      rig,
      "printf 1 > node_modules/x/index.js; printf 1 > target/out; printf 'ref: b' > .git/HEAD; printf 1 > .git/index;" +
        "printf 12345678901 > large; mv node_modules/old/only only; git init -q sub 2>/dev/null || mkdir -p sub/.git/objects",
    );
    const report = await rig.undo();
    expect(report.outcome).toBe("done");
    expect(report.uncovered.map(({ path, why }) => `${path}: ${why}`).sort()).toEqual([
      "large: is larger than 10 bytes",
      "only: was moved here from a folder that undo does not cover",
      expect.stringContaining("sub/.git: "),
    ]);
    expect(report.leftOut.map(({ path }) => path).sort()).toEqual([".git", "node_modules", "sub/.git", "target"]);
    expect([read(rig, ".git/HEAD"), read(rig, ".git/index"), read(rig, "only")]).toEqual(["ref: a", "1", "copy"]);
    expect(existsSync(join(rig.root, "sub/.git/objects"))).toBe(true);
  });

  test("a mark put into a folder by the call does not hide the folder", async () => {
    const rig = openRig();
    put(rig, "src/a", "0");
    await sh(rig, "touch src/CACHEDIR.TAG; printf 1 > src/a");
    await rig.undo();
    expect([...readTree(rig.root).keys()]).toEqual(["src", "src/a"]);
    expect(read(rig, "src/a")).toBe("0");
  });

  test("entries beyond the bound", async () => {
    const rig = openRig({ limits: { maxEntries: 3 } });
    for (const name of ["a", "b", "c", "d"]) put(rig, `${name}/file`, "0");
    await sh(rig, "printf 1 > a/file; printf 1 > d/file");
    const report = await rig.undo({ skipConflicts: true }).catch((error: unknown) => error);
    expect(report).toMatchObject({ reason: "NothingToUndo" });
  });
});

describe("the store", () => {
  test("inside the workspace it is no part of the workspace, nor are the program's other files", async () => {
    const rig = openRig();
    const inside = join(rig.root, "data");
    put(rig, "data/log.db", "0");
    const store = createUndoStore({
      directory: join(inside, "undo"),
      key: rig.key,
      clock: createManualClock(),
      ownPaths: [join(inside, "log.db")],
    });
    const call = { id: rig.mintCall(), turn: rig.newTurn(), session: rig.session, tool: { name: "exec" } };
    const pending = await store.workspace(rig.root).tracker().begin(call, [""]);
    put(rig, "data/log.db", "1");
    put(rig, "data/other", "1");
    const set = await pending.finish();
    expect(set?.files.map(({ path }) => path)).toEqual(["data/other"]);
  });

  test("drops change sets that are older than a month", async () => {
    const clock = createManualClock();
    const rig = openRig({ clock });
    await rig.call("fs.write", { path: "a", content: "1" });
    await clock.advance(31 * 24 * 60 * 60 * 1000);
    const later = createUndoRig({ after: rig, clock });
    await later.call("fs.write", { path: "b", content: "1" });
    expect(later.workspace.read().sets.map(({ session }) => session)).toEqual([later.session]);
  });

  test("keeps them when the clock has only leapt ahead", async () => {
    const clock = createManualClock();
    const startMs = clock.now();
    const rig = openRig({ clock, settled: () => startMs });
    await rig.call("fs.write", { path: "a", content: "1" });
    clock.stepWall(31 * 24 * 60 * 60 * 1000);
    const later = createUndoRig({ after: rig, clock, settled: () => startMs });
    await later.call("fs.write", { path: "b", content: "1" });
    expect(later.workspace.read().sets.map(({ session }) => session)).toEqual([rig.session, later.session]);
  });

  test("undoes the newest change first, also when the clock was set back before it", async () => {
    const clock = createManualClock();
    const rig = openRig({ clock });
    await rig.call("fs.write", { path: "a", content: "1" });
    await rig.call("fs.write", { path: "a", content: "2" });
    clock.stepWall(-60 * 60 * 1000);
    await rig.call("fs.write", { path: "a", content: "3" });
    const later = createUndoRig({ after: rig, clock });
    await later.call("fs.write", { path: "a", content: "4" });
    const order = later.workspace.read().sets.map(({ files }) => files[0]?.after);
    const hashes = ["1", "2", "3", "4"].map((text) => later.workspace.nameOf(Buffer.from(text)));
    expect(order).toMatchObject(hashes.map((hash) => ({ hash })));
  });

  test("holds nothing readable, and is its owner's alone", async () => {
    const rig = openRig();
    put(rig, "canary-name.txt", "canary-before");
    await sh(rig, "printf canary-after > canary-name.txt; ln -s canary-target canary-link");
    const found = readdirSync(rig.storeDirectory, { recursive: true, withFileTypes: true });
    expect(found.filter((entry) => entry.isFile()).length).toBeGreaterThan(2);
    for (const entry of found) {
      const path = join(entry.parentPath, entry.name);
      expect(entry.name).not.toContain("canary");
      expect(lstatSync(path).mode & 0o777, path).toBe(entry.isDirectory() ? 0o700 : 0o600);
      if (entry.isFile()) expect(readFileSync(path).includes("canary"), path).toBe(false);
    }
  });

  test("another key opens nothing", async () => {
    const rig = openRig();
    await rig.call("fs.write", { path: "a", content: "1" });
    const [folder = ""] = readdirSync(rig.storeDirectory);
    const { createSeal } = await import("./seal.ts");
    const { createSetLog } = await import("./set-log.ts");
    const other = createSetLog(join(rig.storeDirectory, folder, "sets"), createSeal(Buffer.alloc(32, 1)));
    expect(other.read()).toEqual({ sets: [], open: [], damaged: 1 });
  });

  test("stays within its bound: the oldest sets give way, the newest can be undone", async () => {
    const rig = openRig({ limits: { maxStoreBytes: 60_000, maxSets: 20 } });
    for (let round = 0; round < 40; round++) {
      rig.newTurn();
      await rig.call("fs.write", { path: "a", content: `${round}`.padEnd(3_000) });
    }
    expect(rig.workspace.contents.sizeBytes()).toBeLessThanOrEqual(60_000);
    const { sets } = rig.workspace.read();
    expect(sets.length).toBeGreaterThan(2);
    expect(sets.length).toBeLessThanOrEqual(20);
    await rig.undo();
    expect(read(rig, "a").trim()).toBe("38");
  });

  test("a file for which there is no room is not covered", async () => {
    const rig = openRig({ limits: { maxStoreBytes: 5_000 } });
    put(rig, "large", "0".repeat(6_000));
    put(rig, "small", "0");
    await sh(rig, "printf 1 > large; printf 1 > small");
    expect(await rig.undo()).toMatchObject({
      outcome: "done",
      restored: [{ path: "small" }],
      uncovered: [{ path: "large", why: expect.stringContaining("store is full") }],
    });
    expect([read(rig, "large"), read(rig, "small")]).toEqual(["1", "0"]);
  });

  test("a content that was lost is a conflict, not a guess", async () => {
    const rig = openRig();
    put(rig, "a", "0");
    await rig.call("fs.write", { path: "a", content: "1" });
    const before = rig.workspace.read().sets[0]?.files[0]?.before;
    const hash = before?.kind === "file" ? before.hash : "";
    const [folder = ""] = readdirSync(rig.storeDirectory);
    rmSync(join(rig.storeDirectory, folder, "objects", hash.slice(0, 2), hash));
    expect(await rig.undo()).toMatchObject({
      outcome: "refused",
      conflicts: [{ path: "a", why: "undo no longer has its content" }],
    });
  });

  test("a torn content fails for its path and can be tried again", async () => {
    const rig = openRig();
    put(rig, "a", "0");
    put(rig, "b", "00");
    await sh(rig, "printf 1 > a; printf 1 > b");
    const state = rig.workspace.read().sets[0]?.files.find(({ path }) => path === "a")?.before;
    const hash = state?.kind === "file" ? state.hash : "";
    const [folder = ""] = readdirSync(rig.storeDirectory);
    const object = join(rig.storeDirectory, folder, "objects", hash.slice(0, 2), hash);
    const whole = readFileSync(object);
    writeFileSync(object, whole.subarray(0, -1));
    expect(await rig.undo()).toMatchObject({ outcome: "partial", failed: [{ path: "a" }], restored: [{ path: "b" }] });
    writeFileSync(object, whole);
    expect(await rig.undo()).toMatchObject({ outcome: "done", restored: [{ path: "a" }] });
    expect([read(rig, "a"), read(rig, "b")]).toEqual(["0", "00"]);
  });

  test("a crash between snapshot and record is told, and the next calls are not affected", async () => {
    const rig = openRig();
    put(rig, "a", "0");
    const call = { id: rig.mintCall(), turn: rig.newTurn(), session: rig.session, tool: { name: "exec" } };
    await rig.workspace.tracker().begin(call, [""]);
    put(rig, "a", "half done");
    const later = createUndoRig({ after: rig });
    await expect(later.undo({ target: { call: call.id } })).rejects.toMatchObject({
      message: expect.stringContaining("interrupted before Harness recorded its changes"),
    });
    await sh(later, "printf 1 > a");
    expect(await later.undo()).toMatchObject({ outcome: "done" });
    expect(read(rig, "a")).toBe("half done");
  });

  test("what an earlier run has read is not read again", async () => {
    const rig = openRig();
    for (let at = 0; at < 250; at++) put(rig, `f${at}`, `${at}`);
    // Younger files are read twice, by design.
    const changed = statSync(join(rig.root, "f249")).ctimeMs;
    await expect.poll(() => Date.now() - changed, { interval: 5 }).toBeGreaterThan(RACY_MS + 1);
    await sh(rig, "true");
    const { loadBaseline } = await import("./baseline.ts");
    const { createSeal } = await import("./seal.ts");
    const [folder = ""] = readdirSync(rig.storeDirectory);
    const known = loadBaseline(join(rig.storeDirectory, folder, "baseline"), createSeal(rig.key), () => true);
    expect(known).toHaveLength(250);
  });
});

describe("the recorder", () => {
  test("refuses a mutating call when it cannot be snapshotted, and lets others through", async () => {
    const rig = openRig();
    put(rig, "a", "0");
    const [folder = ""] = readdirSync(rig.storeDirectory);
    // A file where a folder has to be fails for every user, root too.
    renameSync(join(rig.storeDirectory, folder), `${join(rig.storeDirectory, folder)}-away`);
    writeFileSync(join(rig.storeDirectory, folder), "");
    const result = await rig.call("fs.write", { path: "a", content: "1" });
    expect(result).toMatchObject({ outcome: "error", reason: "ToolFailed" });
    expect(JSON.stringify(result.content)).toContain("could not save the files");
    expect(read(rig, "a")).toBe("0");
    expect(await rig.call("fs.read", { path: "a" })).toMatchObject({ outcome: "ok" });
  });

  test("records what a failing command changed", async () => {
    const rig = openRig();
    expect(await sh(rig, "printf 1 > a; exit 3")).toMatchObject({ outcome: "error" });
    await rig.undo();
    expect(readdirSync(rig.root)).toEqual([]);
  });

  test("a call on one path does not look at the others", async () => {
    const rig = openRig();
    put(rig, "other", "0");
    await rig.call("fs.write", { path: "a/b", content: "1" });
    put(rig, "other", "mine");
    expect(rig.workspace.read().sets[0]?.files.map(({ path }) => path)).toEqual(["a", "a/b"]);
  });
});

test("works beside git and never removes an untracked file", async () => {
  const rig = openRig();
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], { cwd: rig.root });
  git("init", "-q");
  put(rig, "tracked", "0");
  put(rig, "untracked", "mine");
  git("add", "tracked");
  git("commit", "-qm", "first");
  const head = String(git("rev-parse", "HEAD"));
  await sh(
    rig,
    "printf 1 > tracked; git -c user.name=a -c user.email=a@example.com commit -qam second; printf x > new",
  );
  expect(String(git("rev-parse", "HEAD"))).not.toBe(head);
  expect(await rig.undo()).toMatchObject({ outcome: "done" });
  expect(String(git("rev-parse", "HEAD"))).toBe(head);
  expect([read(rig, "tracked"), read(rig, "untracked"), existsSync(join(rig.root, "new"))]).toEqual([
    "0",
    "mine",
    false,
  ]);
});

test("fifteen random sequences are taken back exactly (bench/undo.ts runs a thousand)", async () => {
  const seeds = Array.from({ length: 15 }, (_, at) => at + 1);
  // Each waits for its commands most of the time, so several run side by side.
  const results = await Promise.all(
    Array.from({ length: 5 }, async (_, lane) => {
      const found = [];
      for (const seed of seeds.filter((candidate) => candidate % 5 === lane)) {
        const { restored, redone, bystandersChanged } = await runUndoSequence(seed, 8);
        found.push({ seed, restored, redone, bystandersChanged });
      }
      return found;
    }),
  );
  const expected = seeds.map((seed) => ({ seed, restored: true, redone: true, bystandersChanged: 0 }));
  expect(results.flat().sort((a, b) => a.seed - b.seed)).toEqual(expected);
});

test("the changes of a session have the texts of a path, and say why there are none", async () => {
  const rig = openRig();
  put(rig, "a.txt", "one");
  put(rig, "mode.sh", "echo");
  await rig.call("fs.write", { path: "a.txt", content: "two" });
  const turn = rig.newTurn();
  await rig.call("fs.write", { path: "a.txt", content: "three" });
  await sh(
    rig,
    "chmod 700 mode.sh; head -c 300000 /dev/zero > big; printf 'a\\0b' > binary; ln -s a.txt link; mkdir d",
  );
  const changed = (path: string, query = {}) => sessionChanges(rig.workspace, rig.session, { path, ...query }).file;
  expect(changed("a.txt")).toEqual({ path: "a.txt", what: "changed", before: "one", after: "three" });
  expect(changed("a.txt", { turn })).toMatchObject({ before: "two", after: "three" });
  expect(changed("link")).toMatchObject({ what: "added", after: "-> a.txt" });
  expect(["mode.sh", "big", "binary", "d"].map((path) => changed(path)?.why)).toEqual([
    "only its mode changed",
    "it has 300000 bytes; at most 262144 are shown",
    "it is not text",
    "it is a directory",
  ]);
  expect(changed("other")).toBeUndefined();
  expect(sessionChanges(rig.workspace, rig.session, { turn: rig.newTurn() }).changes).toEqual([]);
});
