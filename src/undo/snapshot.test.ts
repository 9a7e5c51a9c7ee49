import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import type { EntryState } from "./change-set.ts";
import { compareSnapshots, createSnapshotTaker, type KnownEntry, type Snapshot } from "./snapshot.ts";

const START_MS = 1_000_000;
const directory: EntryState = { kind: "directory", mode: 0o755 };
const file = (hash: string): EntryState => ({ kind: "file", mode: 0o644, size: 1, hash });

function known(ino: number, state: EntryState, birthMs = START_MS + 1): KnownEntry {
  const times = { mtimeNs: 1n, ctimeNs: 1n, birthNs: BigInt(birthMs) * 1_000_000n };
  return { ino: BigInt(ino), size: 1n, rawMode: 0o644n, settled: true, state, ...times };
}

function snapshot(entries: Readonly<Record<string, KnownEntry>>, parts: Partial<Snapshot> = {}): Snapshot {
  const map = new Map(Object.entries(entries));
  return { startedMs: START_MS, entries: map, leftOut: [], inPart: [], readCount: 0, ...parts };
}

test("what could not be read after the call is neither deleted nor unchanged: it is not covered", () => {
  const before = snapshot({ d: known(1, directory), "d/a": known(2, file("a")), b: known(3, file("b")) });
  const after = snapshot(
    { d: known(1, { ...directory, mode: 0 }) },
    { leftOut: [{ path: "d", why: "cannot be read" }] },
  );
  expect(compareSnapshots(before, after, () => true)).toEqual({
    files: [
      { path: "d", before: directory, after: { ...directory, mode: 0 } },
      { path: "b", before: file("b"), after: null, foundAt: "1" },
    ],
    uncovered: [{ path: "d", why: "after the call: cannot be read" }],
    leftOut: [{ path: "d", why: "cannot be read" }],
    rewritten: [],
  });
});

test("a new file that is older than the call was moved in, unless it was known under another name", () => {
  const before = snapshot({ a: known(1, file("a"), 5) });
  const after = snapshot({
    renamed: known(1, file("a"), 5),
    stranger: known(2, file("b"), 5),
    made: known(3, file("c")),
  });
  expect(compareSnapshots(before, after, () => true)).toEqual({
    files: [
      { path: "renamed", before: null, after: file("a"), leftAt: "1" },
      { path: "made", before: null, after: file("c"), leftAt: "1" },
      { path: "a", before: file("a"), after: null, foundAt: "1" },
    ],
    uncovered: [{ path: "stranger", why: "was moved here from a folder that undo does not cover" }],
    leftOut: [],
    rewritten: [],
  });
});

test("a tree that is known in part only is not half removed", () => {
  const inPart = [{ path: ".git", why: "in part" }];
  const whole = snapshot({ ".git": known(1, directory), ".git/HEAD": known(2, file("a")) }, { inPart });
  expect(compareSnapshots(whole, snapshot({}), () => true)).toMatchObject({
    files: [],
    uncovered: [{ path: ".git", why: "in part" }],
  });
  expect(compareSnapshots(snapshot({}), whole, () => true)).toMatchObject({
    files: [],
    uncovered: [{ path: ".git", why: "in part" }],
  });
});

test("a folder that becomes a link while it is looked at does not bring a file from outside into the store", async () => {
  const { root } = createTemporaryWorkspace();
  const outside = createTemporaryWorkspace().root;
  mkdirSync(join(root, "d"));
  for (const [folder, text] of [
    [join(root, "d"), "mine"],
    [outside, "secret"],
  ] as const)
    writeFileSync(join(folder, "key"), text);
  // Asked about each path between listing and reading it.
  const never = new Set<string>();
  never.has = (path) => {
    if (path === "d/key") {
      renameSync(join(root, "d"), join(root, "moved"));
      symlinkSync(outside, join(root, "d"));
    }
    return false;
  };
  const kept: string[] = [];
  const keep = (content: Uint8Array): string => `${kept.push(Buffer.from(content).toString())}`;
  const taker = createSnapshotTaker({ root, never, maxEntries: 100, maxFileBytes: 100, keep });
  const { entries } = await taker.take([""]);
  expect(kept).toEqual([]);
  expect(entries.has("d/key")).toBe(false);
});
