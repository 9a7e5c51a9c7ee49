/** The outcome of judging a call, before anybody is asked. */
import type { CallResult, Judgement } from "#engine";
import type { SimpleCommand } from "./shell/command.ts";

export type Verdict =
  /** `quiet`: commands that no rule allows and that pass because they only read; still to be looked up on the disk. */
  | { readonly effect: "allow"; readonly judged: Judgement; readonly quiet: readonly SimpleCommand[] }
  | { readonly effect: "ask"; readonly judged: Judgement; readonly personOnly?: PersonOnly }
  | { readonly effect: "deny"; readonly judged: Judgement; readonly result: CallResult };

/** Marks a question that only a person answers, for this one call: no rule, session rule or `--auto-approve` does. */
export interface PersonOnly {
  /** A sentence for a refusal, when nobody can be asked: what to do instead. */
  readonly remedy: string;
  /** Steering files that the call would change. */
  readonly steering?: readonly string[];
}

/** The verdict as a question that only a person answers; a deny stays one. */
export function needsPerson(
  verdict: Verdict,
  { by, why, ...personOnly }: PersonOnly & Pick<Judgement, "by" | "why">,
): Verdict {
  if (verdict.effect === "deny") return verdict;
  const trail = [...verdict.judged.trail, { stage: "built-in", name: by, source: "built-in", effect: "ask" }];
  return { effect: "ask", judged: { effect: "ask", by, source: "built-in", why, trail }, personOnly };
}

/** The one that allows less. */
export function strictest(a: Verdict, b: Verdict): Verdict {
  if (a.effect === "deny" || b.effect === "deny") return a.effect === "deny" ? a : b;
  if (b.effect === "ask" && b.personOnly !== undefined) return b;
  return a.effect === "ask" ? a : b;
}
