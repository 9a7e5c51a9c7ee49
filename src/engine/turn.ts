/**
 * The agent loop of one turn: request chain, provider, tool chain, and the decision to go on or to yield. Orchestration
 * only: what a request contains and which calls may run is decided by the two chains.
 */
import { defined } from "#base";
import {
  type ClientId,
  type EventPayload,
  type InputBlock,
  type Label,
  type Reason,
  reasonText,
  type TurnId,
  type TurnOutcome,
  type Usage,
} from "#protocol";
import { abandonOnAbort } from "./abandon.ts";
import { carriedOn } from "./carried-on.ts";
import { type CompactionParts, compactAfter, compactBefore, compactNow } from "./compaction.ts";
import { dispatchCalls, type HiddenTools, type ToolSettings } from "./dispatch.ts";
import type { HookDispatcher } from "./hook.ts";
import type { ExpandMentions, MentioningInput } from "./mentions.ts";
import type { RunOwnCommand } from "./own-command.ts";
import type { Redaction } from "./redaction.ts";
import { requestStep, type StepOutput, type StepParts } from "./request-step.ts";
import type { Spent } from "./spent.ts";
import type { Steering } from "./steering.ts";
import { type Claim, checkClaim, type StopVerdict } from "./stop-check.ts";
import type { Tool } from "./tool.ts";
import type { ToolHandler } from "./tool-chain.ts";
import { cancelledEnding, type Ending, endingOf } from "./turn-ending.ts";
import { askAtEnd, askAtStart, askToStop, publishContext } from "./turn-hooks.ts";
import { addUse, createTally, type ModelUse, type Tally, tallyCalls, tallyModelCall, totalOf } from "./turn-tally.ts";

export interface TurnParts extends StepParts {
  readonly redaction: Pick<Redaction, "payload">;
  /** Makes the conversation shorter when it grows too long; absent: nothing does. */
  readonly compaction?: CompactionParts;
  readonly toolHandler: ToolHandler;
  readonly toolSettings: ToolSettings;
  /** Asked at every step. */
  readonly tools: () => readonly Tool[];
  readonly hidden: HiddenTools;
  readonly depth: number;
  /** Asked around turns and when the agent wants to stop. */
  readonly hooks?: HookDispatcher;
  /** Adds the files, resources and prompts that the input names; absent for delegates, whose input no person wrote. */
  readonly expandMentions?: ExpandMentions;
  readonly runOwnCommand: RunOwnCommand;
  /** Adds what joins the turn besides its input. */
  readonly joinTurn?: (input: MentioningInput) => Promise<void>;
  /** Before anything of a turn is told to anybody. */
  readonly beforeTurn?: () => Promise<void>;
  /** Before a turn asks its hooks, and before each further step: what was written since takes effect. */
  readonly beforeStep?: (turn: TurnId) => Promise<void>;
  /** In each step, once the turn is in the log: what a person is asked before the request is made. */
  readonly askInStep?: (signal: AbortSignal) => Promise<void>;
  readonly checkStop?: (claim: Claim) => Promise<StopVerdict>;
  /** Ends what the turn has set going and has not waited for. Must not throw. */
  readonly settle?: () => Promise<void>;
  /** Publishes what was counted; absent where nothing is. Must not throw. */
  readonly beforeEnd?: (turn: TurnId) => void;
  /** What tools have had the model answer since it was asked last; added to the turn that runs. */
  readonly takeUsed?: () => readonly ModelUse[];
  readonly maxSteps: number;
  /** What the session had used before this turn. */
  readonly spent: Spent;
  /** What its delegates have used until now; asked at the end of the turn. */
  readonly delegated: () => Spent;
  /** What the session holds; asked at the end of the turn. */
  readonly labels: () => readonly Label[];
  /** Whether the session is in plan mode; asked at the end of the turn. */
  readonly planMode: () => boolean;
  readonly steering: Steering;
  /** Inputs that wait; asked at the end of the turn. */
  readonly queued: () => readonly number[];
  /** Events that still apply; asked at the end of the turn. */
  readonly lasting: () => readonly number[];
}

export interface TurnInput {
  readonly turn: TurnId;
  readonly originator: ClientId;
  readonly content: readonly InputBlock[];
  /** The InputQueued that this turn delivers. */
  readonly queued?: number;
  /** A person's own command: the turn runs it and asks no model. */
  readonly command?: string;
  /** The turn has no input: the conversation is compacted. */
  readonly compact?: { readonly focus?: string };
  /** Aborted with a `CancelCause` as its reason. */
  readonly signal: AbortSignal;
  /** Given the write of TurnStarted as soon as it begins. */
  readonly onStart: (started: Promise<void>) => void;
}

export interface TurnSummary {
  readonly turn: TurnId;
  readonly outcome: TurnOutcome;
  readonly reason?: Reason;
  readonly message?: string;
  readonly steps: number;
  readonly usage: Usage;
  readonly costUsd?: number;
  /** What the session and its delegates have used together; absent when it had none. */
  readonly treeTotal?: Spent;
}

/** Runs one turn to its end. Rejects only with StoreFailed, when not even the end could be recorded. */
export async function runTurn(parts: TurnParts, input: TurnInput): Promise<TurnSummary> {
  const { bus, monotonicMs } = parts;
  const { turn } = input;
  const startMs = monotonicMs();
  const startWriteMs = bus.writeMs;
  const tally = createTally();
  let ending: Ending;
  let told: string | undefined;
  let hasBegun = false;
  try {
    ending = (await isReady(parts, input))
      ? await begin(parts, input, tally, () => {
          hasBegun = true;
        })
      : cancelledEnding(input.signal);
  } catch (cause) {
    ending = endingOf(cause);
    // An input that could not be stored is refused: there is no turn that could end.
    if (!hasBegun && ending.reason === "StoreFailed") {
      parts.steering.close();
      throw cause;
    }
  }
  parts.steering.close();
  // What the turn has set going ends with it, and before it.
  await parts.settle?.();
  try {
    if (input.command === undefined) await askAtEnd(parts, input, tally, ending);
    await tellTotals(parts, turn);
  } catch (cause) {
    if (ending.outcome !== "error") ending = endingOf(cause);
  }
  const { usage, costUsd, steps } = tally;
  const last: Promise<void>[] = [];
  if (ending.cancelled !== undefined) {
    last.push(bus.publish("Cancelled", { turn, ...ending.cancelled }));
  } else if (ending.reason !== undefined) {
    const { reason, message = reasonText(reason) } = ending;
    // Whoever waits for the turn reads no more than whoever reads the log.
    const error = parts.redaction.payload("Error", { turn, reason, message, terminal: true });
    told = error.message;
    last.push(bus.publish("Error", error));
  }
  const timing = bus.publish("TurnTiming", {
    turn,
    total_ms: monotonicMs() - startMs,
    request_middleware_ms: tally.requestMs,
    provider_ttfb_ms: tally.firstByteMs ?? 0,
    provider_total_ms: tally.providerMs,
    store_write_ms: bus.writeMs - startWriteMs,
    tools: tally.tools,
  });
  const carried = carriedOn({
    spent: totalOf(parts.spent, tally),
    delegated: parts.delegated(),
    labels: parts.labels(),
    planMode: parts.planMode(),
    queued: parts.queued(),
    lasting: parts.lasting(),
  });
  const ended: EventPayload<"TurnEnded"> = {
    turn,
    outcome: ending.outcome,
    ...defined({ reason: ending.reason }),
    steps,
    usage,
    ...defined({ cost_usd: costUsd }),
    duration_ms: monotonicMs() - startMs,
    ...carried,
  };
  // All of it, also where the store does not take the first: what is owed to the log has to be the whole end.
  await Promise.all([...last, timing, bus.publish("TurnEnded", ended)]);
  return {
    turn,
    outcome: ending.outcome,
    ...defined({ reason: ending.reason, message: told }),
    steps,
    usage,
    ...defined({ costUsd, treeTotal: carried.tree_total }),
  };
}

/** False when it was cancelled first: nothing of it may be written then. */
async function isReady({ beforeTurn }: TurnParts, { signal }: TurnInput): Promise<boolean> {
  if (beforeTurn === undefined) return true;
  const ready = beforeTurn().then(() => true);
  return (await abandonOnAbort(ready, signal, 0)) === true;
}

/** `onBegun` is called when the log has the input. */
async function begin(parts: TurnParts, input: TurnInput, tally: Tally, onBegun: () => void): Promise<Ending> {
  const { turn } = input;
  // Before the hooks of the turn: one that refuses every turn must be gone when its file is.
  await parts.beforeStep?.(turn);
  const { command, compact } = input;
  // Asked first: what a hook takes out of an input must not be in the log. Hooks judge a person's command as a call.
  const isInput = command === undefined && compact === undefined;
  const { content, context, refused } = isInput
    ? await askAtStart(parts, input)
    : { content: input.content, context: [], refused: undefined };
  const kind = {
    ...defined({ queued: input.queued }),
    ...(command !== undefined && { own_command: true as const }),
    ...(refused !== undefined && { refused: true as const }),
  };
  const started = parts.bus.publish("TurnStarted", { turn, content: [...content], model: parts.model(), ...kind });
  input.onStart(started);
  await started;
  onBegun();
  if (command !== undefined) return parts.runOwnCommand({ ...input, command });
  if (compact !== undefined) return compactNow(parts, input, tally);
  if (refused !== undefined) return refused;
  const { originator, signal } = input;
  const joined = { turn, step: 1, originator, content, signal };
  const missing = await parts.expandMentions?.(joined);
  for (const use of parts.takeUsed?.() ?? []) addUse(tally, use);
  if (missing !== undefined) return missing;
  await publishContext(parts.bus, context, turn);
  await parts.joinTurn?.(joined);
  return runSteps(parts, input, tally);
}

async function runSteps(parts: TurnParts, input: TurnInput, tally: Tally): Promise<Ending> {
  const { bus } = parts;
  let lastStep = parts.maxSteps;
  for (let step = 1; step <= lastStep; step++) {
    if (input.signal.aborted) return cancelledEnding(input.signal);
    tally.steps = step;
    parts.steering.enter(step);
    if (step > 1) await parts.beforeStep?.(input.turn);
    // Whoever sent the input gets the reply first: a step that does not wait for anything would hold it up.
    else await new Promise((resolve) => setImmediate(resolve));
    await parts.askInStep?.(input.signal);
    const tooLong = await compactBefore(parts, input, step, tally);
    if (input.signal.aborted) return cancelledEnding(input.signal);
    if (tooLong !== undefined) return tooLong;
    const tools = parts.tools();
    const { outcome, calls, yielded, text } = await requestFitting(parts, input, step, tools, tally);
    if (outcome.type === "failed") {
      const { usage, costUsd } = outcome;
      const used = usage && { model: parts.model(), usage, ...defined({ costUsd }) };
      if (used !== undefined) tallyModelCall(tally, bus, input.turn, step, used);
      if (input.signal.aborted) return cancelledEnding(input.signal);
      return { outcome: "error", reason: outcome.reason, message: outcome.message };
    }
    tallyModelCall(tally, bus, input.turn, step, outcome);
    tally.text = text;
    if (calls.length > 0) {
      const { session, toolHandler: handler, toolSettings: settings, monotonicMs } = parts;
      const { turn, originator, signal } = input;
      const { hidden, depth } = parts;
      tallyCalls(tally, calls);
      const dispatched = dispatchCalls(
        { bus, handler, settings, monotonicMs },
        { session, turn, step, originator, calls, tools, hidden, depth, signal },
      );
      tally.tools.push(...(await dispatched));
      for (const use of parts.takeUsed?.() ?? []) addUse(tally, use);
    }
    if (input.signal.aborted) return cancelledEnding(input.signal);
    const yields = yielded || outcome.stop === "yield";
    if (!yields && calls.length > 0) continue;
    const stop = await askToStop(parts, input, step, tally);
    if (stop === "go on") continue;
    if (stop !== undefined) return stop;
    const { turn, originator, signal } = input;
    const { calls: made } = tally;
    const checked = await checkClaim(parts, { turn, step, originator, text: tally.text, calls: made, signal });
    if (input.signal.aborted) return cancelledEnding(input.signal);
    if (checked === undefined) {
      // What was said while the step ran is answered before the turn ends.
      if (!parts.steering.end()) continue;
      return { outcome: yields ? "yielded" : "answered" };
    }
    if (checked !== "again") return checked;
    // Each attempt may take as many steps as the first; how many there are is bounded by the check.
    lastStep = step + parts.maxSteps;
  }
  return { outcome: "step_limit", reason: "StepLimit", message: reasonText("StepLimit", { limit: parts.maxSteps }) };
}

/** A request that is refused as too long is made once more, with a shorter conversation. */
async function requestFitting(
  parts: TurnParts,
  input: TurnInput,
  step: number,
  tools: readonly Tool[],
  tally: Tally,
): Promise<StepOutput> {
  const first = await requestStep(parts, input, step, tools, tally);
  await parts.bus.flush();
  if (!(await compactAfter(parts, input, step, tally, first))) return first;
  const second = await requestStep(parts, input, step, parts.tools(), tally);
  await parts.bus.flush();
  return second;
}

/** What parts have counted is on the record before the turn has ended; only then may somebody stop listening. */
async function tellTotals({ bus, beforeEnd }: TurnParts, turn: TurnId): Promise<void> {
  if (beforeEnd === undefined) return;
  // What the last step has cost is told to those who count.
  await bus.flush();
  beforeEnd(turn);
}
