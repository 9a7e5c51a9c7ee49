import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createProjectFolder, markdown, type ProjectFolder, problemLines } from "../../test/fakes/project-folder.ts";
import { toolVisible } from "./tools-policy.ts";

const HANDLE = "script: |\n      def handle(event, payload): return allow()\n";

/** A project and the policy above it. */
function governed(project: string, policy: string): ProjectFolder & { readonly adminPolicy: string } {
  const folder = createProjectFolder({ "harness.md": markdown(project, "Hi.") });
  const adminPolicy = join(folder.outside, "policy.md");
  writeFileSync(adminPolicy, policy.startsWith("---") ? policy : markdown(policy, "For everybody here."));
  return { ...folder, adminPolicy };
}

async function configOf(project: string, policy: string) {
  const folder = governed(project, policy);
  const { project: loaded, problems } = await folder.load({ adminPolicy: folder.adminPolicy });
  expect(problems.filter(({ code }) => code !== "sandbox-stays-on")).toEqual([]);
  return loaded?.config;
}

describe("the admin policy", () => {
  test("only tightens numbers", async () => {
    const limits = `
budgets: {turn: {max_cost_usd: 2, max_steps: 5}, session: {max_calls: 7}}
delegation: {max_depth: 5, iterations_per_depth: [9, 2], timeout_ms: 100}
meta: {enabled: true, max_tools: 3}
`;
    const config = await configOf(
      limits,
      "budgets: {turn: {max_cost_usd: 1, max_steps: 50, max_tokens: 10}}\ndelegation: {max_depth: 2, iterations_per_depth: [10], allow_recursive: false}\nmeta: {enabled: true, max_tools: 9, max_agents: 0}\n",
    );
    expect(config).toMatchObject({
      budgets: { turn: { maxCostUsd: 1, maxSteps: 5, maxTokens: 10 }, session: { maxCalls: 7 } },
      delegation: {
        maxDepth: 2,
        maxConcurrent: 5,
        iterationsPerDepth: [9, 2],
        timeoutMs: 100,
        allowRecursive: false,
      },
      maxSteps: 9,
      maxStepsCap: 10,
      meta: { enabled: true, maxTools: 3, maxHooks: 20, maxAgents: 0, maxCallDepth: 2 },
    });
  });

  test("caps the steps of a project that says nothing about them", async () => {
    const config = await configOf("", "delegation: {iterations_per_depth: [8]}\n");
    expect(config).toMatchObject({ maxStepsCap: 8, delegation: { iterationsPerDepth: [8, 8, 5, 3] } });
    expect(config?.maxSteps).toBeUndefined();
  });

  test.each([
    ["off", "required", "required"],
    ["required", "off", "required"],
    ["auto", "required", "required"],
    ["off", "auto", "auto"],
    ["off", "off", undefined],
  ])("sandbox: a project that says %s under %s gets %s", async (project, policy, expected) => {
    expect((await configOf(`sandbox: ${project}\n`, `sandbox: ${policy}\n`))?.sandbox).toBe(expected);
  });

  test("switches meta off for a project that wants it, and never on", async () => {
    expect((await configOf("meta: {enabled: true}\n", "meta: {enabled: false}\n"))?.meta.enabled).toBe(false);
    expect((await configOf("", "meta: {enabled: true}\n"))?.meta.enabled).toBe(false);
  });

  test("has to agree about tools and hosts", async () => {
    const config = await configOf(
      "tools_policy: {allow: [fs.read, exec]}\nnetwork: {allowed_domains: ['*']}\n",
      "tools_policy: {deny: [exec]}\nnetwork: {allowed_domains: [example.com]}\n",
    );
    const policies = config?.toolsPolicies ?? [];
    expect(toolVisible(policies, "fs.read")).toEqual({ allowed: true });
    expect(toolVisible(policies, "fs.list").allowed).toBe(false);
    expect(toolVisible(policies, "exec")).toMatchObject({ allowed: false, why: 'the admin policy denies "exec"' });
    expect(
      config?.networks.map(({ tier, network }) => [tier, network.allowedDomains.map(({ pattern }) => pattern)]),
    ).toEqual([
      ["admin", ["example.com"]],
      ["project", ["*"]],
    ]);
  });

  test("keeps its rules and its strictness", async () => {
    const config = await configOf(
      "permissions: {allow: [Bash(git push *)], strict: false}\n",
      "permissions: {deny: [Bash(git push *)], strict: true}\n",
    );
    expect(config?.strictPermissions).toBe(true);
    expect(config?.permissions.map(({ effect }) => effect)).toEqual(["deny", "allow"]);
  });

  test("has its hooks first, whatever their priority, and nothing takes their name", async () => {
    const hook = (name: string, priority: number): string =>
      `hooks:\n  - name: ${name}\n    event: tool.pre\n    priority: ${priority}\n    ${HANDLE}`;
    const folder = governed(hook("own", 1), hook("above", 50));
    const { project } = await folder.load({ adminPolicy: folder.adminPolicy });
    expect(project?.hooks.map(({ name, tier }) => [name, tier])).toEqual([
      ["above", "admin"],
      ["own", "project"],
    ]);
    const clash = governed(hook("above", 1), hook("above", 50));
    expect(await clash.problems({ adminPolicy: clash.adminPolicy })).toEqual(["error duplicate-name harness.md:3:5"]);
  });

  test("warns about what has no effect in it", async () => {
    const folder = governed("", "model: a:b\ntools: []\nsandbx: off\n");
    const loaded = await folder.load({ adminPolicy: folder.adminPolicy });
    expect(problemLines(loaded).map((line) => line.replace(folder.outside, ""))).toEqual([
      "warning not-in-admin-policy /policy.md:2:1",
      "warning not-in-admin-policy /policy.md:3:1",
      "warning unknown-key /policy.md:4:1",
    ]);
    expect(loaded.project?.config.model).toBeUndefined();
    expect(loaded.project?.identity?.text).toBe("Hi.");
  });

  test("is part of the version, and watched", async () => {
    const folder = governed("", "sandbox: auto\n");
    const loader = await folder.loader({ adminPolicy: folder.adminPolicy });
    loader.load();
    expect(loader.refresh()).toBeUndefined();
    writeFileSync(folder.adminPolicy, markdown("sandbox: required\n"));
    expect(loader.refresh()?.project?.config.sandbox).toBe("required");
  });
});

describe("fails closed", () => {
  test.each([
    ["no frontmatter", "sandbox required\n", "frontmatter-missing"],
    ["a wrong value", markdown("sandbox: requird\n"), "wrong-value"],
    ["a wrong pattern", markdown("tools_policy: {deny: ['[']}\n"), "bad-pattern"],
  ])("a policy with %s stops every project", async (_, text, code) => {
    const folder = createProjectFolder({ "harness.md": markdown("") });
    const adminPolicy = join(folder.outside, "policy.md");
    writeFileSync(adminPolicy, text);
    const { project, problems } = await folder.load({ adminPolicy });
    expect(project).toBeUndefined();
    expect(problems.map((problem) => problem.code)).toEqual([code]);
  });

  test("a policy that is there and cannot be read stops every project", async () => {
    const folder = createProjectFolder();
    const blocked = async (path: string): Promise<string[]> => {
      const { project, problems } = await folder.load({ adminPolicy: join(folder.outside, path) });
      expect(project).toBeUndefined();
      return problems.map(({ code }) => code);
    };
    mkdirSync(join(folder.outside, "folder.md"));
    expect(await blocked("folder.md")).toEqual(["not-a-file"]);
    symlinkSync("nowhere", join(folder.outside, "dangling.md"));
    expect(await blocked("dangling.md")).toEqual(["file-not-found"]);
    writeFileSync(join(folder.outside, "loop.md"), "");
    if (process.getuid?.() === 0) return;
    chmodSync(join(folder.outside, "loop.md"), 0);
    expect(await blocked("loop.md")).toEqual(["unreadable"]);
  });

  test("a policy that is not there is none, unless somebody named it", async () => {
    const folder = createProjectFolder();
    const adminPolicy = join(folder.outside, "gone.md");
    expect((await folder.load({ adminPolicy })).project).toBeDefined();
    expect((await folder.load({ adminPolicy, adminPolicyRequired: true })).project).toBeUndefined();
  });
});
