/** The guard on why a response ended: what is not known to be good is a failure, never an answer. */
import { type Failure, failure, type Peer } from "./failure.ts";
import type { WireStop } from "./wire-family.ts";

/** `calls` counts the tool calls of the response: a plain stop with calls still means that they are to be run. */
export function wireStop(peer: Peer, reason: string | undefined, calls: number): WireStop | Failure {
  switch (reason) {
    case "end_turn":
    case "stop":
    case "stop_sequence":
      return calls > 0 ? "tool_calls" : "end";
    case "tool_use":
    case "tool_calls":
    case "function_call":
      if (calls > 0) return "tool_calls";
      return failure("UnknownFinishReason", true, { provider: peer.name, detail: `${reason} without a tool call` });
    case "pause_turn":
    case "yield":
      return "yield";
    case "max_tokens":
    case "length":
      return "truncated";
    case "refusal":
    case "content_filter":
      return failure("ContentFiltered", false, { provider: peer.name });
    case "model_context_window_exceeded":
      return {
        type: "failed",
        reason: "ContextOverflow",
        message: `The response of ${peer.name} filled the model's context window. Start a new session or choose a larger model.`,
        retryable: false,
      };
    default: {
      const detail = reason === undefined ? "none was given" : reason.slice(0, 80);
      return failure("UnknownFinishReason", true, { provider: peer.name, detail });
    }
  }
}
