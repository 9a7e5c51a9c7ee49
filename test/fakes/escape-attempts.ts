/** Scripts of the hostile corpus in the sandbox of this machine, each in both confinements. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSandboxArena, type EscapeScript, type SandboxArena } from "./sandbox-arena.ts";
import { hasSandbox } from "./test-sandbox.ts";

export const escapeScripts = JSON.parse(
  readFileSync(join(import.meta.dirname, "../corpora/sandbox-escapes.json"), "utf8"),
) as readonly EscapeScript[];

/** Throws when there is no script of that name. */
export function namedScripts(...names: string[]): readonly EscapeScript[] {
  return names.map((name) => {
    const script = escapeScripts.find((one) => one.name === name);
    if (script === undefined) throw new Error(`the corpus has no ${name}`);
    return script;
  });
}

/** Defines the tests of these scripts. Returns the arena, for tests in the same file. */
export function testEscapes(scripts: readonly EscapeScript[]): () => SandboxArena {
  let arena: SandboxArena;
  beforeAll(async () => {
    arena = await createSandboxArena();
  });
  afterAll(() => arena.close());
  describe.runIf(hasSandbox)("gets nothing out", () => {
    const cases = scripts.flatMap((script) => {
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
  return () => arena;
}
