import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createTemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { createTestSandbox, hasSandbox } from "../../test/fakes/test-sandbox.ts";

const BEGIN =
  "git init -q -b main; git config user.name a; git config user.email a@example.com; echo a > a.txt; git add .; git commit -qm a";

describe.runIf(hasSandbox)("placeholders in a repository", () => {
  test("are nothing that git clean and git stash -u remove", async () => {
    const workspace = createTemporaryWorkspace();
    execFileSync("bash", ["-c", BEGIN], { cwd: workspace.root });
    const sandbox = createTestSandbox(workspace);
    expect(await sandbox.shell("mkdir junk; touch junk/x; git clean -fd; ls; git status --short")).toBe(
      "Removing junk/\na.txt\n",
    );
    expect(await sandbox.shell("echo b > b.txt; git stash -q -u; echo $?; git stash pop -q > out; cat b.txt")).toBe(
      "0\nb\n",
    );
  });

  test("do not hide what has the same name elsewhere, or is there already", async () => {
    const workspace = createTemporaryWorkspace();
    execFileSync("bash", ["-c", BEGIN], { cwd: workspace.root });
    workspace.put(".idea/x.xml", "x");
    const sandbox = createTestSandbox(workspace);
    const said = await sandbox.shell(
      `git status --short -uall; git init -q lib; cd lib; mkdir .vscode; echo x > .vscode/x; git status --short -uall
       cd ..; git worktree add -q tree -b tree; cd tree; mkdir .vscode; echo x > .vscode/x; git status --short -uall`,
    );
    expect(said).toBe("?? .idea/x.xml\n?? .vscode/x\n?? .vscode/x\n");
  });

  test("are not written through a link that a command left in its home", async () => {
    const workspace = createTemporaryWorkspace();
    execFileSync("bash", ["-c", BEGIN], { cwd: workspace.root });
    const target = `${workspace.outside}/target`;
    const sandbox = createTestSandbox(workspace);
    const plant = `cd ~/.config/git; echo 'from inside' > ignore; for name in placeholders placeholders-ignored config; do ln -sf ${target} $name; done`;
    await sandbox.shell(`mkdir -p ~/.config/git; ${plant}; touch /run/harness/git/ignored /run/harness/git/x 2>&1`);
    // Another set of held names than before.
    workspace.put(".vscode/x", "x");
    expect(await sandbox.shell("touch junk; git clean -fdn; touch /run/harness/git/ignored")).toContain(
      "Read-only file system",
    );
    expect(existsSync(target)).toBe(false);
  });

  test("leave what the person ignores ignored", async () => {
    const workspace = createTemporaryWorkspace();
    execFileSync("bash", ["-c", BEGIN], { cwd: workspace.root });
    const home = `${workspace.outside}/home`;
    execFileSync("bash", ["-c", `mkdir -p ${home}/.config/git; echo '*.swp' > ${home}/.config/git/ignore`]);
    const sandbox = createTestSandbox(workspace, { env: { ...process.env, HOME: home } });
    expect(await sandbox.shell("touch a.swp b.txt; git status --short")).toBe("?? b.txt\n");
  });
});
