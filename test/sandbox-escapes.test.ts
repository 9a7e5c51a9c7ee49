/** A part of the hostile corpus on every run; `bench/sandbox.ts` runs all of it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startEngine } from "./fakes/killed-engine.ts";
import { createSandboxArena, type EscapeScript, type SandboxArena } from "./fakes/sandbox-arena.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

const scripts = JSON.parse(
  readFileSync(join(import.meta.dirname, "corpora/sandbox-escapes.json"), "utf8"),
) as EscapeScript[];
const named = (...names: string[]) => scripts.filter(({ name }) => names.includes(name));
const SHORT = named(
  "absolute path",
  "remount read-write",
  "new user and mount namespace",
  "root of the parent through /proc",
  "signals to processes outside",
  "hard link to a file outside",
  "kernel switches",
  "git folder replaced",
  "parent of a nested repository replaced",
  "hooks in a repository that it begins",
  "own folder of the harness",
  "start-up files of shells and editors",
  "secrets of the home folder",
  "TCP to loopback",
  "UDP",
  "sockets of daemons",
  "proxy: CONNECT to address literals",
  "proxy: redirect to a host off the list",
  "double fork with a clean environment",
);

let arena: SandboxArena;
beforeAll(async () => {
  arena = await createSandboxArena();
});
afterAll(() => arena.close());

test("the corpus has at least 40 scripts, each with a name of its own", () => {
  expect(scripts.length).toBeGreaterThanOrEqual(40);
  expect(new Set(scripts.map(({ name }) => name)).size).toBe(scripts.length);
  expect(SHORT).toHaveLength(19);
});

describe.runIf(hasSandbox)("gets nothing out", () => {
  const cases = SHORT.flatMap((script) => {
    const reader = { script, network: "open" as const, confinement: "reader" as const };
    const confinement = "workspace" as const;
    if (script.aim !== "network")
      return [{ script, network: script.network ?? ("open" as const), confinement }, reader];
    const network = script.name.startsWith("proxy") ? ("listed" as const) : ("none" as const);
    return [{ script, network, confinement }, reader];
  });
  test.each(cases)("$script.name ($confinement, $network)", async ({ script, network, confinement }) => {
    const { writes, connections, survivors, leaked, claimed } = await arena.attempt(script, network, { confinement });
    expect({ writes, connections, survivors, leaked, claimed }).toEqual({
      writes: [],
      connections: [],
      survivors: 0,
      leaked: false,
      claimed: false,
    });
  });
});

describe("without the sandbox the same scripts succeed, so the arena sees what they do", () => {
  test.each(named("absolute path", "secrets of the home folder", "TCP to loopback", "git hook"))(
    "$name",
    async (script) => {
      const { writes, connections, leaked, claimed } = await arena.attempt(script, "open", { unconfined: true });
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
