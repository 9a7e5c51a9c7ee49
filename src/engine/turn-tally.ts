/** What a turn has used and done so far: for its record, for the hooks at its end, and for the totals of the session. */
import { jsonIn } from "#base";
import type { EventPayload, TurnId, Usage } from "#protocol";
import type { EventBus } from "./bus.ts";
import type { CallTiming, RequestedCall } from "./dispatch.ts";
import { note } from "./note.ts";
import { type Spent, sumOf, tokensOf } from "./spent.ts";
import type { PublishedCall } from "./turn-hooks.ts";

/** Calls of a turn that `turn.end` and `agent.stop` are told of. */
const MAX_TOLD_CALLS = 1000;

export interface Tally {
  steps: number;
  usage: Usage;
  costUsd: number | undefined;
  requestMs: number;
  providerMs: number;
  firstByteMs: number | undefined;
  readonly tools: CallTiming[];
  /** What the model wrote in the last step. */
  text: string;
  readonly calls: PublishedCall[];
  stopsBlocked: number;
}

export function createTally(): Tally {
  return {
    steps: 0,
    usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 },
    costUsd: 0,
    requestMs: 0,
    providerMs: 0,
    firstByteMs: undefined,
    tools: [],
    text: "",
    calls: [],
    stopsBlocked: 0,
  };
}

/** What a model call has used. Without `costUsd` its price is not known. */
export interface ModelUse {
  readonly model: string;
  readonly usage: Usage;
  readonly costUsd?: number;
}

/** Adds a model call and publishes what it has cost. */
export function tallyModelCall(tally: Tally, bus: EventBus, turn: TurnId, step: number, use: ModelUse): void {
  addUse(tally, use);
  // Written with what comes next, the calls of the step or the end of the turn, and failing with it.
  note(bus, "CostIncremented", costPayload(turn, step, use));
}

/** For a model call beside the conversation: it is written before the next one is made. */
export function publishCost(bus: Pick<EventBus, "publish">, turn: TurnId, step: number, use: ModelUse): Promise<void> {
  return bus.publish("CostIncremented", costPayload(turn, step, use));
}

export function addUse(tally: Tally, { usage, costUsd }: ModelUse): void {
  const sum = tally.usage;
  tally.usage = {
    input_tokens: sum.input_tokens + usage.input_tokens,
    output_tokens: sum.output_tokens + usage.output_tokens,
    cache_read_tokens: sum.cache_read_tokens + usage.cache_read_tokens,
    cache_write_tokens: sum.cache_write_tokens + usage.cache_write_tokens,
  };
  // One step without a price makes the sum unknown, not smaller.
  tally.costUsd = tally.costUsd === undefined || costUsd === undefined ? undefined : tally.costUsd + costUsd;
}

function costPayload(turn: TurnId, step: number, { model, usage, costUsd }: ModelUse): EventPayload<"CostIncremented"> {
  const provider = model.slice(0, model.indexOf(":"));
  return { turn, step, provider, model, usage, ...(costUsd !== undefined && { cost_usd: costUsd }) };
}

export function tallyCalls(tally: Tally, calls: readonly RequestedCall[]): void {
  if (tally.calls.length < MAX_TOLD_CALLS) tally.calls.push(...calls.map(toldCall));
}

/** Of the session, this turn included. */
export function totalOf(before: Spent, { usage, costUsd = 0, steps, tools }: Tally): Spent {
  return sumOf(before, { cost_usd: costUsd, tokens: tokensOf(usage), steps, calls: tools.length });
}

function toldCall({ name, arguments: raw }: RequestedCall): PublishedCall {
  const args = jsonIn(raw);
  return { name, args: args === undefined ? raw : args };
}
