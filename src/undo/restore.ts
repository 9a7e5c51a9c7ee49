/**
 * Carries a plan out, through the one port that puts workspace files back. Each path is looked at once more right before
 * it is changed. What fails is reported and the rest goes on: running it again finishes the job.
 */
import { messageOf } from "#base";
import type { RestorePort } from "#world";
import { type MaybeState, sameState, type UncoveredPath } from "./change-set.ts";
import { type RestorePlan, type RestoreStep, stateOf } from "./restore-plan.ts";
import type { WorkspaceUndo } from "./workspace-undo.ts";

const OWNER_ALL = 0o700;

export interface RestoreOutcome {
  readonly restored: readonly RestoreStep[];
  readonly failed: readonly UncoveredPath[];
}

/** Never throws for a path: its failure is in the outcome. */
export async function carryOut(
  workspace: WorkspaceUndo,
  port: RestorePort,
  { steps }: Pick<RestorePlan, "steps">,
): Promise<RestoreOutcome> {
  const failed = new Map<string, string>();
  const shallowFirst = [...steps].sort((a, b) => (a.path < b.path ? -1 : 1));
  const deepFirst = shallowFirst.toReversed();

  async function attempt(list: readonly RestoreStep[], action: (step: RestoreStep) => Promise<void>): Promise<void> {
    for (const step of list) {
      if (failed.has(step.path)) continue;
      try {
        await action(step);
      } catch (error) {
        failed.set(step.path, messageOf(error));
      }
    }
  }

  // Directories are opened up first and get their modes last, so that a read-only one does not stop what is in it.
  await attempt(shallowFirst, async ({ path, present }) => {
    if (present?.kind === "directory" && (present.mode & OWNER_ALL) !== OWNER_ALL) {
      await port.setMode(path, present.mode | OWNER_ALL);
    }
  });
  await attempt(deepFirst, async (step) => {
    const { path, present, target } = step;
    if (present === null || present.kind === target?.kind) return;
    if (present.kind === "directory") return port.removeDirectory(path);
    if (await isDone(workspace, port, step)) return;
    // A file or link in the place of another is replaced in one go below.
    if (target === null || target.kind === "directory") await port.removeEntry(path);
  });
  await attempt(shallowFirst, async ({ path, present, target }) => {
    if (target?.kind !== "directory" || present?.kind === "directory") return;
    await port.makeDirectory(path, target.mode | OWNER_ALL);
  });
  await attempt(shallowFirst, async (step) => {
    const { path, present, target } = step;
    if (target === null || target.kind === "directory") return;
    if (present?.kind !== "directory" && (await isDone(workspace, port, step))) return;
    if (target.kind === "symlink") return port.putSymlink(path, target.target);
    if (present?.kind === "file" && present.hash === target.hash) return port.setMode(path, target.mode);
    const content = workspace.contents.get(target.hash);
    if (content === undefined) throw new Error("undo no longer has its content");
    await port.putFile(path, content, target.mode);
  });
  await attempt(deepFirst, async ({ path, target }) => {
    if (target?.kind === "directory") await port.setMode(path, target.mode);
  });
  return {
    restored: steps.filter(({ path }) => !failed.has(path)),
    failed: Array.from(failed, ([path, why]) => ({ path, why })),
  };
}

/** Whether the path is where it should be: a hard link goes with the other one. Throws when somebody has changed it. */
async function isDone(workspace: WorkspaceUndo, port: RestorePort, step: RestoreStep): Promise<boolean> {
  const now = stateOf(await port.inspect(step.path, workspace.limits.maxFileBytes), workspace);
  if (now !== "other" && now !== "unknown") {
    if (sameState(now, step.present)) return false;
    if (sameState(now, step.target)) return true;
  }
  throw new Error("changed while it was being restored");
}

/** What a step does, in a word or two. */
export function describeStep({ present, target }: Pick<RestoreStep, "present" | "target">): string {
  if (target === null) return "removed";
  if (present === null) return target.kind === "directory" ? "made again" : "brought back";
  return isModeOnly(present, target) ? "mode restored" : "restored";
}

function isModeOnly(a: NonNullable<MaybeState>, b: NonNullable<MaybeState>): boolean {
  if (a.kind === "directory") return b.kind === "directory";
  return a.kind === "file" && b.kind === "file" && a.hash === b.hash;
}
