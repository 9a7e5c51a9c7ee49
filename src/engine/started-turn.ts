/** A turn as whoever sent its input sees it: taken at once, told when the log has it, over later. */
import type { TurnId } from "#protocol";
import type { TurnSummary } from "./turn.ts";

export interface StartedTurn {
  readonly turn: TurnId;
  /**
   * Resolves when the log has the turn: its TurnStarted, also for an input that a hook refused, or its TurnEnded where the input
   * could not be looked at. Rejects when the log did not take it: no model was asked, and the session is free again. Nobody may be
   * told of the turn before.
   */
  readonly recorded: Promise<void>;
  /** Settles when the turn has ended. */
  readonly done: Promise<TurnSummary>;
}

/** `run` is given what takes the write of TurnStarted. */
export function startedTurn(
  turn: TurnId,
  run: (onStart: (started: Promise<void>) => void) => Promise<TurnSummary>,
): StartedTurn {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const done = run(resolve);
  const over = done.then(() => resolve(), reject);
  const recorded = promise.catch(async (error: unknown) => {
    await over;
    throw error;
  });
  recorded.catch(() => undefined); // for those who only wait for the end
  return { turn, recorded, done };
}
