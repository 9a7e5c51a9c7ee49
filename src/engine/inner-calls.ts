/** Calls that the model did not make itself: of tools and hooks inside a call, of a person, and of a check of what the agent claims. */
import { type Clock, defined } from "#base";
import type { IdMint, SessionId } from "#protocol";
import { type DispatchParts, dispatchNested, type HiddenTools } from "./dispatch.ts";
import type { NestedCall } from "./run-tool.ts";
import { type Claim, checkingCall, type StopCheck, type StopVerdict } from "./stop-check.ts";
import type { Tool } from "./tool.ts";
import type { CallResult, ToolCall } from "./tool-chain.ts";

export interface InnerCalls {
  readonly nested: NestedCall;
  /** A call that the originator of `around` has made in person, and so allowed. */
  ofPerson(around: ToolCall, name: string, args: ToolCall["args"]): Promise<CallResult>;
  /** The check with calls of its own, which pass the whole tool chain. */
  checking(check: StopCheck): (claim: Claim) => Promise<StopVerdict>;
}

export function createInnerCalls(parts: {
  readonly session: SessionId;
  readonly clock: Pick<Clock, "sleep">;
  readonly ids: Pick<IdMint, "call">;
  readonly depth: number;
  readonly hidden: HiddenTools;
  readonly tools: () => readonly Tool[];
  /** Asked at each call: the tool chain is built around these calls. */
  readonly dispatch: () => DispatchParts;
}): InnerCalls {
  const { session, clock, ids, depth, hidden, tools, dispatch } = parts;
  return {
    async nested(parent, name, args, { timeoutMs, signal: given, unasked, tool }) {
      const limit = new AbortController();
      const over = new AbortController();
      if (timeoutMs !== undefined) {
        void clock.sleep(timeoutMs, over.signal).then(() => {
          if (!over.signal.aborted) limit.abort(new DOMException("The call took too long.", "TimeoutError"));
        });
      }
      const limits = [...(timeoutMs === undefined ? [] : [limit.signal]), ...(given ? [given] : [])];
      const signal = limits.length === 0 ? parent.signal : AbortSignal.any([parent.signal, ...limits]);
      const call = { id: ids.call(), name, args };
      const isOffered = tool === undefined || hidden(name)?.byAdmin === true;
      const among = isOffered ? { tools: tools(), hidden } : { tools: [tool], hidden: () => undefined };
      try {
        return await dispatchNested(dispatch(), { ...among, signal, ...defined({ unasked }) }, parent, call);
      } finally {
        over.abort();
      }
    },
    ofPerson: (around, name, args) => {
      const own = { tools: tools(), hidden, signal: around.signal, allowedBy: around.originator };
      return dispatchNested(dispatch(), own, around, { id: ids.call(), name, args });
    },
    checking: (check) => (claim) =>
      check(claim, (tool, args) => {
        const around = checkingCall(claim, session, ids.call(), depth);
        const own = { tools: [tool], hidden: () => undefined, signal: claim.signal };
        return dispatchNested(dispatch(), own, around, { id: ids.call(), name: tool.name, args });
      }),
  };
}
