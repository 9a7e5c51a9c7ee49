import { expect, test } from "vitest";
import { defaultSettings, type PermissionRule } from "#artifacts";
import { ruleWarnings } from "./rule-warnings.ts";

const flag = (rule: string): PermissionRule => ({ effect: "allow", rule, source: "--allow" });
const filed = (rule: string): PermissionRule => ({ effect: "deny", rule, source: "config.toml:3" });
const warnings = (...permissions: readonly PermissionRule[]) =>
  ruleWarnings({ ...defaultSettings, permissions }, undefined, true);

test("a rule with an unknown tool names the nearest one", () => {
  expect(warnings(flag("Bsh(x)"), filed("fs.raed(.env)"))).toEqual([
    "--allow: the allow rule 'Bsh(x)' matches no tool. Did you mean 'Bash'?",
    "config.toml:3: the deny rule 'fs.raed(.env)' matches no tool. Did you mean 'fs.read'?",
  ]);
});

test("a flag is always named; a rule of a file may be for a tool of another project", () => {
  expect(warnings(flag("Frobnicate"))).toEqual([
    "--allow: the allow rule 'Frobnicate' matches no tool. To list the tools, run: harness tools",
  ]);
  expect(warnings(filed("Frobnicate"))).toEqual([]);
});

test("names, labels, globs and tools of MCP servers and plugins are not warned about", () => {
  const known = ["Bash(ls)", "exec", "fs.*", "*", "task.*", "Delegate", "mcp.github.search", "mcp.*", "m*"];
  expect(warnings(...known.map(flag))).toEqual([]);
  const plugins = { weather: { path: "/w.mjs", place: "config.toml:1" } };
  expect(ruleWarnings({ ...defaultSettings, plugins, permissions: [flag("Bsh")] }, undefined, true)).toEqual([]);
});
