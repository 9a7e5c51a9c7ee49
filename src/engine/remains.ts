/**
 * What a log leaves unfinished, as a fold over its events: the turn that has not ended and the calls that were begun and
 * have no outcome. Holds nothing of what is finished, so it stays small however long the log is.
 */
import type { CallId, Event, EventOf, EventPayload, Label, SessionId, TurnId } from "#protocol";
import { createLasting, type Lasting } from "./lasting.ts";
import { redactedFile } from "./sent-file.ts";
import { differenceOf, type Spent, sumOf, tokensOf } from "./spent.ts";

export interface Remains {
  /** Events of one session, oldest first. */
  apply(event: Event): void;
  /** Where a call that has no outcome entered the tool chain. */
  startOf(callId: CallId): EventOf<"ToolCallStarted"> | undefined;
  /** The turn that has begun and not ended, with the highest step it came to. */
  readonly openTurn: { readonly turn: TurnId; readonly steps: number } | undefined;
  /** Calls, or delegates, of which no end is known. */
  readonly hasOpenCalls: boolean;
  /** Delegates that were started and of which no end is known, oldest first. */
  readonly openDelegations: readonly EventPayload<"DelegationStarted">[];
  /** What the session has used so far. */
  readonly spent: Spent;
  /** What its delegates, at every depth, have used so far, but for those of which no end is known. */
  readonly delegated: Spent;
  /** What the session holds. */
  readonly labels: readonly Label[];
  readonly planMode: boolean;
  /** What still applies, however long ago it was said. */
  readonly lasting: Lasting;
}

export function createRemains(): Remains {
  const starts = new Map<CallId, EventOf<"ToolCallStarted">>();
  const open = new Set<CallId>();
  const delegations = new Map<SessionId, EventPayload<"DelegationStarted">>();
  let openTurn: { turn: TurnId; steps: number } | undefined;
  const labels = new Set<Label>();
  const lasting = createLasting();
  let spent = sumOf();
  let delegated = sumOf();

  function addLabels({ kind, payload }: Event): void {
    const isOfSession = kind === "TurnEnded" || kind === "ContextAdded" || kind === "ToolResult";
    if (isOfSession) for (const label of payload.labels ?? []) labels.add(label);
    const isInput = kind === "TurnStarted" || kind === "TurnSteered";
    if (isInput && redactedFile(payload.content) !== undefined) labels.add("private");
  }

  return {
    apply(event) {
      lasting.apply(event);
      addLabels(event);
      switch (event.kind) {
        case "TurnStarted":
          openTurn = { turn: event.payload.turn, steps: 0 };
          return;
        case "TurnEnded":
          openTurn = undefined;
          spent = event.payload.session_total ?? spent;
          // What is folded from here may be all that is read: the turns before are in its total.
          if (event.payload.tree_total !== undefined) delegated = differenceOf(event.payload.tree_total, spent);
          return;
        case "CostIncremented":
          spent = withCost(spent, event.payload);
          break;
        case "DelegationStarted":
          delegations.set(event.payload.session, event.payload);
          break;
        case "DelegationEnded":
          delegations.delete(event.payload.session);
          delegated = sumOf(delegated, usedBy(event.payload));
          break;
        case "ToolCallStarted":
          starts.set(event.payload.call_id, event);
          break;
        case "ToolIntent":
          open.add(event.payload.call_id);
          spent = { ...spent, calls: spent.calls + 1 };
          break;
        case "ToolOutcome":
          open.delete(event.payload.call_id);
          starts.delete(event.payload.call_id);
          break;
        case "NetworkConnection":
          if (event.payload.state === "opened") labels.add("untrusted");
          break;
        case "ToolResult":
          // Refused before it ran. A call that runs may be told off before its outcome is known.
          if (!open.has(event.payload.call_id)) starts.delete(event.payload.call_id);
          break;
        default:
      }
      if (openTurn !== undefined && "step" in event.payload) {
        openTurn.steps = Math.max(openTurn.steps, event.payload.step ?? 0);
      }
    },
    startOf: (callId) => starts.get(callId),
    get openTurn() {
      return openTurn;
    },
    get spent() {
      return spent;
    },
    get delegated() {
      return delegated;
    },
    get labels() {
      return [...labels].sort();
    },
    get planMode() {
      return lasting.planMode;
    },
    lasting,
    get hasOpenCalls() {
      return open.size > 0 || delegations.size > 0;
    },
    get openDelegations() {
      return [...delegations.values()];
    },
  };
}

function usedBy({ tree_total, usage, cost_usd = 0, steps, tool_calls }: EventPayload<"DelegationEnded">): Spent {
  return tree_total ?? { cost_usd, tokens: tokensOf(usage), steps, calls: tool_calls };
}

function withCost(spent: Spent, { usage, cost_usd = 0 }: EventPayload<"CostIncremented">): Spent {
  const { cost_usd: before, tokens, steps } = spent;
  return { ...spent, cost_usd: before + cost_usd, tokens: tokens + tokensOf(usage), steps: steps + 1 };
}
