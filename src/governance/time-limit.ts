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
    // One signal for both reasons, linked by hand: it is made for every call, and AbortSignal.any is slow to make.
    const stop = new AbortController();
    const cancel = (): void => stop.abort(call.signal.reason);
    if (call.signal.aborted) cancel();
    else call.signal.addEventListener("abort", cancel, { once: true });
    let isLate = false;
    void clock.sleep(timeoutMs, ended.signal).then(() => {
      if (ended.signal.aborted) return;
      isLate = true;
      stop.abort();
    });
    try {
      const result = await next({ ...call, signal: stop.signal });
      if (!isLate || result.outcome === "ok" || call.signal.aborted) return result;
      const text = reasonText("ToolTimeout", { tool: call.tool.label, timeout: Math.round(timeoutMs / 1000) });
      return refusal("timeout", "ToolTimeout", text);
    } finally {
      call.signal.removeEventListener("abort", cancel);
      ended.abort();
    }
  };
}
