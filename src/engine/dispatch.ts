/**
 * Runs the tool calls of one response: read-only and sensitive ones side by side, mutating ones alone and in order, and
 * none of the later mutating ones after a failure. Every call gets exactly one result, also when nothing ran.
 */
import { defined, isDeeper, messageOf } from "#base";
import { type CallId, reasonText, storeFailure } from "#protocol";
import type { EventBus } from "./bus.ts";
import type { Attributes } from "./hook.ts";
import type { Tool } from "./tool.ts";
import { type CallResult, refusal, type ToolCall, type ToolHandler } from "./tool-chain.ts";

/** Calls of one response that run at the same time. */
const MAX_PARALLEL_CALLS = 8;
/** Deeper arguments than any tool takes; what walks them may do so recursively. */
const MAX_ARGUMENT_DEPTH = 64;
/** Calls inside calls. */
const MAX_NESTING = 8;
/** Notes on one call; what comes beyond is left out. */
const MAX_ATTRIBUTES = 64;

/** A call as the model made it. */
export interface RequestedCall {
  readonly id: CallId;
  readonly block: number;
  readonly name: string;
  /** Raw text; may not be JSON. */
  readonly arguments: string;
}

export interface ToolSettings {
  /** `auto`: by class; the others force one way for all calls. */
  readonly execution: "auto" | "sequential" | "parallel";
  /** Whether later mutating calls of a response run after a failed one. */
  readonly onError: "stop" | "continue";
}

export interface DispatchInput
  extends Pick<ToolCall, "session" | "turn" | "step" | "depth" | "originator" | "allowedBy" | "unasked" | "signal"> {
  readonly calls: readonly RequestedCall[];
  readonly tools: readonly Tool[];
  /** Why a tool that exists is not among them. */
  readonly hidden: HiddenTools;
  /** The call that makes these, when it is not the model. */
  readonly parent?: ToolCall;
}

/** Says why a tool must not be called, or nothing when it is not known at all. */
export type HiddenTools = (name: string) => HiddenTool | undefined;

export interface HiddenTool {
  readonly why: string;
  readonly source: string;
  /** The policy of the machine denies it: then no other tool may call it either. */
  readonly byAdmin: boolean;
}

export interface DispatchParts {
  readonly bus: EventBus;
  readonly handler: ToolHandler;
  readonly settings: ToolSettings;
  readonly monotonicMs: () => number;
}

export interface CallTiming {
  readonly call_id: CallId;
  readonly name: string;
  readonly duration_ms: number;
}

/** A call that has its result without running: unknown tool, arguments that are not JSON. */
type Prepared =
  | { readonly requested: RequestedCall; readonly tool: Tool; readonly args: Readonly<Record<string, unknown>> }
  | {
      readonly requested: RequestedCall;
      readonly tool?: Tool;
      readonly shown: unknown;
      readonly refused: CallResult;
      /** The policy that hides the tool. */
      readonly policy?: { readonly why: string; readonly source: string };
    };

export async function dispatchCalls(parts: DispatchParts, input: DispatchInput): Promise<readonly CallTiming[]> {
  const timings: CallTiming[] = [];
  let failed = false;
  const prepared = input.calls.map((call) => prepare(call, input));
  const beside = new Set<Promise<void>>();
  let broken: unknown;
  for (const group of groupCalls(prepared, parts.settings)) {
    const stop = failed && parts.settings.onError === "stop";
    const [first] = group;
    if (first !== undefined && isBeside(first, parts.settings)) {
      if (beside.size >= MAX_PARALLEL_CALLS) await Promise.race(beside);
      const run: Promise<void> = runOne(parts, input, first, stop, timings)
        .then(
          ({ outcome, endsTurn }) => {
            if (outcome !== "ok") failed = true;
            broken ??= endsTurn;
          },
          (error: unknown) => {
            broken ??= error;
          },
        )
        .finally(() => void beside.delete(run));
      beside.add(run);
      continue;
    }
    for (let at = 0; at < group.length; at += MAX_PARALLEL_CALLS) {
      const batch = group.slice(at, at + MAX_PARALLEL_CALLS);
      const results = await Promise.all(batch.map((call) => runOne(parts, input, call, stop, timings)));
      if (results.some((result) => result.outcome !== "ok")) failed = true;
      broken ??= results.find(({ endsTurn }) => endsTurn !== undefined)?.endsTurn;
    }
  }
  await Promise.all(beside);
  if (broken !== undefined) throw broken;
  return timings;
}

/** One call that another call makes: the whole chain, and a record of its own that names the one around it. */
export async function dispatchNested(
  parts: DispatchParts,
  input: Omit<DispatchInput, "calls" | "session" | "turn" | "step" | "originator" | "depth">,
  parent: ToolCall,
  call: Pick<RequestedCall, "id" | "name"> & { readonly args: Readonly<Record<string, unknown>> },
): Promise<CallResult> {
  if (parent.nesting >= MAX_NESTING) {
    return refusal("denied", "NotAllowed", `Calls are nested more than ${MAX_NESTING} levels deep.`);
  }
  const requested = { id: call.id, block: 0, name: call.name, arguments: JSON.stringify(call.args) };
  const { session, turn, step, originator, depth } = parent;
  const whole: DispatchInput = { ...input, session, turn, step, originator, depth, parent, calls: [requested] };
  return runOne(parts, whole, prepare(requested, whole), false, []);
}

function prepare(requested: RequestedCall, { tools, hidden }: DispatchInput): Prepared {
  const tool = tools.find((candidate) => candidate.name === requested.name);
  const parsed = parseArguments(requested.arguments);
  const why = tool === undefined ? hidden(requested.name) : undefined;
  if (why !== undefined) {
    const text = reasonText("PolicyDenied", { tool: requested.name, why: why.why, source: why.source });
    return { requested, shown: parsed.value, refused: refusal("denied", "PolicyDenied", text), policy: why };
  }
  if (tool === undefined) {
    const offered = tools.filter((candidate) => candidate.deferred !== true);
    const known = offered.map((candidate) => candidate.name).join(", ");
    const text = reasonText("UnknownTool", { tool: requested.name, known });
    return { requested, shown: parsed.value, refused: refusal("error", "UnknownTool", text) };
  }
  if (parsed.problem !== undefined) {
    const text = reasonText("InvalidArguments", { tool: tool.name, detail: parsed.problem });
    return { requested, tool, shown: parsed.value, refused: refusal("error", "InvalidArguments", text) };
  }
  return { requested, tool, args: parsed.value };
}

type ParsedArguments =
  | { readonly value: Record<string, unknown>; readonly problem?: undefined }
  | { readonly value: unknown; readonly problem: string };

function parseArguments(raw: string): ParsedArguments {
  if (raw.trim() === "") return { value: {} };
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (error) {
    return { value: raw, problem: `not JSON (${messageOf(error)})` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { value, problem: "expected a JSON object" };
  }
  if (isDeeper(value, MAX_ARGUMENT_DEPTH)) {
    return { value: "«too deep»", problem: `nested more than ${MAX_ARGUMENT_DEPTH} levels deep` };
  }
  // A JSON object has string keys and no prototype of its own.
  return { value: value as Record<string, unknown> };
}

/** Consecutive calls that may run together; a mutating call is a group of its own. */
function groupCalls(calls: readonly Prepared[], settings: ToolSettings): readonly Prepared[][] {
  const { execution } = settings;
  if (execution === "parallel") return calls.length === 0 ? [] : [[...calls]];
  const groups: Prepared[][] = [];
  let together: Prepared[] | undefined;
  for (const call of calls) {
    if (execution === "sequential" || isMutating(call) || isBeside(call, settings)) {
      together = undefined;
      groups.push([call]);
    } else if (together === undefined) {
      together = [call];
      groups.push(together);
    } else {
      together.push(call);
    }
  }
  return groups;
}

/** Declared to run beside what follows it. */
function isBeside(call: Prepared, { execution }: ToolSettings): boolean {
  return execution !== "sequential" && call.tool?.isAsync === true;
}

function isMutating(call: Prepared): boolean {
  return call.tool?.class === "mutating";
}

async function runOne(
  parts: DispatchParts,
  input: DispatchInput,
  call: Prepared,
  stop: boolean,
  timings: CallTiming[],
): Promise<CallResult> {
  const { bus, monotonicMs } = parts;
  const { requested, tool } = call;
  const { turn, step } = input;
  const startMs = monotonicMs();
  const isReading = tool?.class === "read_only";
  const announce = isReading ? bus.publishSoon : bus.publish;
  const started = announce("ToolCallStarted", {
    turn,
    step,
    block: requested.block,
    call_id: requested.id,
    name: requested.name,
    label: tool?.label ?? requested.name,
    args: "args" in call ? call.args : call.shown,
    ...defined({ class: tool?.class, parent: input.parent?.id }),
  });
  // A call that changes things is announced before it runs; one that only reads need only keep the order, and what it
  // publishes is written together with its result, which fails with it.
  let lost: { readonly error: unknown } | undefined;
  if (isReading) {
    started.catch((error: unknown) => {
      lost = { error };
    });
  } else await started;
  const notes = createNotes();
  const result = await resultOf(parts, input, call, stop, notes.add);
  const attrs = notes.all();
  const duration_ms = monotonicMs() - startMs;
  timings.push({ call_id: requested.id, name: requested.name, duration_ms });
  // A call that is not in the log has no result there.
  if (lost !== undefined) throw lost.error;
  await bus.publish("ToolResult", {
    turn,
    step,
    call_id: requested.id,
    name: requested.name,
    content: [...result.content],
    is_error: result.outcome !== "ok",
    outcome: result.outcome,
    ...defined({ reason: result.reason }),
    duration_ms,
    ...(result.memoized ? { memoized: true } : {}),
    ...(result.labels === undefined ? {} : { labels: [...result.labels] }),
    ...defined({ parent: input.parent?.id, attrs, judged_on: result.judgedOn }),
  });
  return result;
}

function createNotes(): { add(attributes: Attributes): void; all(): Attributes | undefined } {
  let notes: Map<string, string | number | boolean> | undefined;
  return {
    add(attributes) {
      notes ??= new Map();
      for (const [name, value] of Object.entries(attributes)) {
        if (notes.has(name) || notes.size < MAX_ATTRIBUTES) notes.set(name, value);
      }
    },
    all: () => (notes === undefined ? undefined : Object.fromEntries(notes)),
  };
}

async function resultOf(
  parts: DispatchParts,
  input: DispatchInput,
  call: Prepared,
  stop: boolean,
  annotate: (attributes: Attributes) => void,
): Promise<CallResult> {
  if (input.signal.aborted) return refusal("cancelled", "Cancelled", "Cancelled before it ran.");
  if ("refused" in call) {
    if (call.policy !== undefined) await recordPolicy(parts.bus, input, call.requested, call.policy, annotate);
    return call.refused;
  }
  if (stop && isMutating(call)) return refusal("not_executed", "NotExecuted", reasonText("NotExecuted"));
  const { session, turn, step, originator, signal, depth, parent, allowedBy } = input;
  const toolCall: ToolCall = {
    id: call.requested.id,
    session,
    turn,
    step,
    depth,
    ...defined({ parent: parent?.id, unasked: input.unasked ?? parent?.unasked }),
    nesting: parent === undefined ? 0 : parent.nesting + 1,
    originator,
    ...defined({ allowedBy }),
    tool: call.tool,
    args: call.args,
    signal,
    annotate,
    beside: { isOn: false, isOver: false, onEnd: async () => undefined },
    progress: (text) => {
      parts.bus.publishDelta({ kind: "ToolCallProgress", payload: { turn, call_id: call.requested.id, text } });
    },
  };
  try {
    return await parts.handler(toolCall);
  } catch (cause) {
    const endsTurn = storeFailure(cause);
    if (endsTurn !== undefined) return { ...refusal("error", "StoreFailed", endsTurn.message), endsTurn };
    // A middleware that throws has not done its work: the call fails, it is never waved through.
    const detail = messageOf(cause);
    return refusal("error", "InternalError", reasonText("InternalError", { detail }));
  }
}

async function recordPolicy(
  bus: EventBus,
  { turn, step }: DispatchInput,
  { id, name }: RequestedCall,
  { why, source }: { readonly why: string; readonly source: string },
  annotate: (attributes: Attributes) => void,
): Promise<void> {
  annotate({ "tool.policy": "denied", "tool.deny.reason": "tools_policy" });
  const trail = [{ stage: "policy", name: why, source, effect: "deny" }];
  const judged = { effect: "deny", by: "tools_policy", source, why, trail } as const;
  await bus.publish("CallJudged", { turn, step, call_id: id, name, judged });
}
