/** An engine that is killed with SIGKILL while a command begins leaves nothing; `bench/sandbox-kills.ts` does it more often. */
import { expect, test } from "vitest";
import { killWhileBeginning } from "../fakes/killed-engine.ts";
import { createTemporaryWorkspace } from "../fakes/temporary-workspace.ts";
import { hasSandbox } from "../fakes/test-sandbox.ts";

/** Without the gate of a command about every second kill leaves something. */
const KILLS = 15;

test.runIf(hasSandbox)("at any moment in which a command is about to begin", async () => {
  expect(await killWhileBeginning(createTemporaryWorkspace().root, KILLS)).toEqual([]);
});
