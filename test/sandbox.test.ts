/** The sandbox as a session has it: on the record, by the settings, and refused where it has to be. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createHeldKeys } from "#providers";
import { calls, createHarnessRig, says } from "./fakes/harness-rig.ts";
import { openMemoryHarness } from "./fakes/memory-harness.ts";
import { createProjectRig } from "./fakes/project-rig.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

const allowed = { permissions: [{ effect: "allow" as const, rule: "Bash", source: "test" }] };
const runs = (command: string) => [calls(["exec", { command }]), says("done")];

describe("the status", () => {
  test("is on the record before the first command, once, and not without one", async () => {
    const rig = await createHarnessRig([...runs("echo a"), ...runs("echo b")], { settings: allowed });
    await rig.send();
    await rig.send();
    expect(rig.of("SandboxStatus")).toMatchObject([{ mode: "auto", active: hasSandbox, network: "public" }]);
    const kinds = rig.events.map(({ kind }) => kind);
    expect(kinds.indexOf("SandboxStatus")).toBeLessThan(kinds.indexOf("ToolResult"));
    const quiet = await createHarnessRig([says("hello")]);
    await quiet.send();
    expect(quiet.of("SandboxStatus")).toEqual([]);
  });

  test("says when it is off", async () => {
    const rig = await createHarnessRig(runs("echo a"), { settings: { ...allowed, sandbox: "off" } });
    await rig.send();
    expect(rig.of("SandboxStatus")).toMatchObject([{ mode: "off", active: false }]);
    expect(JSON.stringify(rig.of("ToolResult"))).toContain("a");
  });
});

describe.runIf(hasSandbox)("a list of domains", () => {
  test("holds for commands, and every connection is on the record", async () => {
    const rig = await createHarnessRig(runs("curl -sS -m 5 https://other.test/ 2>&1; true"), {
      settings: { ...allowed, network: { allowedDomains: ["allowed.test"] } },
    });
    await rig.send();
    expect(rig.of("NetworkConnection")).toEqual([
      {
        connection: 1,
        host: "other.test",
        port: 443,
        state: "refused",
        why: "host other.test is not in allowed_domains (config.toml). To allow it, add the host to that list",
      },
    ]);
  });
});

describe("a list of domains", () => {
  test("that is tightened holds for the next command, though another list is wider", async () => {
    const project = (...domains: string[]) => `---\nnetwork: { allowed_domains: [${domains.join(", ")}] }\n---\n`;
    const fetches = runs("curl -sS -m 5 https://b.test/ 2>&1; true");
    const rig = await createProjectRig({ "harness.md": project("a.test", "b.test") }, [...runs("true"), ...fetches], {
      settings: { ...allowed, network: { allowedDomains: ["a.test", "b.test"] } },
    });
    await rig.send();
    rig.write("harness.md", project("a.test"));
    await rig.send();
    expect(rig.of("SandboxStatus").map(({ domains }) => domains)).toEqual([["a.test", "b.test"], ["a.test"]]);
    if (!hasSandbox) return;
    expect(rig.of("NetworkConnection")).toMatchObject([{ host: "b.test", state: "refused" }]);
  });

  test("holds for web.fetch too", async () => {
    const rig = await createHarnessRig([calls(["web_fetch", { url: "https://other.test/" }]), says("done")], {
      settings: {
        permissions: [{ effect: "allow", rule: "WebFetch", source: "test" }],
        network: { allowedDomains: ["allowed.test"] },
      },
    });
    await rig.send();
    expect(JSON.stringify(rig.of("ToolResult"))).toContain("host other.test is not in allowed_domains");
  });

  test("with a wrong entry is refused with the entry", async () => {
    const made = createHarnessRig([], { settings: { network: { allowedDomains: ["https://x"] } } });
    await expect(made).rejects.toMatchObject({
      reason: "ConfigInvalid",
      message: expect.stringContaining("https://x"),
    });
  });
});

describe("where there is no sandbox", () => {
  // Nothing is found in a workspace that the sandbox would have to hide.
  const hidden = () => {
    const workspace = createTemporaryWorkspace();
    return { workspace: workspace.root, undo: { directory: workspace.root, key: Buffer.alloc(32) } };
  };

  test("one that is required keeps the session from opening", async () => {
    const { workspace, undo } = hidden();
    const harness = await openMemoryHarness({
      settings: { sandbox: "required" },
      credentials: createHeldKeys({ OPENAI_API_KEY: "k" }),
      workspace,
      undo,
      model: "openai:mock-model",
    });
    const client = harness.control.connect({ identityClass: "human", interactive: false, onEvent: () => undefined });
    await expect(client.submit({ kind: "CreateSession" })).rejects.toMatchObject({ reason: "SandboxUnavailable" });
    await harness.shutdown();
  });

  test("a command under a list is refused with a typed reason", async () => {
    const { workspace, undo } = hidden();
    const rig = await createHarnessRig(runs("touch ran"), {
      workspace,
      undo,
      settings: { ...allowed, network: { allowedDomains: [] } },
    });
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ is_error: true, reason: "SandboxUnavailable" }]);
    expect(rig.of("SandboxStatus")).toMatchObject([{ active: false, network: "none" }]);
    expect(existsSync(join(workspace, "ran"))).toBe(false);
  });
});
