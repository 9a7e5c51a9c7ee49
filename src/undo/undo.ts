/**
 * Takes back, or makes again, what calls of an agent have changed in a workspace: exactly those paths and no others. A
 * path that somebody else has changed since is a conflict; by default one conflict means that nothing is changed at all.
 */

import { defined } from "#base";
import { type CallId, ReasonError, type ReplyOf, type SessionId, type TurnId } from "#protocol";
import type { RestorePort } from "#world";
import type { ChangeSet, OpenCall, UncoveredPath } from "./change-set.ts";
import { carryOut, describeStep } from "./restore.ts";
import { type Conflict, type Direction, planRestore, type RestoreStep, writtenAtOf } from "./restore-plan.ts";
import type { WorkspaceUndo } from "./workspace-undo.ts";

export type UndoTarget = { readonly call: CallId } | { readonly turn: TurnId } | "last";

export interface UndoRequest {
  readonly workspace: WorkspaceUndo;
  readonly port: RestorePort;
  /** `last`: the newest turn that can be undone, or the newest undo that can be redone. */
  readonly target: UndoTarget;
  /** Default: whichever session the target is in. */
  readonly session?: SessionId;
  readonly dryRun?: boolean;
  /** Leaves the paths in conflict as they are and does the others. */
  readonly skipConflicts?: boolean;
}

/** What the commands answer with; in a dry run and when it was refused, `restored` is what would be done. */
export type UndoReport = ReplyOf<"UndoTurn">["result"];

/** Throws NothingToUndo when there is nothing, or when it was undone already. */
export function undo(request: UndoRequest): Promise<UndoReport> {
  return restore("undo", request);
}

/** Throws NothingToUndo when nothing of it was undone. */
export function redo(request: UndoRequest): Promise<UndoReport> {
  return restore("redo", request);
}

async function restore(action: Direction, request: UndoRequest): Promise<UndoReport> {
  const { workspace, port, dryRun = false, skipConflicts = false } = request;
  const { sets: recorded, open } = workspace.read(request.session);
  const chosen = action === "undo" ? chooseUndo(recorded, open, request.target) : chooseRedo(recorded, request.target);
  const sets = action === "undo" ? chosen.toReversed() : chosen;
  const [first] = sets;
  if (first === undefined) throw nothing(action, "there is nothing");
  const plan = await planRestore(workspace, port, sets, action);
  const conflicts = plan.conflicts.map((conflict) => withLaterCall(conflict, recorded, chosen));
  const refused = conflicts.length > 0 && !skipConflicts;
  const result = refused || dryRun ? { restored: plan.steps, failed: [] } : await carryOut(workspace, port, plan);
  // With a failure it stays as it was, so that the same command finishes the job.
  const isEffective = plan.steps.length > 0 || conflicts.length === 0;
  if (!refused && !dryRun) {
    const written = withRestored(chosen, await restoredAt(port, result.restored));
    if (result.failed.length === 0 && isEffective) mark(workspace, written, action);
    else for (const set of written) workspace.save(set);
  }
  const isWhole = result.failed.length === 0 && conflicts.length === 0;
  return {
    action,
    outcome: dryRun ? "planned" : refused ? "refused" : isWhole ? "done" : "partial",
    ...(refused && !dryRun ? { reason: "UndoConflict" as const } : {}),
    session: first.session,
    turns: [...new Set(chosen.map(({ turn }) => turn))],
    calls: chosen.map(({ call }) => call),
    restored: result.restored.map((step) => ({ path: step.path, what: describeStep(step) })),
    conflicts,
    failed: result.failed,
    kept: plan.kept,
    uncovered: byPath(chosen.flatMap(({ uncovered }) => uncovered)),
    leftOut: byPath(chosen.flatMap(({ leftOut }) => leftOut)),
    interrupted: open.filter(({ session }) => session === first.session),
  };
}

function chooseUndo(sets: readonly ChangeSet[], open: readonly OpenCall[], target: UndoTarget): readonly ChangeSet[] {
  if (target === "last") {
    const newest = sets.findLast(({ undoneAt }) => undoneAt === undefined);
    if (newest !== undefined) return inEffect(sets.filter(({ turn }) => turn === newest.turn));
    throw nothing(
      "undo",
      sets.length === 0 ? "no call has changed files here that undo covers" : "everything is already undone",
    );
  }
  const found = ofTarget(sets, target);
  const name = nameOf(target);
  const cut = open.find(({ call, turn }) => call === name || turn === name);
  if (found.length === 0 && cut !== undefined) {
    throw nothing(
      "undo",
      `${cut.tool} (${cut.call}) was interrupted before Harness recorded its changes, or is still running`,
    );
  }
  if (found.length === 0) throw nothing("undo", `undo has no changes of ${name} here`);
  const effective = inEffect(found);
  if (effective.length > 0) return effective;
  const at = new Date(found[0]?.undoneAt ?? 0).toISOString();
  throw nothing("undo", `${name} was already undone at ${at}; harness redo restores it`);
}

function chooseRedo(sets: readonly ChangeSet[], target: UndoTarget): readonly ChangeSet[] {
  const undone = sets.filter(({ undoneAt }) => undoneAt !== undefined);
  if (target !== "last") {
    const found = ofTarget(undone, target);
    if (found.length > 0) return found;
    throw nothing("redo", `${nameOf(target)} is not undone`);
  }
  const newest = Math.max(...undone.map(({ undoneAt }) => undoneAt ?? 0));
  const batch = undone.filter(({ undoneAt }) => undoneAt === newest);
  if (batch.length === 0) throw nothing("redo", "nothing is undone here");
  return batch;
}

function mark(workspace: WorkspaceUndo, sets: readonly ChangeSet[], action: Direction): void {
  // Two undos within one millisecond must stay apart, because redo takes the newest one.
  const latest = Math.max(0, ...workspace.read().sets.map(({ undoneAt }) => undoneAt ?? 0));
  const undoneAt = Math.max(workspace.now(), latest + 1);
  for (const { undoneAt: _, ...set } of sets) workspace.save(action === "undo" ? { ...set, undoneAt } : set);
}

/** When each file and link that was put back was written. */
async function restoredAt(port: RestorePort, steps: readonly RestoreStep[]): Promise<ReadonlyMap<string, string>> {
  const times = new Map<string, string>();
  for (const { path, target } of steps) {
    const at = target === null ? undefined : writtenAtOf(await port.inspect(path, 0).catch(() => undefined));
    if (at !== undefined) times.set(path, at);
  }
  return times;
}

/** So that the next undo knows what this one has written from what somebody else has. */
function withRestored(sets: readonly ChangeSet[], times: ReadonlyMap<string, string>): readonly ChangeSet[] {
  return sets.map((set) => ({
    ...set,
    files: set.files.map((change) => ({ ...change, ...defined({ restoredAt: times.get(change.path) }) })),
  }));
}

function ofTarget(sets: readonly ChangeSet[], target: Exclude<UndoTarget, "last">): readonly ChangeSet[] {
  return sets.filter((set) => ("call" in target ? set.call === target.call : set.turn === target.turn));
}

function nameOf(target: Exclude<UndoTarget, "last">): string {
  return "call" in target ? target.call : target.turn;
}

function inEffect(sets: readonly ChangeSet[]): readonly ChangeSet[] {
  return sets.filter(({ undoneAt }) => undoneAt === undefined);
}

/** Says when it was the agent itself that changed the path again. */
function withLaterCall(conflict: Conflict, recorded: readonly ChangeSet[], chosen: readonly ChangeSet[]): Conflict {
  const at = recorded.findIndex(({ call }) => call === conflict.call);
  const later = inEffect(recorded.slice(at + 1)).find(
    (set) => !chosen.includes(set) && set.files.some(({ path }) => path === conflict.path),
  );
  return later === undefined ? conflict : { ...conflict, why: `${conflict.why} (${later.call} changed it later)` };
}

function byPath(paths: readonly UncoveredPath[]): readonly UncoveredPath[] {
  return [...new Map(paths.map((uncovered) => [uncovered.path, uncovered])).values()];
}

function nothing(action: Direction, detail: string): ReasonError {
  return new ReasonError("NothingToUndo", `There is nothing to ${action}: ${detail}.`);
}
