/**
 * Delegations of one session, from request to result: limits, `delegation.pre`, a child session, verification inside it,
 * `delegation.post`, the structured result. Every delegate that was started has an end on the record, and none outlives its turn.
 */

import type { AgentArtifact, DelegationConfig } from "#artifacts";
import { type Clock, defined } from "#base";
import {
  type CancelCause,
  type EventBus,
  type Hook,
  type HookDispatcher,
  type HookPoint,
  type ToolContext,
  ToolError,
} from "#engine";
import { type Event, type EventPayload, ReasonError, reasonText, type SessionId, textIn } from "#protocol";
import { type Composed, type ComposeParts, compose, findAgent, refuse } from "./compose.ts";
import type { Delegate, OpenDelegate } from "./delegate.ts";
import { attributesOf, cutMiddle, type DelegationOutcome, resultText, statusOf } from "./outcome.ts";
import { changedRequest, type DelegationRequest, parseRequest, prePayload, requestChanges } from "./request.ts";
import type { DelegationTree } from "./tree.ts";
import { createVerification, responseChanges, responseOf, type Verifying } from "./verification.ts";
import { type HeldWorktrees, MAX_WORKTREES, type Worktree } from "./worktree.ts";

/** Results of calls that verifiers and hooks are told, and how much of each. */
const MAX_TOLD_RESULTS = 1_000;
const TOLD_RESULT_CHARS = 4_000;

/** How long hooks are still told of a delegate that was stopped: a stop takes a second at most. */
const STOPPED_HOOKS_MS = 500;

export type DelegationMode = EventPayload<"DelegationStarted">["mode"];

export interface DelegationParts extends Pick<ComposeParts, "depth" | "bundles" | "callable" | "all" | "denied"> {
  readonly clock: Pick<Clock, "monotonicMs" | "sleep">;
  readonly bus: Pick<EventBus, "publish">;
  readonly limits: () => DelegationConfig;
  readonly agents: () => readonly AgentArtifact[];
  readonly tree: DelegationTree;
  /** Those of this session, with `own` before them. */
  readonly hooks: (own: readonly Hook[]) => HookDispatcher | undefined;
  readonly open: OpenDelegate;
  /** Makes a worktree for a delegate, named after the call. Rejects with a ToolError. */
  readonly openWorktree: (name: string) => Promise<Worktree>;
  readonly worktrees: HeldWorktrees;
  /** Aborts when the running turn does. */
  readonly turnSignal: () => AbortSignal | undefined;
  /** Adds to the counters of the run. */
  readonly count: (name: string, by: number) => void;
}

/** Where and how a delegate begins. */
interface Beginning {
  readonly point: HookPoint;
  readonly context: ToolContext;
  readonly mode: DelegationMode;
  /** The delegate is stopped with it. */
  readonly until: AbortSignal;
  /** Where it works, if not where its parent does. */
  readonly worktree: Worktree | undefined;
}

export interface RunningDelegation {
  readonly session: SessionId;
  readonly agent: string;
  /** Never rejects. */
  readonly done: Promise<DelegationOutcome>;
  stop(cause: CancelCause): void;
}

export interface Delegations {
  /** Rejects with a ToolError when it may not or cannot begin. */
  start(
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
    mode: DelegationMode,
  ): Promise<RunningDelegation>;
  /** Stops all that still work and waits until they have ended. Never rejects. */
  settle(): Promise<void>;
  readonly isBusy: boolean;
}

export function createDelegations(parts: DelegationParts): Delegations {
  const { clock, bus, depth, tree } = parts;
  const working = new Set<RunningDelegation>();

  function checkLimits(): DelegationConfig {
    const limits = parts.limits();
    if (depth >= limits.maxDepth) {
      throw refuse(
        `delegation depth limit reached: this agent is at depth ${depth} of ${limits.maxDepth} (delegation.max_depth).`,
      );
    }
    if (depth > 0 && !limits.allowRecursive) {
      throw refuse("A delegate may not delegate here (delegation.allow_recursive).");
    }
    return limits;
  }

  /** The request that hooks have left. */
  async function askFirst(args: Readonly<Record<string, unknown>>, point: HookPoint): Promise<DelegationRequest> {
    const request = parseRequest(args);
    checkLimits();
    findAgent(request.agent, parts.agents());
    const hooks = parts.hooks([]);
    if (hooks === undefined || hooks.idle("delegation.pre")) return request;
    const payload = prePayload(args, request, depth);
    const verdict = await hooks.dispatch("delegation.pre", payload, point, requestChanges);
    if (verdict.blocked) {
      const { hook, reason, source } = verdict;
      throw new ToolError(
        `blocked by hook "${hook}": ${reason}\n(${source}) To allow it, change that hook.`,
        "HookBlocked",
      );
    }
    return verdict.payload === payload ? request : changedRequest(verdict.payload);
  }

  async function start(
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
    mode: DelegationMode,
  ): Promise<RunningDelegation> {
    const point = pointOf(context);
    // A call of delegate_async is over long before its delegate is; the turn that it was made in is not.
    const until = mode === "sync" ? context.signal : parts.turnSignal();
    if (until === undefined) throw refuse("The turn is over.");
    const request = await askFirst(args, point);
    const limits = checkLimits();
    const { bundles, callable, all, denied } = parts;
    const composed = compose(request, { bundles, limits, depth, agents: parts.agents(), callable, all, denied });
    if (!tree.take(limits.maxConcurrent)) {
      throw refuse(
        `${limits.maxConcurrent} delegates are already working (delegation.max_concurrent). Wait for one of them, or do it yourself.`,
      );
    }
    let worktree: Worktree | undefined;
    try {
      if (composed.isolation !== undefined) worktree = await openWorktree(context);
      return await begin(request, composed, { point, context, mode, until, worktree });
    } catch (error) {
      tree.giveBack();
      await worktree?.close();
      if (error instanceof ReasonError) throw new ToolError(error.message, error.reason);
      throw error;
    }
  }

  async function openWorktree({ callId }: ToolContext): Promise<Worktree> {
    if (parts.worktrees.size >= MAX_WORKTREES) {
      throw refuse(`${MAX_WORKTREES} worktrees wait for a decision: use worktree.take or worktree.drop first.`);
    }
    return parts.openWorktree(callId.toLowerCase());
  }

  async function begin(
    request: DelegationRequest,
    composed: Composed,
    { point, context, mode, until, worktree }: Beginning,
  ): Promise<RunningDelegation> {
    const { task, agent, systemPrompt, model } = request;
    const results: unknown[] = [];
    let calls = 0;
    const where = { turn: context.turn, call_id: context.callId };
    const facts = { agent, task, prompt: task, depth };
    const verifying = createVerification({
      verifiers: composed.verifiers,
      maxRetries: composed.maxVerifyRetries,
      hooks: parts.hooks(composed.agentHooks),
      point,
      facts,
      results: () => results,
      record: (verdict) => bus.publish("DelegationVerified", { ...where, session: delegate.session, ...verdict }),
    });
    const chosen = model ?? composed.agent?.model;
    const prompt = systemPrompt ?? composed.agent?.prompt;
    const delegate = await parts.open({
      agent,
      callId: context.callId,
      depth: depth + 1,
      maxSteps: composed.maxSteps,
      tools: composed.tools,
      hooks: [...composed.requestHooks, ...composed.agentHooks],
      checkStop: verifying.check,
      ...defined({ model: chosen, folder: worktree?.folder }),
      ...(prompt === undefined || prompt === "" ? {} : { systemPrompt: prompt }),
      ...defined({ context: composed.agent?.context, toolsPolicy: composed.agent?.toolsPolicy }),
    });
    delegate.subscribe((event) => {
      if (event.kind !== "ToolResult" || event.payload.parent !== undefined) return;
      calls += 1;
      if (results.length < MAX_TOLD_RESULTS) results.push(toldResult(event));
    });
    const { session } = delegate;
    const started = { session, agent, task, mode, depth: depth + 1, model: delegate.model };
    try {
      const { maxSteps: max_steps, timeoutMs: timeout_ms } = composed;
      await bus.publish("DelegationStarted", {
        ...where,
        ...started,
        tools: [...delegate.toolNames],
        max_steps,
        timeout_ms,
      });
    } catch (error) {
      await delegate.close();
      throw error;
    }
    const startMs = clock.monotonicMs();
    const stop = stopperOf(delegate, until, composed.timeoutMs);
    const ended = work().finally(() => {
      stop.end();
      tree.giveBack();
      working.delete(running);
    });
    const running: RunningDelegation = { session, agent, done: ended, stop: stop.stop };
    working.add(running);
    return running;

    async function work(): Promise<DelegationOutcome> {
      let outcome: DelegationOutcome = {
        ...{ agent, session, status: "failed", reason: "StoreFailed", toolCalls: 0, durationMs: 0 },
        error: "The log of the delegate could not be written.",
        verification: verifying.verification,
        summary: {
          steps: 0,
          usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 },
        },
      };
      try {
        const summary = await delegate.run(task);
        outcome = {
          ...{ agent, session, summary, toolCalls: calls, verification: verifying.verification },
          ...statusOf(summary, stop.cause()),
          durationMs: clock.monotonicMs() - startMs,
        };
        const at = { ...point, signal: stop.signal };
        outcome = await askAfter(outcome, verifying, composed, at, { ...facts, model: delegate.model, mode });
      } catch (error) {
        // The turn of a delegate rejects only when its log is broken; that is what its parent is told.
        const detail = error instanceof Error ? error.message : String(error);
        outcome = { ...outcome, status: "failed", reason: "StoreFailed", error: reasonText("StoreFailed", { detail }) };
      }
      await delegate.close().catch(() => undefined); // its log is broken: there is nothing to add to it
      if (worktree !== undefined) outcome = { ...outcome, worktree: await parts.worktrees.keep(session, worktree) };
      const attrs = attributesOf(outcome, { depth, model: delegate.model, task, toolNames: delegate.toolNames });
      if (mode === "sync") context.annotate(attrs);
      tally(outcome);
      await tellEnd(outcome, attrs).catch(() => undefined); // the log of the parent is broken: its turn fails with that
      return outcome;
    }

    async function tellEnd(outcome: DelegationOutcome, attrs: EventPayload<"DelegationEnded">["attrs"]): Promise<void> {
      const { status, reason, summary, toolCalls, durationMs } = outcome;
      await bus.publish("DelegationEnded", {
        ...where,
        session,
        agent,
        mode,
        status,
        ...defined({ reason }),
        steps: summary.steps,
        tool_calls: toolCalls,
        usage: summary.usage,
        ...defined({ cost_usd: summary.costUsd }),
        duration_ms: durationMs,
        ...defined({ tree_total: summary.treeTotal, attrs }),
      });
    }
  }

  /** Why it was stopped is known to whoever stopped it first. */
  function stopperOf(delegate: Delegate, until: AbortSignal, timeoutMs: number) {
    let cause: CancelCause | undefined;
    const over = new AbortController();
    const late = new AbortController();
    const stop = (given: CancelCause): void => {
      if (cause === undefined) {
        void clock.sleep(STOPPED_HOOKS_MS, over.signal).then(() => late.abort());
      }
      cause ??= given;
      delegate.cancel(cause);
    };
    const unwatch = tree.watch(stop);
    const onAbort = (): void => stop(causeOf(until));
    until.addEventListener("abort", onAbort, { once: true });
    if (until.aborted) queueMicrotask(onAbort);
    void clock.sleep(timeoutMs, over.signal).then(() => {
      if (!over.signal.aborted) stop({ reason: "timeout" });
    });
    return {
      stop,
      cause: () => cause,
      /** Of what is still asked about it: a while after it was stopped. */
      signal: late.signal,
      end(): void {
        unwatch();
        until.removeEventListener("abort", onAbort);
        over.abort();
      },
    };
  }

  /** What `delegation.post` leaves of the outcome. */
  async function askAfter(
    outcome: DelegationOutcome,
    verifying: Verifying,
    composed: Composed,
    point: HookPoint,
    facts: Readonly<Record<string, unknown>>,
  ): Promise<DelegationOutcome> {
    const { accepted, claimed } = verifying;
    const isDone = outcome.status === "ok" && accepted !== undefined;
    const told = isDone ? { ...outcome, result: accepted.response } : outcome;
    const hooks = parts.hooks(composed.agentHooks);
    if (hooks === undefined || hooks.idle("delegation.post")) return told;
    const { status, reason, error, session } = outcome;
    const response = isDone ? accepted.response : "";
    const payload = {
      ...facts,
      ...{ session, status, response, result: response },
      ...(reason === undefined ? {} : { reason, error }),
      tool_calls: claimed?.tool_calls ?? [],
      tool_results: claimed?.tool_results ?? [],
      attempt: verifying.verification.attempts,
    };
    const verdict = await hooks.dispatch("delegation.post", payload, point, responseChanges);
    // What was stopped stays that, whatever hooks still say to it.
    if (verdict.blocked && status === "cancelled") return told;
    if (verdict.blocked) {
      const why = `blocked by hook "${verdict.hook}": ${verdict.reason} (${verdict.source})`;
      const { result: _, ...rest } = told;
      return { ...rest, status: "failed", reason: "HookBlocked", error: why };
    }
    if (verdict.payload === payload || !isDone) return told;
    return { ...told, result: responseOf(verdict.payload) };
  }

  function tally({ status, verification }: DelegationOutcome): void {
    parts.count("delegation.count", 1);
    if (status !== "ok") parts.count("delegation.failed", 1);
    if (verification.outcome === "skipped") return;
    parts.count("delegation.verify_attempts", verification.attempts);
    parts.count(`delegation.verify_${verification.outcome}`, 1);
  }

  return {
    start,
    get isBusy() {
      return working.size > 0;
    },
    async settle() {
      for (const running of [...working]) running.stop({ reason: "parent" });
      await Promise.all([...working].map(({ done }) => done));
    },
  };
}

/** A result that the model of the parent reads: JSON, an error where the work was not done. */
export function outputOf(outcome: DelegationOutcome): { content: [{ type: "text"; text: string }] } {
  const text = resultText(outcome);
  if (outcome.status !== "ok") throw new ToolError(text, outcome.reason ?? "KindDelegation");
  return { content: [{ type: "text", text }] };
}

function causeOf(signal: AbortSignal): CancelCause {
  const reason: unknown = signal.reason;
  const known = typeof reason === "object" && reason !== null && "reason" in reason;
  // Turns are aborted with a CancelCause; anything else is the time limit of the call.
  const cause = known ? (reason as CancelCause) : ({ reason: "timeout" } as const);
  return cause.reason === "store" ? { reason: "parent" } : cause;
}

function pointOf({ session, turn, callId, depth, nesting, originator, signal }: ToolContext): HookPoint {
  return { session, turn, callId, depth, nesting, originator, signal };
}

function toldResult({ payload }: Extract<Event, { kind: "ToolResult" }>): unknown {
  const { call_id, name, content, is_error } = payload;
  const text = textIn(content);
  return { call_id, name, content: cutMiddle(text, TOLD_RESULT_CHARS), is_error };
}
