/** Tool middleware: an identical read-only call of the same turn gets the earlier result until something changes. */
import type { ToolMiddleware } from "#engine";
import type { TurnId } from "#protocol";
import { createCallMemo } from "./memo.ts";

/** One per session; calls run inside one turn at a time. `isShared`: others work in the same folder now, so nothing is remembered. */
export function createMemoization(isShared: () => boolean = () => false): ToolMiddleware {
  const memo = createCallMemo();
  let turn: TurnId | undefined;
  /** Counts what may have changed something: a read that overlapped with it is not remembered. */
  let changes = 0;
  return async (call, next) => {
    const { tool, args } = call;
    if (call.turn !== turn) {
      memo.clear();
      turn = call.turn;
    }
    if (tool.fresh === true && tool.class === "read_only") return next(call);
    if (tool.class !== "read_only") {
      changes += 1;
      memo.clear();
      try {
        return await next(call);
      } finally {
        changes += 1;
        memo.clear();
      }
    }
    if (isShared()) {
      memo.clear();
      return next(call);
    }
    const known = memo.lookup(tool.name, args);
    if (known !== undefined) return { content: known.content, outcome: "ok", memoized: true };
    const before = changes;
    const result = await next(call);
    if (result.outcome === "ok" && changes === before && !isShared())
      memo.remember(tool.name, args, { content: result.content });
    return result;
  };
}
