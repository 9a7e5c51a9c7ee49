/** Every requirement is checked on every wire that it holds for. That our own program passes is in test/e2e and test/campaigns. */
import { describe, expect, test } from "vitest";
import { citedOn, type RequirementId, requirements, scenarios } from "#conformance";

const ids = Object.keys(requirements) as RequirementId[];

describe("the table", () => {
  test("has a scenario for each requirement, on each of its wires", () => {
    const uncited = ids.flatMap((id) =>
      requirements[id].wires
        .filter((wire) => !scenarios.some((scenario) => citedOn(scenario, wire).includes(id)))
        .map((wire) => `${id} on ${wire}`),
    );
    expect(uncited).toEqual([]);
  });

  test("has each requirement that a scenario cites, and each scenario cites one on each of its wires", () => {
    const wrong = scenarios.flatMap((scenario) => [
      ...scenario.cites.filter((id) => !ids.includes(id)).map((id) => `${scenario.name}: ${id}`),
      ...scenario.wires
        .filter((wire) => citedOn(scenario, wire).length === 0)
        .map((wire) => `${scenario.name}: ${wire}`),
    ]);
    expect(wrong).toEqual([]);
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  });
});
