/** What a session has before its parts are put together around it: its bus, its hold on the redaction, and the state of its turn. */
import type { Clock } from "#base";
import type { ClientId, ReasonError, SessionId, TurnId } from "#protocol";
import { createEventBus, type EventBus, type Schedule, timer } from "./bus.ts";
import type { Redaction } from "./redaction.ts";
import { guardRedaction } from "./redaction-guard.ts";
import type { Steering } from "./steering.ts";
import type { SessionLog } from "./store.ts";
import type { CancelCause } from "./turn-ending.ts";

export interface SessionCoreOptions {
  readonly id: SessionId;
  readonly clock: Clock;
  readonly log: SessionLog;
  readonly redaction: Redaction;
  /** `provider:name` to begin with. */
  readonly model: string;
  /** For what waits a moment before it is written; default: a timer. */
  readonly schedule?: Schedule;
}

export interface RunningTurn {
  readonly turn: TurnId;
  readonly originator: ClientId;
  readonly startedAt: string;
  /** Aborted with a `CancelCause`. */
  readonly signal: AbortSignal;
  /** Resolves when it has ended, however it did. */
  readonly ended: Promise<void>;
}

/** Read by every part of the session, written by its engine alone. */
export interface SessionState {
  model: string;
  /** Set while a fallback answers; the next turn asks the session's own model again. */
  turnModel: string | undefined;
  running: (RunningTurn & { readonly abort: AbortController; readonly steering: Steering }) | undefined;
}

export interface SessionCore {
  readonly id: SessionId;
  readonly clock: Clock;
  readonly log: SessionLog;
  readonly bus: EventBus;
  /** A failure of it ends the running turn. */
  readonly redaction: Redaction;
  readonly schedule: Schedule;
  readonly state: SessionState;
}

export function createSessionCore(options: SessionCoreOptions): SessionCore {
  const { id, clock, log, model, schedule = timer } = options;
  const state: SessionState = { model, turnModel: undefined, running: undefined };
  /** What cannot be stored or redacted ends the turn: no model is asked again. */
  const onFailure = (error: ReasonError): void => {
    state.running?.abort.abort({ reason: "store", error } satisfies CancelCause);
  };
  const redaction = guardRedaction(options.redaction, onFailure);
  const bus = createEventBus({ session: id, log, clock, redaction, schedule, onFailure });
  return { id, clock, log, bus, redaction, schedule, state };
}
