/** All requirements of the protocol on one wire of our own program. */
import { type RequirementId, requirements, runConformance, type Wire } from "#conformance";
import { createSystemClock } from "#world";
import { ownTarget } from "./conformance-targets.ts";

/** Those that take a few seconds. The others are a campaign. */
export const QUICK_WIRES: ReadonlySet<Wire> = new Set(["in-process", "plain"]);

const ids = Object.keys(requirements) as RequirementId[];

/** Requirements of the wire that did not pass, with what was found. */
export async function brokenRequirements(wire: Wire): Promise<readonly unknown[]> {
  const { findings } = await runConformance({ targets: [await ownTarget(wire)], clock: createSystemClock() });
  const wanted = ids.filter((id) => requirements[id].wires.includes(wire));
  const wrong = findings.filter(({ requirement, verdict }) => verdict !== "pass" && wanted.includes(requirement));
  const passed = new Set(findings.filter(({ verdict }) => verdict === "pass").map(({ requirement }) => requirement));
  return [...wrong, ...wanted.filter((id) => !passed.has(id))];
}
