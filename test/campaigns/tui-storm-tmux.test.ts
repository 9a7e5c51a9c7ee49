/** The storm of sizes, keys and events with a real terminal as its judge: a pane of tmux beside a fresh one. */
import { expect, test } from "vitest";
import { stormInterface } from "../fakes/interface-storm.ts";
import { hasTmux } from "../fakes/tmux.ts";
import { tmuxTerminal } from "../fakes/tmux-storm.ts";

test.skipIf(!hasTmux).each([1, 2, 3])("tmux shows what a fresh render of the state shows, seed %i", async (seed) => {
  const { compared, differences, restored } = await stormInterface(120, seed, tmuxTerminal());
  expect({ differences, restored }).toEqual({ differences: [], restored: true });
  expect(compared).toBe(120);
});
