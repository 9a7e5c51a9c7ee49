/** Calls that nobody is asked about, such as those of context sources: what would need an answer is refused, and says which rule would do. */
import { refusal, type ToolCall } from "#engine";
import type { Verdict } from "./verdict.ts";

/** `remedy`: how the user can allow the call from now on. */
export function withoutQuestion(call: ToolCall, verdict: Verdict, remedy: () => string): Verdict {
  const { unasked, tool } = call;
  if (unasked === undefined || verdict.effect === "deny") return verdict;
  const { judged } = verdict;
  const isByRule = judged.by.startsWith("rule ");
  if (verdict.effect === "allow" && (unasked === "quiet" || isByRule)) return verdict;
  const why = verdict.effect === "ask" ? judged.why : "no rule allows it";
  const text = `${tool.label} was denied: ${why}, and nobody is asked about this call. ${remedy()}`;
  const trail = [...judged.trail, { stage: "built-in", name: UNASKED, source: "built-in", effect: "deny" }];
  return {
    effect: "deny",
    judged: { effect: "deny", by: UNASKED, source: "built-in", why, trail },
    result: refusal("denied", "PermissionDenied", text),
  };
}

const UNASKED = "calls without a question";
