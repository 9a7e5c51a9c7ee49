import { describe, expect, test } from "vitest";
import { createProjectFolder, markdown, problemLines } from "../../test/fakes/project-folder.ts";
import { globCovers, globFault, globMatches } from "./name-glob.ts";
import { toolVisible } from "./tools-policy.ts";

async function policyOf(text: string) {
  const { project } = await createProjectFolder({ "harness.md": markdown(text) }).load();
  return project?.config.toolsPolicies ?? [];
}

async function problemsOf(text: string): Promise<string[]> {
  const loaded = await createProjectFolder({ "harness.md": markdown(text) }).load();
  return problemLines(loaded).map((line) => line.replace(" harness.md:", " "));
}

describe("patterns", () => {
  test.each([
    ["fs.*", "fs.read", true],
    ["fs.*", "fs.", true],
    ["fs.*", "fsxread", false],
    ["delegate*", "delegate_async", true],
    ["*", "anything.at.all", true],
    ["fs.rea?", "fs.read", true],
    ["fs.[rw]*", "fs.write", true],
    ["fs.[!rw]*", "fs.write", false],
    ["fs.[a-l]*", "fs.list", true],
    ["*.read", "mcp.files.read", true],
    ["FS.read", "fs.read", false],
    ["a*a*a*a*a*a*a*a*b", "a".repeat(60), false],
  ])("%s over %s: %s", (pattern, name, expected) => {
    expect(globMatches(pattern, name)).toBe(expected);
  });

  test.each(["", "  ", "fs.[", "fs.[]", "a b", "x".repeat(201)])("%j is none", (pattern) => {
    expect(globFault(pattern)).toBeDefined();
  });

  test.each([
    ["fs.*", "fs.read", true],
    ["fs.*", "fs.r*", true],
    ["*", "fs.*", true],
    ["fs.?ead", "fs.read", true],
    ["fs.read", "fs.*", false],
    ["fs.?", "fs.*", false],
    ["fs.[rw]*", "fs.read", true],
    ["fs.r*", "fs.*d", false],
  ])("%s covers %s: %s", (outer, inner, expected) => {
    expect(globCovers(outer, inner)).toBe(expected);
  });
});

describe("the decision", () => {
  test("an allowlist allows what it names, and deny beats it", async () => {
    const policies = await policyOf("tools_policy:\n  allow: [fs.*, delegate*]\n  deny:\n    - fs.remove\n");
    expect(toolVisible(policies, "fs.read")).toEqual({ allowed: true });
    expect(toolVisible(policies, "delegate_async")).toEqual({ allowed: true });
    expect(toolVisible(policies, "fs.remove")).toEqual({
      allowed: false,
      byAdmin: false,
      why: 'tools_policy denies "fs.remove"',
      source: "harness.md:5",
    });
    expect(toolVisible(policies, "exec")).toEqual({
      allowed: false,
      byAdmin: false,
      why: "tools_policy is an allowlist and has no entry for it",
      source: "harness.md:3",
    });
  });

  test("a denylist allows the rest", async () => {
    const policies = await policyOf("tools_policy: {deny: [exec]}\n");
    expect(toolVisible(policies, "fs.read").allowed).toBe(true);
    expect(toolVisible(policies, "exec").allowed).toBe(false);
  });

  test("an empty allowlist allows nothing, no policy allows all", async () => {
    expect(toolVisible(await policyOf("tools_policy: {mode: allowlist, allow: []}\n"), "fs.read").allowed).toBe(false);
    expect(toolVisible([], "fs.read").allowed).toBe(true);
  });
});

describe("what is reported", () => {
  test("entries without effect warn", async () => {
    expect(await problemsOf("tools_policy:\n  allow: [fs.read, fs.rea, web*]\n  deny: ['fs.r*']\n")).toEqual([
      "warning shadowed-allow 3:11",
      "warning shadowed-allow 3:20",
      "warning unknown-tool 3:20",
      "warning unknown-tool 3:28",
    ]);
    expect(await problemsOf("tools_policy:\n  mode: denylist\n  allow: [fs.read]\n")).toEqual([
      "warning idle-allow 4:11",
    ]);
    expect(await problemsOf("tools_policy:\n  allow: [mcp.github.*, '*']\n")).toEqual([]);
    const own = "tools_policy:\n  allow: [meta.register_tool, 'note_*', note_x]\n";
    expect(await problemsOf(`meta: {enabled: true}\n${own}`)).toEqual(["warning unknown-tool 4:41"]);
    expect(await problemsOf(own)).toHaveLength(3);
  });

  test("patterns and modes that are none are errors", async () => {
    expect(await problemsOf("tools_policy:\n  mode: allow\n  deny: ['', 'fs.[', 3, {match: [x]}]\n")).toEqual([
      "error wrong-value 3:9",
      "error bad-pattern 4:10",
      "error bad-pattern 4:14",
      "error wrong-value 4:22",
      "error missing-key 4:25",
    ]);
  });

  test("an entry that breaks its examples does not load", async () => {
    const policy = `tools_policy:
  allow:
    - pattern: fs.*
      match: [fs.read, exec, fs.remove]
      not_match: [exec, fs.list]
  deny: [fs.remove]
`;
    expect(await problemsOf(policy)).toEqual([
      "error example-fails 5:24",
      "error example-fails 5:30",
      "error example-fails 6:25",
    ]);
  });
});
