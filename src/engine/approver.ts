/** Who answers when a call needs a person. Implemented above the engine, where clients are known. */
import type { CallId, ClientId, Decision, TurnId } from "#protocol";
import type { ToolCall } from "./tool-chain.ts";

export interface PermissionQuestion {
  readonly turn: TurnId;
  readonly callId: CallId;
  /** There is something to read and to edit: whoever is there gets more time. */
  readonly isLong?: boolean;
}

/** What somebody answered, and who waits to hear that the answer is kept. */
interface Given {
  /** To be given the write of the answer, also when it fails: whoever answered is told when it is done. Absent: nobody waits. */
  readonly onRecord?: (recorded: Promise<void>) => void;
}

export interface PermissionAnswer extends Given {
  readonly decision: Decision;
  /** The client that answered, or why nobody could. */
  readonly by: string;
  /** Why it is a deny although no person said so. */
  readonly unanswered?: "nobody" | "timeout";
  readonly reason?: string;
  /** With `allow_once`: a person changed the call, and these arguments are to run. */
  readonly args?: ToolCall["args"];
}

export interface QuestionAnswer extends Given {
  readonly answer: string;
  readonly by: ClientId;
}

export interface AckQuestion extends PermissionQuestion {
  /** The content that is shown; undefined for a removed file. */
  readonly sha256: string | undefined;
  /** What is asked about, for the reason of a refusal. */
  readonly file: string;
}

export interface AckAnswer extends Given {
  readonly answer: "accept" | "deny" | "later";
  readonly by: ClientId;
}

export interface Approver {
  /** How long a question waits for its answer. */
  readonly timeoutMs: number;
  /** True while somebody is there who may answer a question of this turn. */
  canAnswer(turn: TurnId): boolean;
  /** Never rejects: no answer, a timeout and a cancel are a deny. Waits from the call on: the request is published right after. */
  decide(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer>;
  /** The answer to an `ask_user` question, undefined when nobody can give one. Never rejects. */
  answer(question: PermissionQuestion, signal: AbortSignal): Promise<QuestionAnswer | undefined>;
  /** The answer to an ack that names the content that was asked about. Never rejects. */
  ack(question: AckQuestion, signal: AbortSignal): Promise<AckAnswer | undefined>;
}
