/** Tools as the engine sees them: a schema, a class and a function that gets its effects handed in. */

import type { EffectPorts, ProcessExit } from "#base";
import type { CallId, EventPayload, JobId, Reason, ToolClass, ToolOutputBlock } from "#protocol";
import type { ToolCall } from "./tool-chain.ts";

export interface ToolContext
  extends Pick<
    ToolCall,
    "session" | "turn" | "signal" | "step" | "depth" | "nesting" | "originator" | "annotate" | "progress"
  > {
  readonly callId: CallId;
  /** Bound to this call; the only way to an effect. */
  readonly ports: EffectPorts;
  /**
   * Makes another call through the whole chain, as if the model had: policy, hooks, permission, ledger. Its result is what the
   * model would have read; a refusal is a result too.
   */
  call(name: string, args: Readonly<Record<string, unknown>>, options?: NestedOptions): Promise<ToolOutput>;
  /**
   * Goes on with work when this call has ended: resolves with its id as soon as it runs. It is on the record before it begins, and its
   * end as well. Rejects with a ToolError where nothing can go on beside the turns.
   */
  background(work: BackgroundWork): Promise<JobId>;
  /** Asks the person; resolves to undefined when nobody can answer. */
  ask(question: string, options: readonly string[], details?: QuestionDetails): Promise<string | undefined>;
}

export interface NestedOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Makes the call in place of the one of this name that the session may offer: a policy of tools says what the model calls, not this. */
  readonly tool?: Tool;
}

/** A command that outlives its call. */
export interface BackgroundWork {
  readonly command: string;
  readonly timeoutMs: number;
  /** Rejects when it could not run. `started` is called once it does. */
  run(io: {
    readonly signal: AbortSignal;
    readonly started: () => void;
    readonly output: (stream: "stdout" | "stderr", chunk: Buffer) => void;
  }): Promise<ProcessExit>;
}

/** What a question may have besides its text. */
export interface QuestionDetails
  extends Readonly<Pick<EventPayload<"QuestionAsked">, "server" | "form" | "url" | "plan">> {
  /** Withdraws the question before the call has ended. */
  readonly signal?: AbortSignal;
}

export interface ToolOutput {
  readonly content: readonly ToolOutputBlock[];
  readonly isError?: boolean;
}

export interface Tool {
  /** Canonical dotted name: what policies, hooks, logs and receipts use. */
  readonly name: string;
  /** What people see, and an alias that permission rules accept. */
  readonly label: string;
  readonly class: ToolClass;
  readonly description: string;
  /** JSON Schema of an object; arguments are validated against it before `run`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /**
   * For a schema that somebody else wrote: checks arguments in the place of the chain, within limits of its own. Resolves to what is
   * wrong, one line each.
   */
  check?(args: Readonly<Record<string, unknown>>): Promise<readonly string[]>;
  /** May be called, but is not sent with a request before it was called once: another tool tells of it. */
  readonly deferred?: true;
  /** A call does not hold up those behind it in the response; all have ended before the next step. */
  readonly isAsync?: boolean;
  /** Upper bound for one call; the chain's default when absent. */
  readonly timeoutMs?: number;
  /**
   * It has no effect itself: what it sets going, or tells of, is judged, recorded and taken back call by call elsewhere. Such a
   * call may be made in plan mode and is no change of the workspace.
   */
  readonly relays?: true;
  /** Its result holds for this moment alone: it is never given a second time. */
  readonly fresh?: true;
  /** What a permission rule's pattern is matched against: a command, a path, a URL. Default: the arguments as JSON. */
  subject?(args: Readonly<Record<string, unknown>>): string;
  /** A thrown `ToolError` or `EffectError` becomes an error result for the model; anything else is a ToolFailed. */
  run(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolOutput>;
}

/** Where tools come from. Asked at every step, so a source may change between steps. */
export interface ToolSource {
  readonly name: string;
  tools(): readonly Tool[];
}

/** A failure the model should read and act on. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly reason: Reason;

  constructor(message: string, reason: Reason = "ToolFailed") {
    super(message);
    this.reason = reason;
  }
}

export function textOutput(text: string): ToolOutput {
  return { content: [{ type: "text", text }] };
}
