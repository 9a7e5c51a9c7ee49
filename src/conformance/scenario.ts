/** A scenario: the steps to run on a target, and the requirements that they check. */
import type { Caller, Target, Wire } from "./driver.ts";
import type { RequirementId } from "./requirements.ts";
import { type Stage, stage } from "./scenarios/steps.ts";
import type { Trial } from "./trial.ts";

/** A capability that a scenario needs from its target. */
export type Need = "restart" | "expired content" | "expired token" | "time" | "lan" | Caller;

export interface Scenario {
  readonly name: string;
  readonly wires: readonly Wire[];
  /** A complete run checks every one of them. */
  readonly cites: readonly RequirementId[];
  readonly needs: readonly Need[];
  run(trial: Trial): Promise<void>;
}

/** `runs` takes the steps; with `onStage` they begin with a client that watches a new session. */
export function scenario(
  name: string,
  wires: Scenario["wires"],
  cites: Scenario["cites"],
  needs: Scenario["needs"] = [],
) {
  const runs = (run: Scenario["run"]): Scenario => ({ name, wires, cites, needs, run });
  return {
    runs,
    onStage: (run: (at: Stage, trial: Trial) => Promise<void>) => runs(async (trial) => run(await stage(trial), trial)),
  };
}

/** The reason why the scenario cannot run on the target, or undefined if it can. */
export function missing({ needs }: Scenario, target: Target): string | undefined {
  for (const need of needs) {
    const why = lack(need, target);
    if (why !== undefined) return why;
  }
  return undefined;
}

function lack(need: Need, target: Target): string | undefined {
  switch (need) {
    case "restart":
      return target.restart === undefined ? "the suite cannot restart this target" : undefined;
    case "expired content":
      return target.expireContent === undefined ? "the suite cannot make this target's content expire" : undefined;
    case "expired token":
      return target.expireToken === undefined ? "the suite cannot make a token of this target expire" : undefined;
    case "lan":
      return target.lan === undefined ? "needs an address that other machines can reach (--lan)" : undefined;
    case "time":
      return target.passTime === undefined ? "takes more than 30 seconds; run it with --slow" : undefined;
    default:
      return target.lacks(need);
  }
}
