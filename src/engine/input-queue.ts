/**
 * Inputs that wait for their turn, as a fold over the log: queued by `InputQueued`, delivered by the `TurnStarted` that names
 * it, or refused by an `InputRefused`. The log is the only place where an input waits, so it is delivered once and survives whatever the program does not.
 */
import { defined, messageOf } from "#base";
import { type ClientId, type Event, type EventPayload, type InputBlock, ReasonError } from "#protocol";

/** Inputs of one session that may wait at a time. */
export const MAX_QUEUED_INPUTS = 32;

/** The token that an input came with, by its ids and its end. */
export type InputToken = NonNullable<EventPayload<"InputQueued">["allowed_by"]>;

/** Whether what came with a token may still begin: undefined, or why not. */
export type CheckToken = (token: InputToken) => Promise<ReasonError | undefined>;

export interface QueuedInput {
  /** The id of its InputQueued event. */
  readonly id: number;
  readonly by: ClientId;
  readonly content: readonly InputBlock[];
  /** Absent for clients that need no token. */
  readonly token?: InputToken;
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
        const { by, content, allowed_by: token } = event.payload;
        inputs.set(event.id, { id: event.id, by, content, ...defined({ token }) });
      } else if (event.kind === "TurnStarted" && event.payload.queued !== undefined) {
        inputs.delete(event.payload.queued);
      } else if (event.kind === "InputRefused") {
        inputs.delete(event.payload.queued);
      }
    },
    waiting: () => [...inputs.values()],
  };
}

/** Undefined when its turn may begin. A token that nobody here can look up does not hold. */
export async function refusalOf(token: InputToken, check: CheckToken | undefined): Promise<ReasonError | undefined> {
  const unknown = (why: string): ReasonError =>
    new ReasonError("TokenInvalid", `Harness cannot tell whether it is still valid: ${why}`);
  if (check === undefined) return unknown("this program does not use tokens");
  try {
    return await check(token);
  } catch (error) {
    return unknown(messageOf(error));
  }
}
