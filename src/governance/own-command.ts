/**
 * A command that a person typed behind `!`: nobody is asked, and it runs in the workspace confinement, or where the user's own settings
 * let all commands run. What denies it stands. In plan mode, and once a hook has rewritten it, it is a call like any other.
 */
import type { Judgement, ToolCall } from "#engine";
import type { SandboxHold } from "./confinement.ts";
import { PERSON } from "./inner-effects.ts";
import type { Verdict } from "./verdict.ts";

export function ownCommand(
  { allowedBy: by, isRewritten }: Pick<ToolCall, "allowedBy" | "isRewritten">,
  verdict: Verdict,
  { hold, planMode }: { readonly hold: SandboxHold; readonly planMode: boolean },
): Verdict {
  if (by === undefined || isRewritten === true || planMode || verdict.effect === "deny") return verdict;
  const trail = [...verdict.judged.trail, { stage: "answer", name: "own command", source: by, effect: "allow" }];
  const confinement = hold === "off" ? "outside" : "workspace";
  const why = `${by} typed this command`;
  const judged: Judgement = { effect: "allow", by: PERSON, source: by, why, trail, confinement };
  return { effect: "allow", judged, quiet: [] };
}
