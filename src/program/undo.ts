/** Undo for all sessions of a program: one store, loaded with the first call that changes something. */
import { once } from "#base";
import type { RestoreCommand } from "#control";
import type { Undo } from "#session";
import type { UndoTarget } from "#undo";
import { createWorkspaceRestore } from "#world";
import type { HarnessOptions } from "./options.ts";

/** One store for all sessions and a recorder for each, loaded with the first call that changes something. */
export function prepareUndo(
  { undo: place = "off", clock }: Pick<HarnessOptions, "undo" | "clock">,
  ownPaths: readonly string[],
): Undo | undefined {
  if (place === "off") return undefined;
  const loaded = once(async () => {
    const undo = await import("#undo");
    return { ...undo, undoStore: undo.createUndoStore({ ...place, clock, ownPaths }) };
  });
  return {
    recorder(files) {
      const recorder = once(async () => {
        const { createUndoRecorder, undoStore } = await loaded();
        return createUndoRecorder(undoStore, files);
      });
      // What only reads needs none, unless it is part of a call that changes something.
      return async (call, next) =>
        call.tool.class === "mutating" || call.parent !== undefined ? (await recorder())(call, next) : next(call);
    },
    async changes(root, session, query) {
      const { sessionChanges, undoStore } = await loaded();
      return sessionChanges(undoStore.workspace(root), session, query);
    },
    async restore(bus, root, command, by) {
      const { undo, redo, restoredEvent, undoStore } = await loaded();
      const report = await (command.kind === "Redo" ? redo : undo)({
        workspace: undoStore.workspace(root),
        port: createWorkspaceRestore(root),
        session: bus.session,
        target: restoreTarget(command),
        skipConflicts: command.skip_conflicts === true,
        dryRun: command.kind === "UndoTurn" && command.dry_run === true,
      });
      const event = restoredEvent(report, by);
      if (event !== undefined) await bus.publish("WorkspaceRestored", event);
      return report;
    },
  };
}

function restoreTarget(command: RestoreCommand): UndoTarget {
  if ("call_id" in command && command.call_id !== undefined) return { call: command.call_id };
  return "turn" in command && command.turn !== undefined ? { turn: command.turn } : "last";
}
