/**
 * What a session sees of a cassette, the same while it is recorded and while it is replayed. Whatever comes from outside passes
 * through one of these, so that it is written down, or taken from what was written down.
 */
import { type Clock, EffectError, type Random } from "#base";
import { type Command, ReasonError } from "#protocol";
import type { AskKind, CassetteHead, EntryOf, Failed } from "./entries.ts";

export interface Exchange<Said, Result> {
  readonly of: AskKind;
  /** Absent before there is one. */
  readonly session?: string;
  /** JSON. */
  readonly request: unknown;
  /** Told each thing that is said before the result. */
  readonly hear: (said: Said) => void | Promise<void>;
  /** The real thing; not called in a replay. What it says and what it resolves to is JSON. */
  readonly live: (say: (said: Said) => Promise<void>) => Promise<Result>;
}

export interface TapedClient {
  readonly client: number;
  readonly identityClass: "human" | "agent";
  readonly interactive: boolean;
  /** How commands that the cassette gives for this client are carried out. */
  carryOut(submit: (command: Command) => Promise<unknown>): void;
}

export interface Tape {
  readonly mode: "record" | "replay";
  readonly head: CassetteHead;
  readonly clock: Clock;
  readonly random: Random;
  /** In a replay: what the caller has to submit, in order. */
  readonly commands: readonly Command[];
  schedule(action: () => void, ms: number): () => void;
  /** See `Turnstile`. */
  inside<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Rejects with what the real thing rejected with, or with CassetteMismatch. */
  exchange<Said, Result>(exchange: Exchange<Said, Result>): Promise<Result>;
  /** Something that the outside says unasked. Only while recording; resolves when `onNote` has dealt with it. */
  note(session: string, note: unknown): Promise<void>;
  onNote(session: string, handle: (note: unknown) => Promise<void>): void;
  /** Something about the machine. Throws CassetteMismatch. */
  fact(fact: FactName, about: string, read: () => string | undefined): string | undefined;
  /** The same for a value that is on no cassette: a replay gets something else in its place, or nothing where there was none. */
  secret(fact: FactName, about: string, read: () => string | undefined): string | undefined;
  connect(client: Pick<TapedClient, "identityClass" | "interactive">): TapedClient;
  /** Carries the command out when its time has come. Rejects with CassetteMismatch when the cassette has another one. */
  command<Reply>(client: number, command: Command, run: (command: Command) => Promise<Reply>): Promise<Reply>;
  /** The same for the end of the program. */
  shutdown(run: () => Promise<void>): Promise<void>;
  /** Recording: writes the file. Replaying: rejects with CassetteMismatch unless it was told already. */
  finish(): Promise<void>;
}

export interface FactName {
  readonly session?: string;
  readonly name: string;
  /** A reading of nothing is not on the cassette, and what is not there reads as nothing: cassettes from before the fact was known stay whole. */
  readonly isOptional?: true;
}

/** A person does these while a turn runs; in a replay the cassette does them, and those of clients are left aside. */
export const PLAYED_KINDS: readonly Command["kind"][] = [
  "AnswerPermission",
  "AnswerQuestion",
  "AnswerAck",
  "CancelTurn",
];

export function toFailed(error: unknown): Failed {
  if (error instanceof EffectError) return { effect: error.reason, message: error.message };
  if (error instanceof ReasonError) return { reason: error.reason, message: error.message };
  return { message: error instanceof Error ? error.message : String(error) };
}

export function fromFailed({ effect, reason, message }: NonNullable<EntryOf<"end">["failed"]>): Error {
  if (effect !== undefined) return new EffectError(effect, message);
  return reason === undefined ? new Error(message) : ReasonError.withMessage(reason, message);
}
