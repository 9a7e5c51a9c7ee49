/** Tool middleware: how often a tool may be called in a minute. What comes beyond is refused at once, with the time to wait. */
import { globMatches } from "#artifacts";
import type { Clock } from "#base";
import { refusal, type ToolMiddleware } from "#engine";
import { reasonText } from "#protocol";

const MINUTE_MS = 60_000;

export interface ToolRate {
  /** A tool name or a pattern, as in `tools_policy`. */
  readonly tool: string;
  readonly callsPerMinute: number;
}

/** One for each session; every rate whose name fits has to allow a call. */
export function createToolRates(rates: readonly ToolRate[], clock: Pick<Clock, "monotonicMs">): ToolMiddleware {
  const limits = rates.map((rate) => ({ ...rate, calls: [] as number[] }));
  return async (call, next) => {
    const nowMs = clock.monotonicMs();
    const fitting = limits.filter(({ tool }) => globMatches(tool, call.tool.name));
    for (const limit of fitting) {
      while ((limit.calls[0] ?? nowMs) <= nowMs - MINUTE_MS) limit.calls.shift();
      const [oldest] = limit.calls;
      if (oldest === undefined || limit.calls.length < limit.callsPerMinute) continue;
      const seconds = Math.ceil((oldest + MINUTE_MS - nowMs) / 1000);
      const { tool, callsPerMinute } = limit;
      const text = reasonText("ToolRateLimited", { tool: call.tool.name, limit: callsPerMinute, rule: tool, seconds });
      return refusal("denied", "ToolRateLimited", text);
    }
    for (const { calls } of fitting) calls.push(nowMs);
    return next(call);
  };
}
