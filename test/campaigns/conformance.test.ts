/** Our own program conforms over the wires of other processes; `test/e2e/conformance.test.ts` has the quick ones. */
import { expect, test } from "vitest";
import { wires } from "#conformance";
import { brokenRequirements, QUICK_WIRES } from "../fakes/conformance-matrix.ts";

test.each(wires.filter((wire) => !QUICK_WIRES.has(wire)))(
  "every requirement of its own passes over %s",
  async (wire) => {
    expect(await brokenRequirements(wire)).toEqual([]);
  },
);
