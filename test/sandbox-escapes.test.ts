/** A part of the hostile corpus on every run. `test/campaigns` has more of it, `bench/sandbox.ts` all. */
import { describe, expect, test } from "vitest";
import { escapeScripts, namedScripts, testEscapes } from "./fakes/escape-attempts.ts";
import { startEngine } from "./fakes/killed-engine.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

test("the corpus has at least 40 scripts, each with a name of its own", () => {
  expect(escapeScripts.length).toBeGreaterThanOrEqual(40);
  expect(new Set(escapeScripts.map(({ name }) => name)).size).toBe(escapeScripts.length);
});

const arena = testEscapes(
  namedScripts(
    "absolute path",
    "root of the parent through /proc",
    "git folder replaced",
    "own folder of the harness",
    "secrets of the home folder",
    "TCP to loopback",
    "proxy: redirect to a host off the list",
    "double fork with a clean environment",
  ),
);

describe("without the sandbox the same scripts succeed, so the arena sees what they do", () => {
  test.each(namedScripts("absolute path", "secrets of the home folder", "TCP to loopback", "git hook"))(
    "$name",
    async (script) => {
      const { writes, connections, leaked, claimed } = await arena().attempt(script, "open", { unconfined: true });
      expect(writes.length + connections.length > 0 || leaked || claimed).toBe(true);
    },
  );
});

describe.runIf(hasSandbox)("nothing outlives an engine that is killed with SIGKILL", () => {
  test("while a command runs that ignores signals and has detached a part of it", async () => {
    const engine = startEngine(createTemporaryWorkspace().root);
    await engine.said("runs");
    expect(engine.running().length).toBeGreaterThan(1);
    expect(await engine.kill()).toEqual([]);
  });
});
