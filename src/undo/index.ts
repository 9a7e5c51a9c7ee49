/** Undo: what calls changed in the workspace, kept sealed, and the way back. */
export { forgetSession } from "./forget.ts";
export { createUndoRecorder } from "./recorder.ts";
export { rekeyUndo } from "./rekey.ts";
export { restoredEvent } from "./restored-event.ts";
export { type ChangesQuery, type SessionChanges, sessionChanges } from "./session-changes.ts";
export { redo, type UndoReport, type UndoRequest, type UndoTarget, undo } from "./undo.ts";
export { createUndoStore, type UndoStoreOptions } from "./undo-store.ts";
export type { UndoLimits, WorkspaceUndo } from "./workspace-undo.ts";
