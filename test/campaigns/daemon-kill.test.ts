/** kill -9 at any moment leaves nothing that a restart does not mend; `bench/daemon-kill.ts` does the same many more times. */
import { expect, test } from "vitest";
import { killDaemons } from "../fakes/daemon-kills.ts";

test("a daemon that is killed while it starts, works and stops", async () => {
  const report = await killDaemons(6, Math.random);
  expect(report.failures).toEqual([]);
  expect(report.kills).toEqual({ starting: 2, turn: 2, stopping: 2 });
});
