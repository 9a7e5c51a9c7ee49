/**
 * Where a turn makes its conversation shorter: before a request, after a provider has refused one as too long, and when a person asks
 * for it. What is removed and what takes its place is decided by the compactor.
 */
import { defined } from "#base";
import type { ClientId, Reason, SessionId, TurnId } from "#protocol";
import { type AsideAnswer, askAside } from "./aside.ts";
import type { EventBus } from "./bus.ts";
import type { Conversation } from "./conversation.ts";
import type { ModelOutcome, ModelRequest } from "./provider.ts";
import type { RequestHandler } from "./request-chain.ts";
import type { ToolCall } from "./tool-chain.ts";
import { cancelledEnding, type Ending } from "./turn-ending.ts";
import { addUse, publishCost, type Tally, tallyModelCall } from "./turn-tally.ts";

export interface CompactionPoint extends Pick<ToolCall, "session" | "turn" | "step" | "originator" | "signal"> {
  /** `provider:name` of the next request. */
  readonly model: string;
  readonly conversation: Pick<Conversation, "parts" | "pinned">;
  readonly bus: Pick<EventBus, "publish" | "flush" | "lastId">;
  /** Asks a model outside the conversation; what it costs is counted as any other call. */
  ask(request: ModelRequest): Promise<AsideAnswer>;
}

export interface CompactionProblem {
  readonly reason: Reason;
  readonly message: string;
}

/** None of these throws but for a store or a redaction that fails. */
export interface Compactor {
  /** What it resolves to ends the turn. */
  beforeRequest(at: CompactionPoint): Promise<CompactionProblem | undefined>;
  /** The request was refused as too long. True: the conversation is shorter now. */
  afterOverflow(at: CompactionPoint): Promise<boolean>;
  /** On demand. */
  now(at: CompactionPoint, focus: string | undefined): Promise<CompactionProblem | undefined>;
}

/** What a turn needs to compact; absent: it never does. */
export interface CompactionParts {
  readonly compactor: Compactor;
  /** The way of a request that is not part of the conversation: what counts and limits it, then the provider. */
  readonly aside: RequestHandler;
}

interface Parts {
  readonly session: SessionId;
  readonly bus: EventBus;
  readonly conversation: Conversation;
  readonly compaction?: CompactionParts;
  readonly model: () => string;
}

interface Input {
  readonly turn: TurnId;
  readonly originator: ClientId;
  readonly signal: AbortSignal;
  readonly compact?: { readonly focus?: string };
}

/** The whole of a turn that a person began to compact. */
export async function compactNow(parts: Parts, input: Input, tally: Tally): Promise<Ending> {
  const { compaction } = parts;
  if (compaction === undefined) throw new Error("a session without a compactor was asked to compact");
  tally.steps = 1;
  const problem = await compaction.compactor.now(pointOf(parts, compaction, input, 1, tally), input.compact?.focus);
  if (input.signal.aborted) return cancelledEnding(input.signal);
  return problem === undefined ? { outcome: "answered" } : { outcome: "error", ...problem };
}

export async function compactBefore(
  parts: Parts,
  input: Input,
  step: number,
  tally: Tally,
): Promise<Ending | undefined> {
  const { compaction } = parts;
  if (compaction === undefined) return undefined;
  const problem = await compaction.compactor.beforeRequest(pointOf(parts, compaction, input, step, tally));
  return problem && { outcome: "error", ...problem };
}

/** Whether the step is to be asked again. `written`: what the model had begun to say is void then. */
export async function compactAfter(
  parts: Parts,
  input: Input,
  step: number,
  tally: Tally,
  { outcome, written }: { readonly outcome: ModelOutcome; readonly written: boolean },
): Promise<boolean> {
  const { compaction, bus } = parts;
  if (compaction === undefined || outcome.type === "done" || outcome.reason !== "ContextOverflow") return false;
  if (input.signal.aborted) return false;
  const { turn } = input;
  const { usage, costUsd, reason, message } = outcome;
  if (written) await bus.publish("Error", { turn, step, reason, message, terminal: false, retry_after_ms: 0 });
  if (!(await compaction.compactor.afterOverflow(pointOf(parts, compaction, input, step, tally)))) return false;
  if (usage !== undefined) {
    tallyModelCall(tally, bus, turn, step, { model: parts.model(), usage, ...defined({ costUsd }) });
  }
  return true;
}

function pointOf(
  { session, bus, conversation, model }: Parts,
  { aside }: CompactionParts,
  { turn, originator, signal }: Input,
  step: number,
  tally: Tally,
): CompactionPoint {
  const ask = async (request: ModelRequest): Promise<AsideAnswer> => {
    const onChat = (ms: number): void => {
      tally.providerMs += ms;
    };
    const answer = await askAside(aside, { session, turn, step, originator, signal, onChat }, request);
    if (answer.use !== undefined) {
      addUse(tally, answer.use);
      await publishCost(bus, turn, step, answer.use);
    }
    return answer;
  };
  return { session, turn, step, originator, signal, model: model(), conversation, bus, ask };
}
