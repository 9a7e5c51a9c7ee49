/**
 * Limits on what a turn, a session and a tree of sessions may use: money, tokens, steps, calls, time. Checked before each
 * model call and each tool call, so that the most a budget can be overshot by is the one call that crossed it.
 */
import type { BudgetConfig } from "#artifacts";
import type { Clock } from "#base";
import {
  type EventBus,
  note,
  type RequestMiddleware,
  refusal,
  type Spent,
  type ToolMiddleware,
  tokensOf,
} from "#engine";
import { type CallId, type Event, type EventPayload, reasonText, type TurnId } from "#protocol";
import { mayBeCalledOut, mayBeUsedUp, nextChange, type TreeUse, tellChange } from "./tree-use.ts";

export type BudgetScope = "turn" | "session" | "tree";

export interface BudgetUse {
  costUsd: number;
  tokens: number;
  steps: number;
  calls: number;
  /** Calls that were let pass and are not on the record yet: those that run side by side must not all fit in the last place. */
  begun: number;
  /** On the monotonic clock; unset until something began. */
  startedMs: number | undefined;
}

/** Told once when less than this part is left. */
const WARN_PART = 0.2;

export interface BudgetOptions {
  /** For warnings. */
  readonly bus: Pick<EventBus, "publishSoon">;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Asked for each check: a project may change them between steps. */
  readonly limits: () => Partial<Record<BudgetScope, BudgetConfig>>;
  /** Shared by all sessions of a tree. */
  readonly tree: TreeUse;
  /** The budget of the tree is used up: what still runs in it is to stop. */
  readonly onTreeUsedUp?: () => void;
  /** What the session used in earlier runs. */
  readonly spent?: Spent;
}

export interface Budgets {
  /** Tallies what is used; subscribe it to the bus. */
  readonly onEvent: (event: Event) => void;
  readonly request: RequestMiddleware;
  readonly tool: ToolMiddleware;
  /** Publishes what is left, when a limit is set. */
  tellLeft(turn: TurnId): void;
  /** The session is over: nothing of it is on its way any more. */
  close(): void;
}

export type BudgetLine = Omit<EventPayload<"BudgetWarning">, "turn">;

function newBudgetUse(): BudgetUse {
  return { costUsd: 0, tokens: 0, steps: 0, calls: 0, begun: 0, startedMs: undefined };
}

export function createBudgets({ bus, clock, limits, tree, spent, onTreeUsedUp }: BudgetOptions): Budgets {
  let turn: { readonly id: TurnId; readonly use: BudgetUse } | undefined;
  const session = newBudgetUse();
  if (spent !== undefined) {
    const { cost_usd, tokens, steps, calls } = spent;
    Object.assign(session, { costUsd: cost_usd, tokens, steps, calls });
  }
  /** What gives the place of a call back, once it is counted or has ended. */
  const places = new Map<CallId, () => void>();
  const warned = new Set<string>();
  /** A model that has answered without a price: what a budget in dollars has left is not known any more. */
  let unpriced: string | undefined;
  /** Of this session, in the counts of the tree: model calls by turn and step, tool calls by their id. */
  const running = new Set<string>();
  const passing = new Set<CallId>();

  function endRequest(key: string): void {
    if (!running.delete(key)) return;
    tree.requests -= 1;
    tellChange(tree);
  }

  function endPassing(id: CallId): void {
    if (!passing.delete(id)) return;
    tree.passing -= 1;
    tellChange(tree);
  }

  /** Of a delegate of an earlier run, which nobody here has counted. */
  function addEarlier({ tree_total }: EventPayload<"DelegationEnded">): void {
    if (tree_total === undefined) return;
    tree.costUsd += tree_total.cost_usd;
    tree.tokens += tree_total.tokens;
    tree.steps += tree_total.steps;
    tree.calls += tree_total.calls;
  }

  function begin(id: TurnId): void {
    if (turn?.id === id) return;
    turn = { id, use: newBudgetUse() };
    for (const key of warned) if (key.startsWith("turn ")) warned.delete(key);
  }

  function lines(): BudgetLine[] {
    const uses: readonly (readonly [BudgetScope, BudgetUse | undefined])[] = [
      ["turn", turn?.use],
      ["session", session],
      ["tree", tree],
    ];
    const set = limits();
    const nowMs = clock.monotonicMs();
    return uses.flatMap(([scope, use]) => {
      const limit = set[scope];
      return limit === undefined || use === undefined ? [] : linesOf(scope, limit, use, nowMs);
    });
  }

  /** The first limit that is used up, after warning of those that nearly are. */
  function exceeded(id: TurnId): BudgetLine | undefined {
    begin(id);
    for (const use of [turn?.use, session, tree]) if (use !== undefined) use.startedMs ??= clock.monotonicMs();
    const all = lines();
    for (const line of all) {
      const key = `${line.scope} ${line.kind}`;
      if (warned.has(key) || line.limit - line.used > line.limit * WARN_PART) continue;
      warned.add(key);
      note(bus, "BudgetWarning", { turn: id, ...line });
    }
    return all.find(({ used, limit }) => used >= limit);
  }

  function countsDollars(): boolean {
    return Object.values(limits()).some(({ maxCostUsd }) => maxCostUsd !== undefined);
  }

  function refuse(over: BudgetLine): string {
    if (over.scope === "tree") onTreeUsedUp?.();
    return describe(over);
  }

  return {
    onEvent(event) {
      if (event.kind === "TurnStarted") begin(event.payload.turn);
      if (event.kind === "ToolIntent") places.get(event.payload.call_id)?.();
      if (event.kind === "DelegationEnded" && event.payload.status === "interrupted") addEarlier(event.payload);
      tally(event, turn === undefined ? [session, tree] : [turn.use, session, tree]);
      if (event.kind === "CostIncremented") {
        const { usage, cost_usd = 0, model } = event.payload;
        if (event.payload.cost_usd === undefined && tokensOf(usage) > 0) unpriced = model;
        const { tokens = 0, costUsd = 0 } = tree.largest ?? {};
        tree.largest = { tokens: Math.max(tokens, tokensOf(usage)), costUsd: Math.max(costUsd, cost_usd) };
        endRequest(stepKey(event.payload));
      } else if (event.kind === "ToolIntent" || event.kind === "ToolResult") {
        endPassing(event.payload.call_id);
      }
    },
    tellLeft(id) {
      const budgets = lines();
      if (budgets.length > 0) note(bus, "BudgetLeft", { turn: id, budgets });
    },
    async request(call, next) {
      let over = exceeded(call.turn);
      while (over === undefined && !call.signal.aborted && mayBeUsedUp(tree, limits().tree ?? {})) {
        await nextChange(tree, call.signal);
        over = exceeded(call.turn);
      }
      if (over !== undefined) {
        return { type: "failed", reason: "BudgetExceeded", message: refuse(over), retryable: false };
      }
      const needsPrice = countsDollars();
      if (needsPrice && unpriced !== undefined) {
        const message = reasonText("PriceUnknown", { model: unpriced });
        return { type: "failed", reason: "PriceUnknown", message, retryable: false };
      }
      const key = stepKey(call);
      running.add(key);
      tree.requests += 1;
      const outcome = await next(needsPrice ? { ...call, needsPrice } : call);
      // What it has used is told with its cost; until then it counts as running.
      if (outcome.type === "failed" && outcome.usage === undefined) endRequest(key);
      return outcome;
    },
    async tool(call, next) {
      let over = exceeded(call.turn);
      // A call inside another one does not wait: the one around it waits for it.
      while (isFree(over) && call.nesting === 0 && !call.signal.aborted && mayBeCalledOut(tree, limits().tree ?? {})) {
        await nextChange(tree, call.signal);
        over = exceeded(call.turn);
      }
      if (over !== undefined && !isFree(over)) return refusal("denied", "BudgetExceeded", refuse(over));
      passing.add(call.id);
      tree.passing += 1;
      // Those of the tree wait; those of one session that run side by side must not all fit in its last place.
      const uses = turn === undefined ? [session] : [turn.use, session];
      for (const use of uses) use.begun += 1;
      const release = (): void => {
        if (places.delete(call.id)) for (const use of uses) use.begun -= 1;
      };
      places.set(call.id, release);
      try {
        return await next(call);
      } finally {
        release();
      }
    },
    close() {
      for (const key of [...running]) endRequest(key);
      for (const id of [...passing]) endPassing(id);
    },
  };
}

function tally(event: Event, uses: readonly BudgetUse[]): void {
  if (event.kind === "CostIncremented") {
    const { usage, cost_usd = 0 } = event.payload;
    const tokens = tokensOf(usage);
    for (const use of uses) {
      use.tokens += tokens;
      use.costUsd += cost_usd;
      use.steps += 1;
    }
  } else if (event.kind === "ToolIntent") {
    for (const use of uses) use.calls += 1;
  }
}

function stepKey({ turn, step }: { readonly turn: TurnId; readonly step: number }): string {
  return `${turn} ${step}`;
}

/** Steps are counted at model calls: a call of the step that was the last may still run. */
function isFree(over: BudgetLine | undefined): boolean {
  return over === undefined || over.kind === "steps";
}

function linesOf(scope: BudgetScope, limit: BudgetConfig, use: BudgetUse, nowMs: number): BudgetLine[] {
  const { maxCostUsd, maxTokens, maxSteps, maxCalls, maxWallMs } = limit;
  const wall = use.startedMs === undefined ? 0 : nowMs - use.startedMs;
  const all: readonly (readonly [BudgetLine["kind"], number, number | undefined])[] = [
    ["cost_usd", use.costUsd, maxCostUsd],
    ["tokens", use.tokens, maxTokens],
    ["steps", use.steps, maxSteps],
    ["calls", use.calls + use.begun, maxCalls],
    ["wall_ms", wall, maxWallMs],
  ];
  return all.flatMap(([kind, used, set]) => (set === undefined ? [] : [{ scope, kind, used, limit: set }]));
}

function describe({ scope, kind, used, limit }: BudgetLine): string {
  const amount = (n: number): string => String(kind === "cost_usd" ? Number(n.toFixed(6)) : Math.round(n));
  return reasonText("BudgetExceeded", { scope, kind, field: `max_${kind}`, used: amount(used), limit: amount(limit) });
}
