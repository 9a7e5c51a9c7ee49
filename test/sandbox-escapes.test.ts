/** A part of the hostile corpus on every run. `test/campaigns` has more of it, `bench/sandbox.ts` all. */
import { readdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { escapeScripts, namedScripts, testEscapes } from "./fakes/escape-attempts.ts";
import { startEngine } from "./fakes/killed-engine.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { createTestSandbox, hasSandbox } from "./fakes/test-sandbox.ts";

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

  test("nor do its placeholders outlive the next command, but for those of a program that runs", async () => {
    const workspace = createTemporaryWorkspace();
    const other = createTemporaryWorkspace();
    const heldFolder = join(workspace.outside, "held");
    const [killed, running] = [startEngine(workspace.root, { heldFolder }), startEngine(other.root, { heldFolder })];
    await Promise.all([killed.said("runs"), running.said("runs")]);
    await killed.kill();
    expect(readdirSync(workspace.root)).toContain(".harness");
    rmdirSync(join(workspace.root, ".envrc"));
    writeFileSync(join(workspace.root, ".envrc"), "of a person");
    const sandbox = createTestSandbox(createTemporaryWorkspace(), { heldFolder });
    await sandbox.shell(":");
    expect(readdirSync(workspace.root)).toEqual([".envrc"]);
    expect(readdirSync(other.root)).toContain(".harness");
    expect(readdirSync(heldFolder)).toHaveLength(1);
    await running.kill();
  });
});
