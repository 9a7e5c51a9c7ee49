/** Tool middleware: a call that runs too long is stopped through its signal and reported as a timeout. */
import type { Clock } from "#base";
import { refusal, type ToolMiddleware } from "#engine";
import { reasonText } from "#protocol";

export const DEFAULT_CALL_TIMEOUT_MS = 120_000;

export function createTimeLimit(
  clock: Pick<Clock, "sleep">,
  defaultTimeoutMs = DEFAULT_CALL_TIMEOUT_MS,
): ToolMiddleware {
  return async (call, next) => {
    const timeoutMs = call.tool.timeoutMs ?? defaultTimeoutMs;
    const ended = new AbortController();
    const limit = new AbortController();
    void clock.sleep(timeoutMs, ended.signal).then(() => {
      if (!ended.signal.aborted) limit.abort();
    });
    try {
      const result = await next({ ...call, signal: AbortSignal.any([call.signal, limit.signal]) });
      if (!limit.signal.aborted || result.outcome === "ok" || call.signal.aborted) return result;
      const text = reasonText("ToolTimeout", { tool: call.tool.label, timeout: Math.round(timeoutMs / 1000) });
      return refusal("timeout", "ToolTimeout", text);
    } finally {
      ended.abort();
    }
  };
}
