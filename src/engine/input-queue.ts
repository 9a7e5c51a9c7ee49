/**
 * Inputs that wait for their turn, as a fold over the log: queued by `InputQueued`, delivered by the `TurnStarted` that names
 * it. The log is the only place where an input waits, so it is delivered once and survives whatever the program does not.
 */
import type { ClientId, Event, InputBlock } from "#protocol";

/** Inputs of one session that may wait at a time. */
export const MAX_QUEUED_INPUTS = 32;

export interface QueuedInput {
  /** The id of its InputQueued event. */
  readonly id: number;
  readonly by: ClientId;
  readonly content: readonly InputBlock[];
}

export interface InputQueue {
  /** Events of one session, oldest first. */
  apply(event: Event): void;
  /** Those that wait, oldest first. */
  waiting(): readonly QueuedInput[];
}

export function createInputQueue(): InputQueue {
  const inputs = new Map<number, QueuedInput>();
  return {
    apply(event) {
      if (event.kind === "InputQueued") {
        inputs.set(event.id, { id: event.id, by: event.payload.by, content: event.payload.content });
      } else if (event.kind === "TurnStarted" && event.payload.queued !== undefined) {
        inputs.delete(event.payload.queued);
      }
    },
    waiting: () => [...inputs.values()],
  };
}
