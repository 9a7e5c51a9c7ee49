/** Undo and redo in a folder from outside its sessions. The log of the session is held meanwhile, and is told. */
import { defined } from "#base";
import { nextTs } from "#engine";
import { type EventPayload, reasonText, type SessionId } from "#protocol";
import { createUndoStore, forgetSession, redo, restoredEvent, type UndoReport, type UndoTarget, undo } from "#undo";
import { createWorkspaceRestore } from "#world";
import type { ProgramPorts } from "./ports.ts";
import { logWith, withStore } from "./session-store.ts";
import { undoPlace } from "./undo-place.ts";

export interface RestoreRequest {
  readonly action: "undo" | "redo";
  /** Absolute. */
  readonly folder: string;
  /** Default: the one that changed the folder last. */
  readonly session?: SessionId;
  readonly target: UndoTarget;
  readonly skipConflicts: boolean;
  /** Nothing is changed. */
  readonly dryRun: boolean;
}

export async function restoreFolder(ports: ProgramPorts, asked: RestoreRequest): Promise<UndoReport> {
  const { action, folder, session, target, skipConflicts } = asked;
  const store = createUndoStore({ ...undoPlace(ports), clock: ports.clock });
  const port = createWorkspaceRestore(folder);
  const request = { workspace: store.workspace(folder), port, target, skipConflicts };
  const restore = action === "undo" ? undo : redo;
  const plan = await restore({ ...request, dryRun: true, ...defined({ session }) });
  if (asked.dryRun) return plan;
  return withSessionLog(ports, folder, plan.session, async (record) => {
    const done = await restore({ ...request, session: plan.session });
    const event = restoredEvent(done, `harness ${action}`);
    if (event !== undefined) await record(event);
    return done;
  });
}

/** Lets go of what undo keeps of a session; tells of how many folders. Throws KeyInvalid at once when that cannot be opened. */
export function undoForgetter(ports: ProgramPorts): (session: SessionId) => number {
  const place = undoPlace(ports);
  return (session) => forgetSession(place, session);
}

type RecordEvent = (event: EventPayload<"WorkspaceRestored">) => Promise<void>;

/**
 * Holds the log of the session while `work` runs, so that no turn of it changes the same files, and so that the model is
 * told. Rejects with SessionBusy while the session is open elsewhere: the place to undo is there then.
 */
async function withSessionLog<Result>(
  ports: ProgramPorts,
  folder: string,
  session: SessionId,
  work: (record: RecordEvent) => Promise<Result>,
): Promise<Result> {
  const { terminal, clock } = ports;
  const flags = await logWith(ports, folder, session);
  if (flags === undefined) {
    return work(async () =>
      terminal.err(`The log does not contain ${session}, so the model will not see this change.\n`),
    );
  }
  return withStore(ports, flags, async (store) => {
    const log = await store.acquire(session);
    for (const repair of log.repairs ?? []) terminal.err(`${reasonText("LogRepaired", { detail: repair })}\n`);
    if (log.headProblem !== undefined) terminal.err(`${log.headProblem}\n`);
    try {
      return await work(async (payload) => {
        const ts = nextTs(log.lastTs, clock.now());
        await log.append([{ kind: "WorkspaceRestored", ts, payload }], ts);
      });
    } finally {
      await log.release();
    }
  });
}
