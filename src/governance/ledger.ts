/**
 * Tool middleware: the record of what ran. An intent before the call and an outcome after it, with hashes of what went in
 * and came out; for a call that changes things both are durable before anything goes on. A call that cannot be recorded
 * does not run.
 */
import { canonicalHash } from "#base";
import type { EventBus, ToolMiddleware } from "#engine";

export function createLedger(bus: Pick<EventBus, "publish" | "publishSoon">): ToolMiddleware {
  return async (call, next) => {
    const { turn, step, id: call_id, tool, args, judged } = call;
    const isMutating = tool.class === "mutating";
    // What only reads is written together with its ToolResult, in order, and fails with it.
    const record: EventBus["publish"] = isMutating ? bus.publish : bus.publishSoon;
    const intent = record("ToolIntent", {
      turn,
      step,
      call_id,
      name: tool.name,
      class: tool.class,
      args_hash: canonicalHash(args),
      ...(judged === undefined ? {} : { allowed_by: { ...judged, trail: [...judged.trail] } }),
    });
    if (isMutating) await intent;
    else intent.catch(() => undefined);
    const result = await next(call);
    const outcome = record("ToolOutcome", {
      turn,
      call_id,
      outcome: result.outcome,
      result_hash: canonicalHash(result.content),
    });
    if (isMutating) await outcome;
    else outcome.catch(() => undefined);
    return result;
  };
}
