/**
 * What hooks say about the permission question. One that asks makes it a person's question. One that allows answers only the question
 * of the quiet preset, which is asked because no rule says anything: never one of a rule, of secret or steering files, of labels,
 * of strict permissions, of a loop, or about running outside the sandbox.
 */
import type { HookPermission } from "#engine";
import { QUIET } from "./confinement.ts";
import { needsPerson, type Verdict } from "./verdict.ts";

export function withHooks(verdict: Verdict, said: HookPermission | undefined): Verdict {
  if (said === undefined || verdict.effect === "deny") return verdict;
  const { hook, source, reason, effect } = said;
  if (effect === "ask") {
    const asked = needsPerson(verdict, {
      by: `hook ${hook}`,
      why: `the hook "${hook}" (${source}) wants a person's approval: ${reason}`,
      remedy: "Rules and automatic approval cannot allow it: run where a person can answer, or change that hook.",
      ...(verdict.effect === "ask" && verdict.personOnly?.steering && { steering: verdict.personOnly.steering }),
    });
    const { confinement } = verdict.judged;
    return confinement === undefined ? asked : { ...asked, judged: { ...asked.judged, confinement } };
  }
  const isOnlyUnruled = verdict.effect === "ask" && verdict.personOnly === undefined && verdict.judged.by === QUIET;
  const isAskedByRule = verdict.judged.trail.some(({ stage, effect: asked }) => stage === "rule" && asked === "ask");
  if (!isOnlyUnruled || isAskedByRule) return verdict;
  const consulted = { stage: "hook", name: hook, source, effect: "allow" };
  return {
    effect: "allow",
    judged: {
      ...verdict.judged,
      effect: "allow",
      by: `hook ${hook}`,
      source,
      why: `the hook allowed it: ${reason}`,
      trail: [...verdict.judged.trail, consulted],
    },
    quiet: [],
  };
}
