/** Runs scenarios on targets and reports for each requirement and wire whether it holds. */
import { type Clock, messageOf } from "#base";
import type { Target, Wire } from "./driver.ts";
import { type RequirementId, requirements } from "./requirements.ts";
import { missing, type Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios/index.ts";
import { CheckFailed, createTrial, NotApplicable } from "./trial.ts";

/** `unknown`: the scenario ended before it checked the requirement. */
export type Verdict = "pass" | "fail" | "not applicable" | "unknown";

export interface Finding {
  readonly requirement: RequirementId;
  readonly wire: Wire;
  readonly verdict: Verdict;
  /** The reason for a verdict other than `pass`. */
  readonly detail?: string;
  /** The scenario that found it; absent if the requirement does not apply to the wire. */
  readonly scenario?: string;
}

export interface Report {
  readonly findings: readonly Finding[];
  readonly scenarios: readonly { readonly name: string; readonly wire: Wire; readonly durationMs: number }[];
}

export interface RunOptions {
  readonly targets: readonly Target[];
  readonly clock: Clock;
  /** Selects the requirements to check; only the scenarios that they need run. */
  readonly only?: (id: RequirementId) => boolean;
  readonly onScenario?: (name: string, wire: Wire) => void;
}

export async function runConformance({ targets, clock, only = () => true, onScenario }: RunOptions): Promise<Report> {
  const findings: Finding[] = [];
  const ran: { name: string; wire: Wire; durationMs: number }[] = [];
  for (const target of targets) {
    const { wire } = target;
    for (const scenario of scenarios) {
      const cited = citedOn(scenario, wire).filter(only);
      if (cited.length === 0) continue;
      const why = missing(scenario, target);
      if (why !== undefined) {
        const finding = { wire, scenario: scenario.name, verdict: "not applicable", detail: why } as const;
        findings.push(...cited.map((requirement) => ({ ...finding, requirement })));
        continue;
      }
      onScenario?.(scenario.name, wire);
      const startMs = clock.monotonicMs();
      const found = await runScenario(scenario, target, clock);
      ran.push({ name: scenario.name, wire, durationMs: clock.monotonicMs() - startMs });
      findings.push(...found.filter(({ requirement }) => only(requirement)));
    }
    findings.push(...elsewhere(wire, only));
  }
  return { findings, scenarios: ran };
}

/** The requirements of a scenario that apply to the wire; none if the scenario does not run on it. */
export function citedOn(scenario: Scenario, wire: Wire): readonly RequirementId[] {
  if (!scenario.wires.includes(wire)) return [];
  return scenario.cites.filter((id) => requirements[id].wires.some((own) => own === wire));
}

async function runScenario(scenario: Scenario, target: Target, clock: Clock): Promise<readonly Finding[]> {
  const cited = citedOn(scenario, target.wire);
  const trial = createTrial(target, scenario.cites, clock);
  const finding = { wire: target.wire, scenario: scenario.name };
  let failure: { readonly error: unknown } | undefined;
  try {
    await scenario.run(trial);
  } catch (error) {
    failure = { error };
  } finally {
    await trial.close();
  }
  if (failure === undefined) {
    const forgotten = cited.filter((id) => !trial.held.has(id));
    if (forgotten.length > 0)
      throw new Error(`the scenario "${scenario.name}" cites ${forgotten.join(", ")} but does not check it`);
    return cited.map((requirement) => ({ ...finding, requirement, verdict: "pass" as const }));
  }
  const { error } = failure;
  if (error instanceof NotApplicable) {
    const { message: detail } = error;
    return cited.map((requirement) => ({ ...finding, requirement, verdict: "not applicable", detail }));
  }
  // Any other error counts against the first requirement not yet checked: the server did not get that far.
  const guilty =
    error instanceof CheckFailed ? error.requirement : (cited.find((id) => !trial.held.has(id)) ?? cited[0]);
  return cited.map((requirement) => {
    if (requirement === guilty) return { ...finding, requirement, verdict: "fail", detail: messageOf(error) };
    if (trial.held.has(requirement)) return { ...finding, requirement, verdict: "pass" };
    return { ...finding, requirement, verdict: "unknown", detail: `not reached: ${guilty} failed first` };
  });
}

function elsewhere(wire: Wire, only: (id: RequirementId) => boolean): readonly Finding[] {
  return allIds()
    .filter((id) => only(id) && !requirements[id].wires.some((own) => own === wire))
    .map((requirement) => ({
      requirement,
      wire,
      verdict: "not applicable",
      detail: "not a requirement for this wire",
    }));
}

const WORST_FIRST: readonly Verdict[] = ["fail", "unknown", "pass", "not applicable"];

/** One finding for each requirement that applies to the wire, in table order; the worst of several counts. */
export function verdictsOn({ findings }: Report, wire: Wire): readonly Finding[] {
  return allIds().flatMap((id) => {
    const own = findings.filter((one) => one.wire === wire && one.requirement === id && one.scenario !== undefined);
    return WORST_FIRST.flatMap((verdict) => own.filter((one) => one.verdict === verdict)).slice(0, 1);
  });
}

function allIds(): readonly RequirementId[] {
  // The table's own keys.
  return Object.keys(requirements) as RequirementId[];
}

/** Nothing failed, nothing is unknown, and something passed. */
export function conforms({ findings }: Report): boolean {
  const has = (verdict: Verdict): boolean => findings.some((one) => one.verdict === verdict);
  return has("pass") && !has("fail") && !has("unknown");
}
