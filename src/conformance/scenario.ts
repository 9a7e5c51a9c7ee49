/** A scenario: what is done on a target, and which requirements that is held against. */
import type { Caller, Target, Wire } from "./driver.ts";
import type { RequirementId } from "./requirements.ts";
import type { Trial } from "./trial.ts";

/** What a target must be able to do for it. */
export type Need = "restart" | "expired content" | "expired token" | "time" | "lan" | Caller;

export interface Scenario {
  readonly name: string;
  readonly wires: readonly Wire[];
  /** Checked when it runs to its end, every one of them. */
  readonly cites: readonly RequirementId[];
  readonly needs: readonly Need[];
  run(trial: Trial): Promise<void>;
}

export function scenario(
  name: string,
  wires: Scenario["wires"],
  cites: Scenario["cites"],
  run: Scenario["run"],
  needs: Scenario["needs"] = [],
): Scenario {
  return { name, wires, cites, run, needs };
}

/** Why the scenario cannot be run on the target, if it cannot. */
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
      return target.restart === undefined ? "the target cannot be restarted from here" : undefined;
    case "expired content":
      return target.expireContent === undefined ? "content cannot be made to expire from here" : undefined;
    case "expired token":
      return target.expireToken === undefined ? "no token can be made to expire from here" : undefined;
    case "lan":
      return target.lan === undefined ? "no address of it is named that other machines can reach (--lan)" : undefined;
    case "time":
      return target.passTime === undefined ? "it takes more than 30 seconds; --slow runs it" : undefined;
    default:
      return target.lacks(need);
  }
}
