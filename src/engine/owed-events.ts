/**
 * Events that the disk did not take and that say what has happened already: what a call did, what it cost, how a turn ended. They are
 * written as soon as there is room, before anything else, so that the log is right without a restart. What only would have happened
 * is dropped: whoever asked for it was refused.
 */

import { diskTrouble } from "#base";
import type { EventKind } from "#protocol";
import type { EventDraft } from "./store.ts";

/** How often the disk is asked whether it has room again. */
export const OWED_RETRY_MS = 1_000;
/** Of one session. No turn begins before they are written, so these are the last events of one. */
const MAX_OWED_EVENTS = 1_000;

const OWED: ReadonlySet<EventKind> = new Set([
  "ToolOutcome",
  "ToolResult",
  "CostIncremented",
  "DelegationEnded",
  "WorkspaceRestored",
  "Cancelled",
  "TurnTiming",
  "TurnEnded",
]);

export interface OwedEvents {
  readonly size: number;
  /** There are some, and it is time to try. */
  readonly isDue: boolean;
  /** Hands them to `store`; rejects when the disk still does not take them. */
  write(store: (drafts: readonly EventDraft[]) => Promise<void>): Promise<void>;
  /** Of a batch that was not stored, what has to be in the log. Nothing when `cause` will not pass. */
  take(batch: readonly EventDraft[], cause: unknown): void;
  /** They are not tried again. */
  stop(): void;
}

/** `retry` is called when it is time to try. */
export function createOwedEvents(
  schedule: (action: () => void, ms: number) => () => void,
  retry: () => void,
): OwedEvents {
  let owed: EventDraft[] = [];
  let callOff: (() => void) | undefined;
  let isStopped = false;

  function tryLater(): void {
    if (owed.length === 0 || isStopped) return;
    callOff ??= schedule(() => {
      callOff = undefined;
      retry();
    }, OWED_RETRY_MS);
  }

  return {
    get size() {
      return owed.length;
    },
    get isDue() {
      return owed.length > 0 && callOff === undefined;
    },
    async write(store) {
      const batch = owed;
      owed = [];
      try {
        await store(batch);
        callOff?.();
        callOff = undefined;
      } catch (cause) {
        // What is refused for another reason than the disk would be refused for ever, and with it all that follows.
        if (diskTrouble(cause) === undefined) return;
        owed = batch;
        throw cause;
      }
    },
    take(batch, cause) {
      if (diskTrouble(cause) === undefined || isStopped) return;
      const lost = new Set(batch.flatMap((draft) => (draft.kind === "ToolCallStarted" ? [draft.payload.call_id] : [])));
      const kept = batch.filter((draft) => isOwed(draft) && !isOf(draft, lost));
      owed.push(...kept.slice(0, MAX_OWED_EVENTS - owed.length));
      tryLater();
    },
    stop() {
      isStopped = true;
      owed = [];
      callOff?.();
      callOff = undefined;
    },
  };
}

/** A call that the log does not know has no result there. */
function isOf({ payload }: EventDraft, calls: ReadonlySet<string>): boolean {
  return "call_id" in payload && typeof payload.call_id === "string" && calls.has(payload.call_id);
}

function isOwed({ kind, payload }: EventDraft): boolean {
  return OWED.has(kind) || (kind === "Error" && "terminal" in payload && payload.terminal === true);
}
