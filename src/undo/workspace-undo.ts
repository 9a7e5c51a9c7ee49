/**
 * The record of one workspace: snapshots around calls, the change sets they make, and the contents both refer to, within
 * bounds. The oldest change sets give way when the store is full. It changes nothing in the workspace.
 */
import { rmSync } from "node:fs";
import { join, relative } from "node:path";
import { type Clock, diskTrouble } from "#base";
import type { Tool, ToolCall } from "#engine";
import type { SessionId } from "#protocol";
import { makePrivateDirectory } from "#world";
import { loadBaseline, saveBaseline } from "./baseline.ts";
import type { ChangeSet, FileChange, OpenCall, RewrittenPath } from "./change-set.ts";
import { type ContentStore, createContentStore } from "./content-store.ts";
import type { Seal } from "./seal.ts";
import { createSetLog } from "./set-log.ts";
import { compareSnapshots, createSnapshotTaker, type Snapshot, type SnapshotTaker } from "./snapshot.ts";

/** So many files read in one snapshot make it worth to keep what they looked like for the next run. */
const BASELINE_MIN_READS = 200;
/** How full the store may stay after making room. */
const ROOM_RATIO = 0.9;

export interface UndoLimits {
  /** Contents kept for one workspace. */
  readonly maxStoreBytes: number;
  /** A larger file is not covered. */
  readonly maxFileBytes: number;
  /** Entries that a scan looks at. */
  readonly maxEntries: number;
  /** Change sets kept for one workspace. */
  readonly maxSets: number;
  /** Older change sets are dropped. */
  readonly maxAgeMs: number;
  /** Workspaces kept; the one unused for longest goes first. */
  readonly maxWorkspaces: number;
}

export interface PendingChange {
  /** Compares and records; undefined when nothing changed. */
  finish(): Promise<ChangeSet | undefined>;
}

export interface TrackedCall extends Pick<ToolCall, "id" | "turn" | "session"> {
  readonly tool: Pick<Tool, "name">;
}

/** Takes the snapshots of one session. */
export interface CallTracker {
  /** `paths`: what the call may touch, with all below; [""] when that is not known. Throws when it cannot be taken. */
  begin(call: TrackedCall, paths: readonly string[]): Promise<PendingChange>;
}

export interface WorkspaceUndo {
  readonly root: string;
  readonly limits: UndoLimits;
  readonly contents: ContentStore;
  tracker(): CallTracker;
  /** Oldest first. */
  read(session?: SessionId): {
    readonly sets: readonly ChangeSet[];
    readonly open: readonly OpenCall[];
    readonly damaged: number;
  };
  /** Replaces a set, to mark it undone or in effect again. */
  save(set: ChangeSet): void;
  nameOf(content: Uint8Array): string;
  now(): number;
}

export interface WorkspaceUndoParts {
  readonly directory: string;
  readonly root: string;
  readonly seal: Seal;
  readonly clock: Pick<Clock, "now">;
  readonly settled: () => number;
  readonly limits: UndoLimits;
  /** Absolute paths that are never looked at, the store itself among them. */
  readonly ownPaths: readonly string[];
}

export function openWorkspaceUndo({
  directory,
  root,
  seal,
  clock,
  settled,
  limits,
  ownPaths,
}: WorkspaceUndoParts): WorkspaceUndo {
  makePrivateDirectory(directory);
  const contents = createContentStore(join(directory, "objects"), seal, () => Date.now());
  const log = createSetLog(join(directory, "sets"), seal);
  const baselineFile = join(directory, "baseline");
  const takers = new Set<SnapshotTaker>();
  const never = new Set(ownPaths.map((path) => relative(root, path)));
  let order = 0;
  let setCount: number | undefined;
  let lastTime: number | undefined;

  /** Drops the oldest sets until both bounds hold again, and every content that nothing refers to. */
  function makeRoom(wantedBytes: number): void {
    const goal = limits.maxStoreBytes * ROOM_RATIO - wantedBytes;
    const sets = [...log.read().sets];
    const collect = (): void => void contents.collect(liveContents(sets, takers));
    collect();
    while (sets.length > 0 && (contents.sizeBytes() > goal || sets.length > limits.maxSets)) {
      for (const set of sets.splice(0, Math.ceil(sets.length / 10))) log.remove(set);
      collect();
    }
    const oldest = sets[0]?.time ?? clock.now();
    for (const call of log.read().open) if (call.time < oldest) log.dismiss(call);
    setCount = sets.length;
  }

  function keep(content: Uint8Array): string {
    if (contents.sizeBytes() + content.length > limits.maxStoreBytes) {
      const name = seal.name(content);
      if (contents.has(name)) return name;
      makeRoom(content.length);
      // Named all the same: without its content it can be compared, but not brought back.
      if (contents.sizeBytes() + content.length > limits.maxStoreBytes) return name;
    }
    return contents.put(content);
  }

  /** Returns how many sets are left. */
  function dropExpired(): number {
    const { sets } = log.read();
    const oldMs = settled() - limits.maxAgeMs;
    const expired = sets.filter(({ time }) => time < oldMs);
    for (const set of expired) log.remove(set);
    return sets.length - expired.length;
  }

  /** After everything that is on record, also when the clock was set back: the newest set is the one that is undone first. */
  function nextTime(): number {
    lastTime ??= Math.max(0, ...log.read().sets.map(({ time }) => time + 1));
    lastTime = Math.max(lastTime, clock.now());
    return lastTime;
  }

  function record(set: ChangeSet): void {
    log.save(set);
    setCount = (setCount ?? dropExpired() - 1) + 1;
    if (setCount > limits.maxSets) makeRoom(0);
  }

  /** What a call of the agent wrote again as it was stays its own, so that undo does not take it for somebody else's. */
  function followRewritten(rewritten: readonly RewrittenPath[]): void {
    const left = new Map(rewritten.map((one) => [one.path, one]));
    // Only in the newest set: the one before it has the time that the newest has found.
    for (const set of log.read().sets.toReversed()) {
      const files = set.files.map((change) => followed(change, left.get(change.path)));
      const moved = files.filter((change, index) => change !== set.files[index]);
      for (const { path } of moved) left.delete(path);
      if (moved.length > 0) log.save({ ...set, files });
    }
  }

  function tracker(): CallTracker {
    const { maxEntries, maxFileBytes } = limits;
    const taker = createSnapshotTaker({ root, never, maxEntries, maxFileBytes, keep });
    takers.add(taker);
    let seeded = false;

    async function take(paths: readonly string[], before?: Snapshot): Promise<Snapshot> {
      if (!seeded) {
        seeded = true;
        taker.seed(loadBaseline(baselineFile, seal, (hash) => contents.has(hash)));
      }
      const snapshot = await taker.take(paths, before);
      if (snapshot.readCount >= BASELINE_MIN_READS) saveSpeedily(() => saveBaseline(baselineFile, seal, taker.known));
      return snapshot;
    }

    return {
      async begin({ id: call, turn, session, tool: { name: tool } }, paths) {
        const facts = { call, turn, session, tool, time: nextTime() };
        const before = await take(paths);
        log.begin(paths.includes("") ? facts : { ...facts, paths });
        return {
          async finish() {
            const after = await take(paths, before);
            const { rewritten, ...changes } = compareSnapshots(before, after, (hash) => contents.has(hash));
            if (rewritten.length > 0) followRewritten(rewritten);
            if (changes.files.length === 0 && changes.uncovered.length === 0) {
              log.dismiss(facts);
              return undefined;
            }
            order += 1;
            const set: ChangeSet = { ...facts, order, ...changes };
            record(set);
            return set;
          },
        };
      },
    };
  }

  return {
    root,
    limits,
    contents,
    tracker,
    read: (session) => log.read(session),
    save: (set) => log.save(set),
    nameOf: (content) => seal.name(content),
    now: () => clock.now(),
  };
}

function followed(change: FileChange, again: RewrittenPath | undefined): FileChange {
  if (again === undefined) return change;
  if (change.restoredAt === again.foundAt) return { ...change, restoredAt: again.leftAt };
  return change.leftAt === again.foundAt ? { ...change, leftAt: again.leftAt } : change;
}

/** What only saves time is not worth a call: a disk that does not take it refuses what matters by itself. */
function saveSpeedily(save: () => void): void {
  try {
    save();
  } catch (error) {
    if (diskTrouble(error) === undefined) throw error;
  }
}

/** Names of what change sets refer to. */
export function contentsOf(sets: readonly ChangeSet[]): Set<string> {
  const names = new Set<string>();
  for (const { files } of sets) {
    for (const { before, after } of files) {
      if (before?.kind === "file") names.add(before.hash);
      if (after?.kind === "file") names.add(after.hash);
    }
  }
  return names;
}

function liveContents(sets: readonly ChangeSet[], takers: Iterable<SnapshotTaker>): Set<string> {
  const live = contentsOf(sets);
  for (const taker of takers) {
    for (const { state } of taker.known.values()) if (state?.kind === "file") live.add(state.hash);
  }
  return live;
}

/** Everything that was kept for a workspace. */
export function forgetWorkspace(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}
