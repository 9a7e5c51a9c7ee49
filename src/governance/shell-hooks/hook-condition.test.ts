import { expect, test } from "vitest";
import { compileCondition } from "./hook-condition.ts";

const root = "/work";
const covers = (condition: string, tool: string, args: object): boolean =>
  compileCondition({ condition, source: "hooks.toml:1" })({ tool, args: { ...args }, root });
const bash = (condition: string, command: string): boolean => covers(condition, "exec", { command });

test.each([
  ["Bash(git push *)", "git push origin main", true],
  ["Bash(git push *)", "git push", true],
  ["Bash(git push:*)", "git push --force", true],
  ["Bash(git *)", "npm test && FOO=1 git commit -m x", true],
  ["Bash(rm *)", "echo $(rm -rf build)", true],
  ["Bash(rm *)", "sudo rm x", true],
  ["Bash(rm *)", "rm", true],
  ["Bash", "ls", true],
  ["Bash(*)", "ls", true],
  ["Bash(git push *)", "git status", false],
  ["Bash(rm *)", "ls -la", false],
  ["Edit(*.ts)", "ls", false],
  // Nobody can tell what runs.
  ["Bash(rm *)", 'eval "$X"', true],
  ["Bash(rm *)", "if then ((", true],
  // No rule: the hook decides by itself.
  ["Bash(rm", "ls", true],
  ["Bash(rm *) || Bash(ls *)", "ls", true],
  ["!", "ls", true],
])("%s and %s: %s", (condition, command, expected) => {
  expect(bash(condition, command)).toBe(expected);
});

test.each([
  ["Edit(*.ts)", "fs.edit", { path: "src/a.ts" }, true],
  ["Edit(*.ts)", "fs.write", { path: "/work/src/deep/a.ts" }, true],
  ["Edit(src/**)", "fs.write", { path: "src/deep/a.ts" }, true],
  ["Edit(/src/**)", "fs.edit", { path: "src/a.ts" }, true],
  ["Edit(//work/src/**)", "fs.edit", { path: "src/a.ts" }, true],
  ["Read(~/.ssh/**)", "fs.read", { path: "/home/me/.ssh/id_rsa" }, true],
  ["Read(./.env)", "fs.read", { path: ".env" }, true],
  ["Grep(src/**)", "fs.search", { pattern: "x" }, true],
  ["Edit(*.ts)", "fs.edit", { path: "src/a.js" }, false],
  ["Edit(src/**)", "fs.search", { pattern: "x" }, false],
  ["Edit(*.ts)", "fs.read", { path: "src/a.ts" }, false],
  ["mcp__github__*", "mcp.github.create_issue", {}, true],
  ["mcp__github__*", "mcp.files.read", {}, false],
  ["WebFetch(domain:example.com)", "web.fetch", { url: "https://example.com/x" }, true],
  ["WebFetch(domain:example.com)", "web.fetch", { url: "https://other.com/x" }, false],
])("%s and %s %j: %s", (condition, tool, args, expected) => {
  expect(covers(condition, tool, args)).toBe(expected);
});
