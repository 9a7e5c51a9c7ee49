/** What the engine does to a workspace after a command stays in that workspace, whatever links the command left. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { createTestSandbox, hasSandbox } from "../../test/fakes/test-sandbox.ts";

const CONFIG = "[core]\n\tfsmonitor = true\n[commit]\n\tgpgsign = true\n";

/** A repository of the person beside the workspace, with a hook and settings that a sweep would take out. */
function neighbour(workspace: TemporaryWorkspace): { readonly path: string; isUntouched(): boolean } {
  const path = join(workspace.outside, "mine");
  execFileSync("git", ["init", "-q", path]);
  const git = join(path, ".git");
  mkdirSync(join(git, "hooks"), { recursive: true });
  writeFileSync(join(git, "hooks", "pre-push"), "#!/bin/sh\n");
  writeFileSync(join(git, "config"), CONFIG);
  return {
    path,
    isUntouched: () =>
      readFileSync(join(git, "config"), "utf8") === CONFIG &&
      existsSync(join(git, "hooks", "pre-push")) &&
      ![...readdirSync(git), ...readdirSync(join(git, "hooks")), ...readdirSync(path)].some((name) =>
        name.includes("held-back"),
      ),
  };
}

/** Root enters and lists every folder, so this is tried as somebody else. */
describe.runIf(process.getuid?.() === 0)("sweeping as an ordinary user", () => {
  test("finds and opens what a command has closed to it", () => {
    const workspace = createTemporaryWorkspace();
    for (const folder of [workspace.outside, workspace.root]) chmodSync(folder, 0o777);
    const script = `
      import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
      import { surveyWorkspace } from ${JSON.stringify(join(import.meta.dirname, "workspace-survey.ts"))};
      process.umask(0o022);
      const survey = surveyWorkspace(${JSON.stringify(workspace.root)}, () => false);
      process.chdir(${JSON.stringify(workspace.root)});
      mkdirSync("a/b/.git/hooks", { recursive: true });
      writeFileSync("a/b/.git/config", "[core]\\n\\tfsmonitor = ./evil\\n");
      writeFileSync("a/b/.git/hooks/pre-commit", "");
      for (const closed of ["a/b/.git/hooks", "a/b/.git", "a/b", "a"]) chmodSync(closed, 0o111);
      console.log(JSON.stringify(survey.sweepBegun()));`;
    const args = ["--input-type=module", "--no-warnings", "-e", script];
    const said = execFileSync(process.execPath, args, { uid: 65534, gid: 65534, encoding: "utf8" });
    expect(JSON.parse(said)).toMatchObject({ failures: [] });
    const git = join(workspace.root, "a/b/.git");
    expect(readFileSync(join(git, "config"), "utf8")).not.toContain("fsmonitor");
    expect(existsSync(join(git, "hooks/pre-commit"))).toBe(false);
  });
});

describe.runIf(hasSandbox)("sweeping after a command follows no link", () => {
  test("a folder that was replaced by a link to a repository elsewhere", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("sub/a.txt", "a");
    const { path, isUntouched } = neighbour(workspace);
    const sandbox = createTestSandbox(workspace);
    await sandbox.shell(`rm -r sub; ln -s ${path} sub`);
    await sandbox.shell("true");
    expect(isUntouched()).toBe(true);
  });

  test("a link to a folder with repositories deep below it", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("sub/a.txt", "a");
    const { isUntouched } = neighbour(workspace);
    const sandbox = createTestSandbox(workspace);
    await sandbox.shell(`rm -r sub; ln -s ${workspace.outside} sub`);
    expect(isUntouched()).toBe(true);
  });

  test("a repository that one command began and the next one replaced", async () => {
    const workspace = createTemporaryWorkspace();
    const { path, isUntouched } = neighbour(workspace);
    const sandbox = createTestSandbox(workspace);
    await sandbox.shell("git init -q deep/sub");
    await sandbox.shell(`rm -r deep/sub; ln -s ${path} deep/sub`);
    expect(isUntouched()).toBe(true);
    await sandbox.shell(`rm -r deep; mkdir -p other; ln -s ${workspace.outside} deep; true`);
    expect(isUntouched()).toBe(true);
  });

  test("a .git file that names a repository elsewhere through a link in the workspace", async () => {
    const workspace = createTemporaryWorkspace();
    const { path, isUntouched } = neighbour(workspace);
    const sandbox = createTestSandbox(workspace);
    await sandbox.shell(
      `mkdir a; echo "gitdir: ${path}/.git" > a/.git; ln -s ${path}/.git b; mkdir c; echo "gitdir: ../b" > c/.git`,
    );
    expect(isUntouched()).toBe(true);
  });

  test("a folder above a name that git's configuration protects", async () => {
    const workspace = createTemporaryWorkspace();
    execFileSync("git", ["init", "-q", workspace.root]);
    execFileSync("git", ["-C", workspace.root, "config", "core.hooksPath", "tools/hooks"]);
    const elsewhere = join(workspace.outside, "elsewhere");
    mkdirSync(join(elsewhere, "hooks"), { recursive: true });
    const sandbox = createTestSandbox(workspace);
    await sandbox.shell(`ln -s ${elsewhere} tools`);
    expect(readdirSync(elsewhere)).toEqual(["hooks"]);
  });

  test("a link above protected hooks cannot be led to others, nor the folder behind it replaced", async () => {
    for (const attack of [
      "rm tools; mkdir -p tools/hooks; cp evil tools/hooks/pre-commit",
      "mkdir -p x/hooks; cp evil x/hooks/pre-commit; ln -sfn x tools",
      "mv real gone; mkdir -p real/hooks; cp evil real/hooks/pre-commit",
      "cp evil real/hooks/pre-commit",
    ]) {
      const workspace = createTemporaryWorkspace();
      execFileSync("git", ["init", "-q", workspace.root]);
      execFileSync("git", ["-C", workspace.root, "config", "core.hooksPath", "tools/hooks"]);
      workspace.put("real/hooks/readme", "none yet");
      workspace.put("evil", "#!/bin/sh\n");
      symlinkSync("real", join(workspace.root, "tools"));
      await createTestSandbox(workspace).shell(attack);
      expect(existsSync(join(workspace.root, "tools/hooks/pre-commit"))).toBe(false);
      expect(existsSync(join(workspace.root, "tools/hooks/readme"))).toBe(true);
    }
  });

  test("names for what is moved aside that were taken, are too long or are no text stop nothing", async () => {
    const workspace = createTemporaryWorkspace();
    const sandbox = createTestSandbox(workspace);
    const said = await sandbox.shell(
      `git init -q sub; git -C sub config core.fsmonitor ./evil; cd sub/.git
       for i in $(seq 0 200); do touch config.held-back-$i hooks/pre-commit.held-back-$i; done; touch config.held-back
       touch hooks/pre-commit hooks/$(printf 'a%.0s' $(seq 250)) hooks/$'\\xff' hooks/post-merge
       for i in $(seq 0 200); do touch ../../.bashrc.held-back-$i; done; touch ../../.bashrc.held-back ../../.bashrc ../../.zshrc`,
    );
    expect(said).toMatch(/settings that can run programs/);
    const git = join(workspace.root, "sub/.git");
    expect(readFileSync(join(git, "config"), "utf8")).not.toContain("fsmonitor");
    for (const name of ["pre-commit", "post-merge"]) expect(existsSync(join(git, "hooks", name))).toBe(false);
    for (const name of [".bashrc", ".zshrc"]) expect(existsSync(join(workspace.root, name))).toBe(false);
  });

  test("a rebase list that a link leads to is not shown", async () => {
    const workspace = createTemporaryWorkspace();
    execFileSync("git", ["init", "-q", workspace.root]);
    const elsewhere = join(workspace.outside, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "git-rebase-todo"), "exec the secret\n");
    const said = await createTestSandbox(workspace).shell(`ln -s ${elsewhere} .git/rebase-merge`);
    expect(said).not.toContain("the secret");
    expect(said).toContain("rebase-merge");
  });
});
