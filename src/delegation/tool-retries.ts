/** Tool middleware of delegates: a tool that keeps failing is not called over and over. */
import { refusal, type ToolMiddleware } from "#engine";
import { reasonText, type TurnId } from "#protocol";

/** How often a delegate may try a tool again that has failed, without a success in between. */
export const MAX_TOOL_RETRIES = 2;

export function createToolRetries(maxRetries = MAX_TOOL_RETRIES): ToolMiddleware {
  const failures = new Map<string, number>();
  let turn: TurnId | undefined;
  return async (call, next) => {
    if (call.nesting > 0) return next(call);
    if (call.turn !== turn) {
      failures.clear();
      ({ turn } = call);
    }
    const { name, label } = call.tool;
    const failed = failures.get(name) ?? 0;
    if (failed > maxRetries) {
      return refusal("denied", "ToolRetryLimit", reasonText("ToolRetryLimit", { tool: label, failures: failed }));
    }
    const result = await next(call);
    if (result.outcome === "ok") failures.delete(name);
    else if (result.outcome === "error" || result.outcome === "timeout") failures.set(name, failed + 1);
    return result;
  };
}
