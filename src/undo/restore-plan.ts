/**
 * Works out what has to happen for some change sets to be undone or redone, and what stands in the way. It looks at the
 * workspace and changes nothing; a path that is not as the call left it is a conflict and is not part of the plan.
 */
import { posix } from "node:path";
import { defined, EffectError } from "#base";
import type { CallId } from "#protocol";
import type { PresentEntry, RestorePort } from "#world";
import {
  type ChangeSet,
  difference,
  type FileChange,
  type MaybeState,
  sameState,
  type UncoveredPath,
} from "./change-set.ts";
import type { WorkspaceUndo } from "./workspace-undo.ts";

export type Direction = "undo" | "redo";

export interface RestoreStep {
  readonly path: string;
  readonly present: MaybeState;
  readonly target: MaybeState;
}

export interface Conflict extends UncoveredPath {
  /** The call whose change cannot be taken back (or made again). */
  readonly call: CallId;
}

export interface RestorePlan {
  readonly steps: readonly RestoreStep[];
  readonly conflicts: readonly Conflict[];
  /** Directories that the agent made and that hold something else now: they stay. */
  readonly kept: readonly UncoveredPath[];
  /** Paths that are already as they should be. */
  readonly alreadyThere: readonly string[];
}

type Seen = MaybeState | "other" | "unknown";

const WRITTEN_AGAIN = "was written again after the call, with the same contents";

/** `sets` in the order in which they are taken: newest first to undo, oldest first to redo. */
export async function planRestore(
  workspace: WorkspaceUndo,
  port: RestorePort,
  sets: readonly ChangeSet[],
  direction: Direction,
): Promise<RestorePlan> {
  const present = new Map<string, Seen>();
  const wanted = new Map<string, MaybeState>();
  const owner = new Map<string, CallId>();
  const conflicts = new Map<string, Conflict>();
  const conflict = (path: string, why: string): void => {
    const call = owner.get(path);
    if (call !== undefined && !conflicts.has(path)) conflicts.set(path, { path, why, call });
    wanted.delete(path);
  };

  const settled = new Set<string>();
  /** When what is at a path, or was there before the calls that are taken back, was last written. */
  const writtenAt = new Map<string, string | undefined>();
  const isTheirs = direction === "undo" ? writtenByOthers(workspace) : () => false;
  const goals = new Map<string, MaybeState>();
  for (const set of sets) {
    for (const { path, before, after } of set.files) goals.set(path, direction === "undo" ? before : after);
  }
  for (const set of sets) {
    for (const change of set.files) {
      const { path, before, after } = change;
      if (conflicts.has(path) || settled.has(path)) continue;
      owner.set(path, set.call);
      const [expected, target] = direction === "undo" ? [after, before] : [before, after];
      let now = wanted.get(path) ?? null;
      if (!wanted.has(path)) {
        const looked = await look(workspace, port, path);
        if ("refused" in looked) {
          conflict(path, looked.refused);
          continue;
        }
        const { seen } = looked;
        present.set(path, seen);
        writtenAt.set(path, looked.writtenAt);
        if (seen === "other" || seen === "unknown") {
          conflict(path, difference(expected, seen));
          continue;
        }
        now = seen;
      }
      const goal = goals.get(path) ?? null;
      if (sameState(now, expected) && isTheirs(change, writtenAt.get(path))) conflict(path, WRITTEN_AGAIN);
      else if (sameState(now, expected) || sameState(now, target)) wanted.set(path, target);
      else if (now === present.get(path) && sameState(now, goal)) {
        // An earlier attempt, or a directory that had to stay, has left it where the sets lead together.
        wanted.set(path, goal);
        settled.add(path);
      } else conflict(path, difference(expected, now));
      writtenAt.set(path, change.foundAt);
    }
  }

  const stepOf = (path: string): RestoreStep | undefined => {
    const was = present.get(path);
    const target = wanted.get(path);
    if (target === undefined || was === undefined || was === "other" || was === "unknown") return undefined;
    return sameState(was, target) ? undefined : { path, present: was, target };
  };
  const paths = [...wanted.keys()].sort();

  for (const path of paths) {
    const step = stepOf(path);
    if (step === undefined || step.target === null) continue;
    if (!(await hasParent(path, port, wanted, conflicts))) conflict(path, "its directory no longer exists");
    else if (isContentMissing(step, workspace)) conflict(path, "undo no longer has its content");
  }
  const kept: UncoveredPath[] = [];
  for (const path of paths.toReversed()) {
    const step = stepOf(path);
    if (step?.present?.kind !== "directory" || step.target?.kind === "directory") continue;
    const others = (await port.names(path)).filter((name) => !leaves(stepOf(`${path}/${name}`)));
    if (others.length === 0) continue;
    const why = `holds ${others.slice(0, 3).join(", ")}${others.length > 3 ? ", …" : ""}`;
    if (step.target === null) {
      kept.push({ path, why });
      wanted.delete(path);
    } else {
      conflict(path, `is a directory that ${why}`);
    }
  }
  const steps = paths.map(stepOf).filter((step) => step !== undefined);
  const changed = new Set([...steps, ...kept].map(({ path }) => path));
  return {
    steps,
    conflicts: [...conflicts.values()],
    kept,
    alreadyThere: paths.filter((path) => wanted.has(path) && !changed.has(path)),
  };
}

/**
 * Whether the state that a call left was written by somebody else since: not by that call, nor by one that wrote it again, nor by
 * undo or redo. A change of an earlier version of the program does not know when it was written.
 */
function writtenByOthers(workspace: WorkspaceUndo): (change: FileChange, writtenAt: string | undefined) => boolean {
  let known: Set<string> | undefined;
  return ({ path, leftAt }, writtenAt) => {
    if (leftAt === undefined || writtenAt === undefined || writtenAt === leftAt) return false;
    known ??= new Set(
      workspace
        .read()
        .sets.flatMap(({ files }) =>
          files.flatMap((file) => [file.leftAt, file.restoredAt].map((at) => `${at} ${file.path}`)),
        ),
    );
    return !known.has(`${writtenAt} ${path}`);
  };
}

/** The state of a path now; `refused` when it cannot be reached inside the workspace. */
async function look(
  workspace: WorkspaceUndo,
  port: RestorePort,
  path: string,
): Promise<{ readonly seen: Seen; readonly writtenAt?: string } | { readonly refused: string }> {
  try {
    const entry = await port.inspect(path, workspace.limits.maxFileBytes);
    return { seen: stateOf(entry, workspace), ...defined({ writtenAt: writtenAtOf(entry) }) };
  } catch (error) {
    if (error instanceof EffectError) return { refused: error.message };
    throw error;
  }
}

export function stateOf(entry: PresentEntry | undefined, workspace: Pick<WorkspaceUndo, "nameOf">): Seen {
  if (entry === undefined) return null;
  if (entry.kind === "other") return "other";
  if (entry.kind === "symlink") return { kind: "symlink", target: entry.target };
  if (entry.kind === "directory") return entry;
  if (entry.content === undefined) return "unknown";
  return { kind: "file", mode: entry.mode, size: entry.content.length, hash: workspace.nameOf(entry.content) };
}

/** As a change set has it. */
export function writtenAtOf(entry: PresentEntry | undefined): string | undefined {
  return entry?.kind === "file" || entry?.kind === "symlink" ? String(entry.mtimeNs) : undefined;
}

/** Whether the step takes the entry away from its directory. */
function leaves(step: RestoreStep | undefined): boolean {
  return step !== undefined && step.target === null;
}

function isContentMissing({ present, target }: RestoreStep, workspace: WorkspaceUndo): boolean {
  if (target?.kind !== "file") return false;
  if (present?.kind === "file" && present.hash === target.hash) return false;
  return !workspace.contents.has(target.hash);
}

async function hasParent(
  path: string,
  port: RestorePort,
  wanted: ReadonlyMap<string, MaybeState>,
  conflicts: ReadonlyMap<string, Conflict>,
): Promise<boolean> {
  const parent = posix.dirname(path);
  if (parent === ".") return true;
  const planned = conflicts.has(parent) ? undefined : wanted.get(parent);
  if (planned !== undefined) return planned?.kind === "directory";
  return (await port.inspect(parent, 0))?.kind === "directory";
}
