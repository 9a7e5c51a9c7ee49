/** Reads the event stream of the OpenAI chat completions API and of everybody who speaks it. One reader, one response. */
import { defined, jsonIn } from "#base";
import type { ModelEvent } from "#engine";
import type { Usage } from "#protocol";
import { countIn } from "./checked-events.ts";
import { eventFailure, type Failure, failure, garbled, type Peer, presentable } from "./failure.ts";
import { wireStop } from "./finish-reason.ts";
import { createReasoning } from "./openai-reasoning.ts";
import type { ReadState, StreamReader, WireEnd } from "./wire-family.ts";
import type { WireNames } from "./wire-names.ts";

const MAX_TOOL_CALLS = 1_000;

/** The parts of a chunk that are read; every field is the vendor's word and may be missing. */
interface Chunk {
  readonly choices?: readonly {
    readonly delta?: Delta;
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: WireUsage | null;
  readonly error?: unknown;
}

interface Delta {
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly CallDelta[] | null;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_details?: readonly object[] | null;
}

interface CallDelta {
  readonly index?: number;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null };
}

interface WireUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number; readonly cache_write_tokens?: number } | null;
  /** OpenRouter: what was charged, in USD. */
  readonly cost?: number;
}

interface OpenCall {
  readonly index: number;
  readonly id: string | undefined;
  name: string;
  text: string;
}

export function openaiReader(peer: Peer, names: WireNames, emit: (event: ModelEvent) => void): StreamReader {
  let used: Usage | undefined;
  let costUsd: number | undefined;
  let finish: string | undefined;
  let refusal = "";
  let failed: Failure | undefined;
  let block = -1;
  let writing: "text" | "thinking" | undefined;
  const calls: OpenCall[] = [];
  const reasoning = createReasoning();

  const giveUp = (reason: Failure): ReadState => {
    failed = reason;
    return "over";
  };
  /** The wire has no blocks: a change between thinking and text begins a new one. */
  const begin = (kind: "text" | "thinking"): void => {
    if (writing === kind) return;
    if (kind === "text") closeThinking();
    block += 1;
    writing = kind;
  };
  const closeThinking = (): void => {
    const data = reasoning.take();
    if (data === undefined) return;
    if (writing !== "thinking") block += 1;
    writing = undefined;
    emit({ type: "thinking_block", block, content: { type: "thinking", provider: "openai", data } });
  };
  const onDelta = (delta: Delta): Failure | undefined => {
    const { content } = delta;
    if (typeof content === "string" && content !== "") {
      if (writing !== "text") begin("text");
      emit({ type: "text", block, text: content });
    }
    if (delta.reasoning_content || delta.reasoning || delta.reasoning_details) {
      const text = reasoning.add(delta);
      if (text !== "") {
        begin("thinking");
        emit({ type: "thinking", block, text });
      }
    }
    if (delta.tool_calls) {
      for (const call of delta.tool_calls) {
        if (!addCall(calls, call)) return garbled(peer, `more than ${MAX_TOOL_CALLS} tool calls`);
      }
    }
    if (delta.refusal) refusal += delta.refusal;
    return undefined;
  };

  return {
    read(data) {
      if (data === "[DONE]") return "over";
      const chunk = parse(data);
      if (chunk === undefined) return giveUp(garbled(peer, "stream data that is not JSON"));
      if (chunk.error) return giveUp(eventFailure(peer, chunk.error));
      const choice = chunk.choices?.[0];
      let state: ReadState = "nothing";
      if (choice !== undefined) {
        if (choice.finish_reason || (choice.delta && isContent(choice.delta))) state = "content";
        const broken = choice.delta && onDelta(choice.delta);
        if (broken) return giveUp(broken);
        if (choice.finish_reason) finish = choice.finish_reason;
      }
      if (chunk.usage) {
        used = canonicalUsage(chunk.usage);
        costUsd = countIn(chunk.usage.cost) ?? costUsd;
      }
      return state;
    },
    isWhole: () => finish !== undefined,
    end(): WireEnd {
      if (failed !== undefined) return failed;
      closeThinking();
      if (refusal !== "" && calls.length === 0) {
        const filtered = failure("ContentFiltered", false, { provider: peer.name });
        return { ...filtered, message: `${filtered.message} ${presentable(refusal)}` };
      }
      const stop = wireStop(peer, finish, calls.length);
      if (typeof stop !== "string") return stop;
      if (stop !== "truncated") {
        // Only now is every call complete: their pieces may come in any order.
        for (const call of calls.sort((a, b) => a.index - b.index)) {
          block += 1;
          const text = call.text.trim() === "" ? "{}" : call.text;
          emit({ type: "tool_call", block, name: names.toCanonical(call.name), arguments: text });
        }
      }
      if (stop === "yield" && finish !== undefined) emit({ type: "yield", block: block + 1, reason: finish });
      return {
        type: "ended",
        stop,
        ...defined({ usage: used, costUsd }),
      };
    },
    usage: () => used,
  };
}

function isContent({ content, refusal, tool_calls, reasoning_content, reasoning, reasoning_details }: Delta): boolean {
  if (content || refusal || reasoning_content || reasoning) return true;
  return Boolean(tool_calls?.length || reasoning_details?.length);
}

/** False at the bound. A piece without an index belongs to the call with its id, else it is a new or the last call. */
function addCall(calls: OpenCall[], delta: CallDelta): boolean {
  const { id, index } = delta;
  const name = delta.function?.name ?? "";
  const text = delta.function?.arguments ?? "";
  let call = calls.at(-1);
  if (index !== undefined) {
    if (call?.index !== index) call = calls.find((other) => other.index === index);
  } else if (id) call = calls.find((other) => other.id === id);
  if (call === undefined) {
    if (calls.length >= MAX_TOOL_CALLS) return false;
    calls.push({ index: index ?? calls.length, id: id ?? undefined, name, text });
    return true;
  }
  if (call.name === "") call.name = name;
  call.text += text;
  return true;
}

/** The wire counts cached tokens among the prompt's; ours are counted apart. */
function canonicalUsage(usage: WireUsage): Usage {
  const read = countIn(usage.prompt_tokens_details?.cached_tokens) ?? 0;
  const written = countIn(usage.prompt_tokens_details?.cache_write_tokens) ?? 0;
  return {
    input_tokens: Math.max(0, (countIn(usage.prompt_tokens) ?? 0) - read - written),
    output_tokens: countIn(usage.completion_tokens) ?? 0,
    cache_read_tokens: read,
    cache_write_tokens: written,
  };
}

function parse(data: string): Chunk | undefined {
  const chunk = jsonIn(data);
  // Every field of a Chunk is optional, so any object is one.
  return typeof chunk === "object" && chunk !== null ? (chunk as Chunk) : undefined;
}
