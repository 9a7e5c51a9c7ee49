import { describe, expect, test } from "vitest";
import { computingTime } from "../../test/fakes/computing-time.ts";
import { protectedNames, protectedPatterns, steeringFile } from "./steering-files.ts";

describe("steering files", () => {
  test.each([
    ".git/config",
    ".git/config.worktree",
    ".git/hooks/pre-commit",
    ".git/commondir",
    ".git/info/attributes",
    ".git/rebase-merge/git-rebase-todo",
    ".git/modules/a/b/config",
    ".git/worktrees/w/commondir",
    ".git",
    "sub/.git/hooks/pre-push",
    "sub/.git",
    "mirror.git/hooks/post-receive",
    "mirror.git/config",
    "sub/HEAD",
    ".harness",
    ".harness/hooks/x.md",
    "harness.md",
    "sub/harness.yaml",
    ".harness-secrets/env",
    ".vscode/tasks.json",
    "packages/a/.vscode/settings.json",
    "app.code-workspace",
    ".idea/workspace.xml",
    ".claude/settings.json",
    ".mcp.json",
    ".envrc",
    "sub/.envrc",
    "mise.toml",
    ".dir-locals.el",
    ".gdbinit",
    ".bashrc",
    "dotfiles/.zshrc",
    ".gitconfig",
    ".husky/pre-commit",
    ".ssh/config",
    ".Rprofile",
    "mise.production.toml",
    ".config/mise/conf.d/a.toml",
    "sub/.config/mise.toml",
    "mise/config.local.toml",
  ])("%s is one", (path) => {
    expect(steeringFile(path)?.why).toMatch(/\w/);
  });

  test.each([
    ".GIT/Config",
    ".git./config",
    ".git /hooks/x",
    ".g\u200dit/hooks/x",
    "\uFF0Egit/config",
    ".vscode\\tasks.json",
    ".VSCode/tasks.json",
    "a/../.git/config",
    "./.git//config",
    ".Env\u017Frc".replace("\u017F", ""),
    "Harness.MD",
  ])("%j is one, however it is spelled", (path) => {
    expect(steeringFile(path)).toBeDefined();
  });

  test.each([
    "src/main.ts",
    "config",
    "hooks/useThing.ts",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    "Makefile",
    "package.json",
    ".npmrc",
    ".yarnrc.yml",
    ".gitmodules",
    ".gitignore",
    ".gitattributes",
    ".pre-commit-config.yaml",
    ".env",
    "docs/harness.md.bak",
    ".config/other.toml",
    "mise/tasks.toml",
    "mise.toml.md",
    "config.toml",
    "src/head.ts",
    "mirror.git/description",
    ".",
    "",
  ])("%j is an ordinary file", (path) => {
    expect(steeringFile(path)).toBeUndefined();
  });

  test("says what obeys the file", () => {
    expect(steeringFile(".git/hooks/pre-commit")).toEqual({ why: "a git hook, which git runs" });
    expect(steeringFile(".vscode/tasks.json")).toEqual({ why: "configuration of an editor, which can run programs" });
  });

  test("every name that the sandbox protects is a steering file for the file tools", () => {
    const names = protectedNames().map(({ name }) => name);
    expect(names.filter((name) => steeringFile(name) === undefined)).toEqual([]);
    const globs = protectedPatterns().map(({ glob }) => glob.replace("*", "x"));
    expect(globs.filter((name) => steeringFile(name) === undefined)).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  test("a long path is judged in linear time", () => {
    const computedMs = computingTime();
    steeringFile(`${"a. .".repeat(50_000)}/${" .".repeat(50_000)}x`);
    expect(computedMs()).toBeLessThan(500);
  });
});
