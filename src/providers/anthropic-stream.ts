/** Reads the event stream of Anthropic's Messages API. One reader for one response. */
import { defined, jsonIn } from "#base";
import type { ModelEvent } from "#engine";
import type { Usage } from "#protocol";
import { countIn } from "./checked-events.ts";
import { eventFailure, type Failure, garbled, type Peer } from "./failure.ts";
import { wireStop } from "./finish-reason.ts";
import type { ReadState, StreamReader, WireEnd } from "./wire-family.ts";
import type { WireNames } from "./wire-names.ts";

/** The parts of the wire events that are read; every field is the vendor's word and may be missing. */
interface WireEvent {
  readonly type?: string;
  readonly index?: number;
  readonly message?: { readonly usage?: WireUsage };
  readonly content_block?: {
    readonly type?: string;
    readonly name?: string;
    readonly input?: unknown;
    readonly text?: string;
    readonly thinking?: string;
    readonly signature?: string;
  };
  readonly delta?: {
    readonly type?: string;
    readonly text?: string;
    readonly partial_json?: string;
    readonly thinking?: string;
    readonly signature?: string;
    readonly stop_reason?: string | null;
  };
  readonly usage?: WireUsage;
  readonly error?: unknown;
}

interface WireUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
}

/** The content block that is being written. `text` gathers what is only useful as a whole. */
interface OpenBlock {
  readonly kind: string;
  readonly number: number;
  readonly start: NonNullable<WireEvent["content_block"]>;
  text: string;
  signature: string;
}

export function anthropicReader(peer: Peer, names: WireNames, emit: (event: ModelEvent) => void): StreamReader {
  let used: Usage | undefined;
  let stopReason: string | undefined;
  let failed: Failure | undefined;
  let calls = 0;
  let blocks = 0;
  const open = new Map<number, OpenBlock>();
  // The block that got the last delta: nearly every event is one more delta of it.
  let current: OpenBlock | undefined;
  let currentIndex = -1;

  const giveUp = (failure: Failure): ReadState => {
    failed = failure;
    return "over";
  };
  const addUsage = (usage: WireUsage | undefined): void => {
    if (usage === undefined) return;
    used = {
      input_tokens: countIn(usage.input_tokens) ?? used?.input_tokens ?? 0,
      output_tokens: countIn(usage.output_tokens) ?? used?.output_tokens ?? 0,
      cache_read_tokens: countIn(usage.cache_read_input_tokens) ?? used?.cache_read_tokens ?? 0,
      cache_write_tokens: countIn(usage.cache_creation_input_tokens) ?? used?.cache_write_tokens ?? 0,
    };
  };
  const onDelta = (event: WireEvent): ReadState => {
    const { index = -1, delta } = event;
    if (index !== currentIndex) {
      current = open.get(index);
      currentIndex = index;
    }
    if (current === undefined || delta === undefined) return giveUp(garbled(peer, "a delta outside of a block"));
    switch (delta.type) {
      case "text_delta":
        if (!delta.text) return "nothing";
        emit({ type: "text", block: current.number, text: delta.text });
        return "content";
      case "input_json_delta":
        current.text += delta.partial_json ?? "";
        return delta.partial_json ? "content" : "nothing";
      case "thinking_delta":
        if (!delta.thinking) return "nothing";
        current.text += delta.thinking;
        emit({ type: "thinking", block: current.number, text: delta.thinking });
        return "content";
      case "signature_delta":
        current.signature += delta.signature ?? "";
        return delta.signature ? "content" : "nothing";
      default:
        return "nothing";
    }
  };
  const onBlockStart = ({ index = -1, content_block: start = {} }: WireEvent): ReadState => {
    const { type: kind = "", text = "", thinking = "", signature = "" } = start;
    open.set(index, { kind, number: index, start, text: thinking, signature });
    currentIndex = -1;
    blocks = Math.max(blocks, index + 1);
    if (kind === "text" && text !== "") emit({ type: "text", block: index, text });
    // An empty block is a promise: the model may think for minutes before it fills it.
    return (kind === "text" || kind === "thinking") && text === "" && thinking === "" ? "nothing" : "content";
  };
  const onBlockStop = (index: number): void => {
    const block = open.get(index);
    if (block === undefined) return;
    open.delete(index);
    if (index === currentIndex) currentIndex = -1;
    if (block.kind === "tool_use") {
      calls += 1;
      const name = names.toCanonical(block.start.name ?? "");
      emit({ type: "tool_call", block: block.number, name, arguments: argumentsOf(block) });
    } else if (block.kind === "thinking") {
      const data = { ...block.start, thinking: block.text, signature: block.signature };
      emit({ type: "thinking_block", block: block.number, content: { type: "thinking", provider: "anthropic", data } });
    } else if (block.kind === "redacted_thinking") {
      const content = { type: "thinking", provider: "anthropic", data: block.start } as const;
      emit({ type: "thinking_block", block: block.number, content });
    }
  };

  return {
    read(data) {
      const event = parse(data);
      if (event === undefined) return giveUp(garbled(peer, "stream data that is not JSON"));
      switch (event.type) {
        case "content_block_delta":
          return onDelta(event);
        case "content_block_start":
          return onBlockStart(event);
        case "content_block_stop":
          onBlockStop(event.index ?? -1);
          return "nothing";
        case "message_start":
          addUsage(event.message?.usage);
          return "nothing";
        case "message_delta":
          addUsage(event.usage);
          stopReason = event.delta?.stop_reason ?? stopReason;
          return "nothing";
        case "message_stop":
          return "over";
        case "error":
          return giveUp(eventFailure(peer, event.error));
        default:
          // Pings, and kinds that may be added to the API at any time.
          return "nothing";
      }
    },
    isWhole: () => stopReason !== undefined && open.size === 0,
    end(): WireEnd {
      if (failed !== undefined) return failed;
      const stop = wireStop(peer, stopReason, calls);
      if (typeof stop !== "string") return stop;
      if (stop !== "truncated" && open.size > 0) return garbled(peer, "a block that never ended");
      if (stop === "yield" && stopReason !== undefined) emit({ type: "yield", block: blocks, reason: stopReason });
      return { type: "ended", stop, ...defined({ usage: used }) };
    },
    usage: () => used,
  };
}

/** A call without arguments comes without deltas; some servers give the whole input at the start instead. */
function argumentsOf({ text, start }: OpenBlock): string {
  return text !== "" ? text : JSON.stringify(start.input ?? {});
}

function parse(data: string): WireEvent | undefined {
  const event = jsonIn(data);
  // Every field of a WireEvent is optional, so any object is one.
  return typeof event === "object" && event !== null ? (event as WireEvent) : undefined;
}
