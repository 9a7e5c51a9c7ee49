/** What a test scripts the mock vendor with: replies in neither vendor's format, and how they go wrong. */

export type MockBlock =
  | { readonly type: "text"; readonly text: string; readonly deltas?: number }
  | {
      readonly type: "thinking";
      readonly text: string;
      readonly signature?: string;
      /** The field that carries it in chat completions. */
      readonly field?: "reasoning_content" | "reasoning" | "reasoning_details";
      readonly deltas?: number;
    }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | { readonly type: "tool_call"; readonly name: string; readonly arguments: string; readonly deltas?: number };

interface MockUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** As OpenRouter tells it. */
  readonly costUsd?: number;
}

/** What goes wrong in a stream, after so many events. */
type MockFault =
  /** The same bytes again and again, instead of the rest. */
  | {
      readonly type: "drip";
      readonly afterEvents: number;
      readonly event: string;
      readonly everyMs: number;
      readonly until: Promise<void>;
    }
  /** The connection is reset, without the bytes that end it. */
  | { readonly type: "reset"; readonly afterEvents: number }
  | { readonly type: "cut"; readonly afterEvents: number }
  | { readonly type: "end"; readonly afterEvents: number }
  | { readonly type: "stall"; readonly afterEvents: number; readonly until: Promise<void> }
  | { readonly type: "event"; readonly afterEvents: number; readonly event: string };

export interface MockMessage {
  readonly type: "message";
  readonly blocks: readonly MockBlock[];
  /** The vendor's word for why it ended; null leaves it out. Default: what the blocks ask for. */
  readonly stop?: string | null;
  readonly usage?: MockUsage;
  /** Chat completions: the pieces of parallel calls take turns, the last call first. */
  readonly interleaveCalls?: boolean;
  /** Events in one write; default 1. */
  readonly eventsPerWrite?: number;
  /** Awaited before each write. */
  readonly pace?: (eventsWritten: number) => Promise<void> | void;
  readonly headersAfter?: Promise<void>;
  readonly fault?: MockFault;
}

/** Anything that is not a stream: an error status, an HTML page, an empty body. */
interface MockHttp {
  readonly type: "http";
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type MockReply = MockMessage | MockHttp;

/** Cuts a text into that many pieces of nearly equal length, never inside a surrogate pair. */
export function pieces(text: string, count: number): string[] {
  const chars = Array.from(text);
  const wanted = Math.max(1, Math.min(count, chars.length));
  const result: string[] = [];
  for (let i = 0; i < wanted; i += 1) {
    const from = Math.floor((i * chars.length) / wanted);
    const to = Math.floor(((i + 1) * chars.length) / wanted);
    result.push(chars.slice(from, to).join(""));
  }
  return result;
}
