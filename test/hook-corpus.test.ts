/** Scripts of the corpus, unchanged, against what their documentation promises. Where it says "non-blocking", ours fails closed. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeShellHook } from "#artifacts";
import { isRecord, noServers } from "#base";
import { createHookDispatcher } from "#governance";
import { createShellHooks } from "#governance/shell-hooks";
import { SessionId } from "#protocol";
import { createProcesses, createPublicWeb, createWorkspaceFiles } from "#world";
import { type HookScript, hookScripts } from "./corpora/hook-scripts.ts";
import { noMemory } from "./fakes/no-memory.ts";

const isThere = (program: string): boolean => spawnSync(program, ["--version"]).error === undefined;
const has = { bash: isThere("bash"), python3: isThere("python3"), node: true, jq: isThere("jq") };

const made: string[] = [];
function folder(name: string): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), name)));
  made.push(path);
  return path;
}
let root = "";
/** Outside of the workspace, as scripts of the user are. */
let scripts = "";
beforeAll(() => {
  root = folder("hook-corpus-");
  scripts = folder("hook-scripts-");
});
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true });
});

async function dispatch({ name, program, event, text }: HookScript, payload: unknown) {
  const file = join(scripts, `${name.replace(/\W+/g, "-")}.${program === "node" ? "cjs" : "script"}`);
  writeFileSync(file, text);
  const command = `${program === "node" ? process.execPath : program} ${file}`;
  const hook = makeShellHook({ event, command, source: "config.toml:1", tier: "user" });
  const [made] = createShellHooks([hook], {
    model: () => "scripted:offline",
    permissionMode: () => "default",
    startedBy: "startup",
    servers: ["github"],
    checkScripts: async () => undefined,
    redact: (value) => value,
  });
  if (made === undefined) throw new Error("one hook makes one hook");
  const files = createWorkspaceFiles(root, []);
  const publish = async (): Promise<void> => undefined;
  const dispatcher = createHookDispatcher({
    source: { hooks: (on) => (on === made.event ? [made] : []) },
    bus: { publish, publishSoon: publish },
    ports: {
      files,
      processes: createProcesses({ root, env: process.env }),
      web: createPublicWeb(),
      servers: noServers,
      memory: noMemory,
    },
    monotonicMs: () => 0,
    confinement: async () => "outside",
  });
  const { signal } = new AbortController();
  const session = SessionId.from("01JZ0000000000000000000000");
  return dispatcher.dispatch(made.event, payload, { session, depth: 0, nesting: 0, signal });
}

describe.concurrent.each(hookScripts.map((script) => [script.name, script] as const))("%s", (_, script) => {
  const missing = [script.program, ...(script.needs === undefined ? [] : [script.needs])].filter((name) => !has[name]);
  test.skipIf(missing.length > 0).each(script.cases)(
    `%j (needs ${missing.join() || "nothing more"})`,
    async (payload, expected) => {
      const verdict = await dispatch(script, payload);
      expect(verdict.blocked).toBe(expected.blocked);
      if (verdict.blocked) return expect(verdict.reason).toContain(expected.says);
      expect(verdict.context?.map(({ text }) => text).join() ?? "").toContain(expected.context ?? "");
      expect(verdict.context === undefined).toBe(expected.context === undefined);
      expect(verdict.permission?.effect).toBe(expected.permission);
      if (expected.args !== undefined) expect(isRecord(verdict.payload) && verdict.payload.args).toEqual(expected.args);
    },
  );
});
