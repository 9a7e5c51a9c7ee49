/** `bench/tui-storm.ts` does the same with many more steps. */
import { expect, test } from "vitest";
import { stormInterface } from "../../test/fakes/interface-storm.ts";

test("random sizes, keys and events leave the screen as a fresh render of the state, and the terminal restored", async () => {
  const { compared, differences, restored } = await stormInterface(120, 3);
  expect(compared).toBe(120);
  expect([differences, restored]).toEqual([[], true]);
});
