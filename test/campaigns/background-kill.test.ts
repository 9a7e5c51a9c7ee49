/** An engine that is killed with SIGKILL leaves no background command, also without a sandbox and with children of its own. */
import { expect, test } from "vitest";
import { startEngine } from "../fakes/killed-engine.ts";
import { createTemporaryWorkspace } from "../fakes/temporary-workspace.ts";

const KILLS = 5;

test("an engine that is killed leaves no background command", async () => {
  for (let kill = 0; kill < KILLS; kill++) {
    const engine = startEngine(createTemporaryWorkspace().root, { script: "background-engine.ts" });
    await engine.said("runs");
    await expect.poll(() => engine.running().length).toBeGreaterThan(1);
    expect(await engine.kill()).toEqual([]);
  }
});
