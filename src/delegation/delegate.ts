/** A delegate before it is opened, and what the lifecycle needs of one that is. Whoever puts the program together opens it. */
import type { ContextConfig, ToolsPolicy } from "#artifacts";
import type { CancelCause, Hook, StopCheck, Subscriber, Tool, TurnSummary } from "#engine";
import type { CallId, SessionId } from "#protocol";

export interface DelegateSpec {
  /** Empty for one without a name. */
  readonly agent: string;
  /** As somebody wrote it; absent: the model of whoever delegates. */
  readonly model?: string;
  /** Verbatim; absent: what every agent is told. */
  readonly systemPrompt?: string;
  readonly context?: ContextConfig;
  /** Exactly those that were named. `own`: the delegation tools of the delegate's session. Asked at every step. */
  readonly tools: (own: readonly Tool[]) => readonly Tool[];
  readonly toolsPolicy?: ToolsPolicy;
  /** Its own, before all others: what they change, the hooks of the project still see. */
  readonly hooks: readonly Hook[];
  readonly depth: number;
  readonly maxSteps: number;
  readonly checkStop: StopCheck;
  /** Where it works; absent: where whoever delegates does. */
  readonly folder?: string;
  /** The call that delegates. */
  readonly callId: CallId;
}

export interface Delegate {
  readonly session: SessionId;
  /** `provider:name`. */
  readonly model: string;
  readonly toolNames: readonly string[];
  subscribe(subscriber: Subscriber): void;
  /** Runs its one turn. Rejects only when the log cannot be written. */
  run(task: string): Promise<TurnSummary>;
  cancel(cause: CancelCause): void;
  /** Ends its session; nothing of it is left. */
  close(): Promise<void>;
}

/** Rejects with a ReasonError when it cannot be opened: an unknown model, a missing key, a broken log. */
export type OpenDelegate = (spec: DelegateSpec) => Promise<Delegate>;
