/**
 * Tool middleware: the record of what ran. A call gets its ticket here, together with an intent that is durable before
 * anything that changes or sends something runs; its outcome lists the effects it had. A call that cannot be recorded does not run.
 */
import { type Clock, canonicalHash } from "#base";
import { type EffectNote, type EventBus, refusal, type Ticket, type ToolCall, type ToolMiddleware } from "#engine";
import { DEFAULT_CALL_TIMEOUT_MS } from "./time-limit.ts";

/** What ending a call may take beyond its own limit. */
const EXPIRY_MARGIN_MS = 10_000;
/** Effects that are listed one by one; the others are counted. */
const MAX_LISTED_EFFECTS = 200;

export interface LedgerOptions {
  readonly bus: Pick<EventBus, "publish" | "publishSoon">;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Names the rules and files in force. */
  readonly policyVersion: () => string;
}

export function createLedger({ bus, clock, policyVersion }: LedgerOptions): ToolMiddleware {
  return async (call, next) => {
    const { turn, step, id: call_id, tool, judged } = call;
    if (judged?.effect !== "allow") {
      return refusal("denied", "InternalError", "The call reached the ledger without having been judged.");
    }
    // What changes something or sends something: a request to a server is an effect too.
    const isReading = tool.class === "read_only";
    const effects: EffectNote[] = [];
    let unlisted = 0;
    const ticket = issueTicket(call, policyVersion(), clock.monotonicMs(), (effect) => {
      if (effects.length < MAX_LISTED_EFFECTS) effects.push(effect);
      else unlisted += 1;
    });
    // What only reads is written together with its ToolResult, in order, and fails with it.
    const record: EventBus["publish"] = isReading ? bus.publishSoon : bus.publish;
    const { recheck: _, steering, ...allowedBy } = judged;
    const intent = record("ToolIntent", {
      turn,
      step,
      call_id,
      name: tool.name,
      class: tool.class,
      args_hash: ticket.argsHash,
      policy_version: ticket.policyVersion,
      allowed_by: { ...allowedBy, trail: [...judged.trail], ...(steering && { steering: [...steering] }) },
    });
    if (isReading) intent.catch(() => undefined);
    else await intent;
    let result: Awaited<ReturnType<typeof next>>;
    try {
      result = await next({ ...call, ticket });
    } finally {
      ticket.isOpen = false;
    }
    const outcome = record("ToolOutcome", {
      turn,
      call_id,
      outcome: result.outcome,
      result_hash: canonicalHash(result.content),
      ...(effects.length === 0 ? {} : { effects }),
      ...(unlisted === 0 ? {} : { more_effects: unlisted }),
    });
    // It has run, and its result is told all the same: the bus has stopped the turn, and writes what happened when it can.
    const recorded = outcome.catch(() => undefined);
    if (!isReading) await recorded;
    return result;
  };
}

export function issueTicket(
  { id, tool, args }: ToolCall,
  policyVersion: string,
  nowMs: number,
  note: Ticket["note"],
): Omit<Ticket, "isOpen"> & { isOpen: boolean } {
  return {
    callId: id,
    tool: tool.name,
    args: deepFreeze(args),
    argsHash: canonicalHash(args),
    policyVersion,
    expiresMs: nowMs + (tool.timeoutMs ?? DEFAULT_CALL_TIMEOUT_MS) + EXPIRY_MARGIN_MS,
    isOpen: true,
    note,
  };
}

/** Plain data of bounded depth: what was judged cannot be changed by what runs. */
function deepFreeze<Data>(value: Data): Data {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const field of Object.values(value)) deepFreeze(field);
  }
  return value;
}
