/** Two policies held against the same recorded calls: what one lets pass and the other does not. */
import { createBacktest, createFingerprints, type Redecided } from "./backtest.ts";
import type { Policy } from "./policy.ts";
import type { RecordedCall, RecordedSession } from "./recorded-calls.ts";

/**
 * `moved`: the same effect, decided by something else. `undecided`: one of the two cannot be told. `unjudged`: the call ended
 * before anything decided about it.
 */
export type Change = "same" | "moved" | "loosened" | "tightened" | "undecided" | "unjudged";

export interface ComparedCall {
  readonly call: RecordedCall;
  readonly change: Change;
  /** Absent when unjudged. */
  readonly before?: Redecided;
  readonly after?: Redecided;
  /** Undecided, and what was not allowed before may be now. */
  readonly mayBeLoosened?: boolean;
}

/** What was decided at the time, instead of a policy. */
export const RECORDED = "recorded";

export interface PolicyDiff {
  /** In the order of the calls. */
  compare(session: RecordedSession): Promise<readonly ComparedCall[]>;
  /** The `tool.pre` hooks that are not the same in both; what they would answer is not known. */
  readonly changedHooks: readonly string[];
  /** What else is not the same in both, and decides about no call: network, sandbox, limits. */
  readonly changedBesides: readonly string[];
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

export function createPolicyDiff(before: Policy | typeof RECORDED, after: Policy): PolicyDiff {
  const old = before === RECORDED ? undefined : { policy: before, backtest: createBacktest(before) };
  const next = createBacktest(after);
  const oldPrint = old === undefined ? undefined : createFingerprints(old.policy);
  const nextPrint = createFingerprints(after);
  const oldPlaces = old === undefined ? undefined : createFingerprints(old.policy, true);
  const nextPlaces = createFingerprints(after, true);
  const changedHooks = old === undefined ? [] : differing(old.policy.hooks, after.hooks);
  const changedBesides = old === undefined ? [] : differing(old.policy.besides, after.besides);

  /** A hook that decided then and is another one now, or gone. */
  const hookGone = ({ hooks }: RecordedCall): string | undefined =>
    hooks.find(({ hook, action }) => action !== "allow" && changedHooks.includes(hook))?.hook;

  return {
    changedHooks,
    changedBesides,
    async compare(session) {
      const oldSession = old?.backtest.begin(session);
      const nextSession = next.begin(session);
      const compared: ComparedCall[] = [];
      for (const call of session.calls) {
        const was = oldSession === undefined ? call.live : await oldSession.decide(call);
        // Where nothing that decides differs, one decision is that of both.
        const redecided = oldPlaces?.(call) === nextPlaces(call) ? was : await nextSession.decide(call);
        if (was === undefined || redecided === undefined) {
          compared.push({ call, change: "unjudged" });
          continue;
        }
        const hook = hookGone(call);
        const becomes: Redecided =
          hook === undefined || ("by" in redecided && redecided.by === "tools_policy")
            ? redecided
            : {
                effect: "unknown",
                why: `the hook ${hook} decided it, and the two policies have different versions of that hook`,
              };
        // What cannot be told is the same all the same where nothing that could decide has changed.
        const isUntouched = hook === undefined && oldPrint !== undefined && oldPrint(call) === nextPrint(call);
        compared.push({ call, before: was, after: becomes, ...changeOf(was, becomes, isUntouched) });
      }
      return compared;
    },
  };
}

function changeOf(
  before: Redecided,
  after: Redecided,
  isUntouched: boolean,
): Pick<ComparedCall, "change" | "mayBeLoosened"> {
  if (before.effect === "unknown" || after.effect === "unknown") {
    if (isUntouched && before.effect === after.effect) return { change: "same" };
    const mayBeLoosened = after.effect !== "deny" && before.effect !== "allow";
    return { change: "undecided", ...(mayBeLoosened ? { mayBeLoosened } : {}) };
  }
  const step = STRICTNESS[after.effect] - STRICTNESS[before.effect];
  if (step !== 0) return { change: step < 0 ? "loosened" : "tightened" };
  // A rule that stands on another line now is the same rule.
  return { change: before.by === after.by ? "same" : "moved" };
}

function differing(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name)).toSorted();
}
