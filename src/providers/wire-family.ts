/** What a wire family is: how a canonical request becomes a body, and how the events of its stream become ours. */
import type { ModelEvent, ModelRequest } from "#engine";
import type { Usage } from "#protocol";
import type { Failure, Peer } from "./failure.ts";
import type { WireNames } from "./wire-names.ts";

/** What the vendor and the model make different in a body of the same family. */
export interface WireOptions {
  /** The model's name without its provider. */
  readonly model: string;
  /** Absent: the vendor's own default. */
  readonly maxTokens?: number;
  /** Absent where it is not set, and for models that refuse it. */
  readonly temperature?: number;
  readonly names: WireNames;
  /** Anthropic: ask for thinking that can be read; only for models that think by default. */
  readonly showThinking: boolean;
  /** Anthropic: thinking that no longer fits what is before it is dropped by the vendor instead of being an error. */
  readonly dropStaleThinking: boolean;
  /** OpenAI: the field that carries the cap. */
  readonly maxTokensField: "max_completion_tokens" | "max_tokens";
  /** OpenAI: sent with tools, for models that call functions here only without reasoning. */
  readonly effortWithTools?: "none";
  /** OpenAI: whether the vendor wants its reasoning fields back. */
  readonly echoReasoning: boolean;
  readonly cacheKey?: string;
  /** OpenAI: mark where the cache may end, for vendors that pass the mark on to the model. */
  readonly marksCache: boolean;
}

export type WireStop = "end" | "tool_calls" | "yield" | "truncated";

export type WireEnd =
  | {
      readonly type: "ended";
      readonly stop: WireStop;
      /** Absent when the vendor did not tell. */
      readonly usage?: Usage;
      readonly costUsd?: number;
    }
  | Failure;

/** What one payload brought: `content` is a piece of the answer, `nothing` a ping, an empty delta or bookkeeping. */
export type ReadState = "nothing" | "content" | "over";

/** Reads one response. Nothing here throws on what a vendor sends; what is not understood ends as a failure. */
export interface StreamReader {
  /** One `data:` payload; `over` when the response is, complete or failed. */
  read(data: string): ReadState;
  /** The vendor has said why it stopped and nothing is open: only bookkeeping can follow, and it may be missing. */
  isWhole(): boolean;
  /** Called once, when `read` said `over` or nothing more comes and the response is whole. */
  end(): WireEnd;
  /** What the vendor told of usage so far. */
  usage(): Usage | undefined;
}

/** What is counted when a vendor tells nothing. */
export const noUsage: Usage = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };

export function addUsage(a: Usage = noUsage, b: Usage = noUsage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_read_tokens: a.cache_read_tokens + b.cache_read_tokens,
    cache_write_tokens: a.cache_write_tokens + b.cache_write_tokens,
  };
}

export interface WireFamily {
  readonly name: "anthropic" | "openai";
  /** Ready to be sent as JSON. */
  body(request: ModelRequest, options: WireOptions): object;
  /** What the options need beside the endpoint's own headers. */
  headers(options: WireOptions): Readonly<Record<string, string>>;
  reader(peer: Peer, names: WireNames, emit: (event: ModelEvent) => void): StreamReader;
}

/** Vendors refuse a text of blanks alone, now and whenever the conversation is sent again. */
export function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** In the place of an input of blanks alone, which still is an input. */
export const BLANK_INPUT = "(blank)";

/** JSON that every reader takes: half a character, as a cut or a model leaves it, is none, and many vendors refuse its escape. */
export function jsonText(value: unknown): string {
  const json = JSON.stringify(value);
  // Whole characters are never escaped, so this is rare.
  return json.includes("\\ud") ? json.replace(HALF_CHARACTER, "$1\ufffd") : json;
}

const HALF_CHARACTER = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** Arguments that the model wrote but that are no JSON object still have to be an object on the wire. */
export function inputObject(input: unknown): Record<string, unknown> {
  if (typeof input === "object" && input !== null && !Array.isArray(input)) {
    // Checked on the line above; TypeScript does not narrow `object` to an index signature.
    return input as Record<string, unknown>;
  }
  return { invalid_arguments: input };
}
