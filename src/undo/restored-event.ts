/** What an undo or a redo did, as the event that goes into the log of the session whose calls it was about. Pure. */
import type { EventPayload } from "#protocol";
import type { UndoReport } from "./undo.ts";

/** Paths of one kind that the event names; the counts tell of all. */
const EVENT_MAX_PATHS = 200;

/** Undefined when nothing was changed: it was refused, or only planned. `by`: the client, or the command. */
export function restoredEvent(report: UndoReport, by: string): EventPayload<"WorkspaceRestored"> | undefined {
  const { action, outcome, turns, calls, restored, conflicts, failed } = report;
  if (outcome === "refused" || outcome === "planned") return undefined;
  const shown = <Path>(paths: readonly Path[]): Path[] => paths.slice(0, EVENT_MAX_PATHS);
  const withReason = (paths: readonly { readonly path: string; readonly why: string }[]) =>
    shown(paths).map(({ path, why }) => ({ path, why }));
  return {
    action,
    by,
    turns: [...turns],
    calls: [...calls],
    restored: shown(restored).map(({ path, what }) => ({ path, what })),
    conflicts: withReason(conflicts),
    failed: withReason(failed),
    counts: { restored: restored.length, conflicts: conflicts.length, failed: failed.length },
  };
}
