/** The model as the engine sees it. Adapters translate to a vendor's wire; the engine knows none of them. */
import type { Message, Reason, ThinkingBlock, Usage } from "#protocol";

/** A tool as it is shown to the model. `name` is canonical; an adapter maps it to what its wire allows. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  /** `provider:name`. */
  readonly model: string;
  /** System prompt blocks in order. */
  readonly system: readonly string[];
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  /** Cap on output tokens; absent: the provider's configured default. */
  readonly maxTokens?: number;
  /** An answer that is cut at `maxTokens` is not asked for again. */
  readonly isCapFinal?: true;
  readonly temperature?: number;
  /** Stable per session; families that cache by key use it. */
  readonly cacheKey?: string;
}

/** What a response is made of, in order. `block` counts the content blocks of the response from 0. */
export type ModelEvent =
  | { readonly type: "text"; readonly block: number; readonly text: string }
  | { readonly type: "thinking"; readonly block: number; readonly text: string }
  /** The finished thinking block to echo; sent once after its deltas. */
  | { readonly type: "thinking_block"; readonly block: number; readonly content: ThinkingBlock }
  /** A complete tool call; `arguments` is the raw text, which may not be JSON. `name` is canonical where it is known. */
  | { readonly type: "tool_call"; readonly block: number; readonly name: string; readonly arguments: string }
  /** An explicit end-of-turn signal. */
  | { readonly type: "yield"; readonly block: number; readonly reason?: string }
  /** What was written so far is void; the request is made again after the wait. */
  | {
      readonly type: "retrying";
      readonly reason: Reason;
      readonly message: string;
      readonly retryAfterMs: number;
      /** Which attempt comes next, and how many there are; absent where something else is tried. */
      readonly retry?: { readonly attempt: number; readonly of: number };
    }
  /** The request is made again with another model of the fallback chain. */
  | { readonly type: "model_changed"; readonly model: string; readonly previous: string }
  /** Nothing has come for so long; without a sign of the model the call ends after what is left. */
  | { readonly type: "waiting"; readonly waitedMs: number; readonly leftMs: number };

/** How a model call ended. There is exactly one for each call; a provider never throws. */
export type ModelOutcome =
  | {
      readonly type: "done";
      /** The model that answered, `provider:name`. */
      readonly model: string;
      readonly stop: "end" | "tool_calls" | "yield";
      readonly usage: Usage;
      /** Absent when the price is not known. */
      readonly costUsd?: number;
    }
  | {
      readonly type: "failed";
      readonly reason: Reason;
      readonly message: string;
      /** Worth trying again: the same request may succeed. */
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
      /** The answer was cut at its cap: the cap to try again with. */
      readonly retryMaxTokens?: number;
      /** What was used before it failed, when the provider told. */
      readonly usage?: Usage;
      /** Of that; absent when the price is not known. */
      readonly costUsd?: number;
    };

/** Sees what goes over the wire of one call, without its key; must not throw. For somebody who asked to see it. */
export interface WireTrace {
  sent(request: { readonly url: string; readonly body: string }): void;
  /** Once, at the end of the response, also of one that was cut off. */
  received(response: { readonly status: number; readonly type: string; readonly body: string }): void;
}

/** The time that all attempts of a call share. */
export interface CallBudget {
  /** 0 or less: it is used up. */
  leftMs(): number;
  /** A piece of the answer has come, also one that is not an event yet. */
  progressed(): void;
}

export interface ModelCall {
  readonly request: ModelRequest;
  /** Called synchronously for each event, in order; must not throw. */
  readonly emit: (event: ModelEvent) => void;
  readonly signal: AbortSignal;
  readonly trace?: WireTrace;
  /** Called when a request has left this process, once for each attempt. A provider without a wire need not call it. */
  readonly onSent?: () => void;
  /** A budget in dollars is set: a model without a known price must not be asked. */
  readonly needsPrice?: true;
  /** Set by whoever keeps the time of the call; its end also aborts the signal. */
  readonly budget?: CallBudget;
}

export interface ModelInfo {
  /** `provider:name`. */
  readonly id: string;
  readonly contextTokens?: number;
  readonly maxOutputTokens?: number;
  readonly priceUsdPerMillion?: { readonly input: number; readonly output: number };
}

export interface Provider {
  readonly name: string;
  /** Never rejects and never throws; cancelled calls end as `failed` with reason `Cancelled`. */
  chat(call: ModelCall): Promise<ModelOutcome>;
  /** What can be asked for. May reject with a ReasonError when a catalog cannot be fetched. */
  models(signal: AbortSignal): Promise<readonly ModelInfo[]>;
  /** An estimate of the request's input tokens, made without a network call. */
  countTokens(request: ModelRequest): number;
  /** The largest request of a model (`provider:name`), as far as it is known without asking anybody. */
  contextTokens?(model: string): number | undefined;
  /** False when it is known that a model (`provider:name`) reads no images. */
  takesImages?(model: string): boolean;
}
