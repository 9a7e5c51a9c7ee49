import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createSystemClock } from "#world";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { createTestSandbox, hasSandbox, type TestSandboxOptions } from "../../test/fakes/test-sandbox.ts";
import { createSandboxes } from "./command-sandbox.ts";
import type { Probe } from "./sandbox.ts";

const missing: Probe = { available: false, why: "bwrap was not found", steps: [] };
const NEVER = new AbortController().signal;
const noProbe = { probe: async () => missing };

function git(folder: string, ...args: string[]): string {
  const fixed = [
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@example.com",
    "-c",
    "init.defaultBranch=main",
    "-c",
    "protocol.file.allow=always",
  ];
  return execFileSync("git", [...fixed, ...args], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function createRepository(): TemporaryWorkspace {
  const workspace = createTemporaryWorkspace();
  workspace.put("a.txt", "a\n");
  git(workspace.root, "init", "-q");
  git(workspace.root, "add", ".");
  git(workspace.root, "commit", "-qm", "first");
  return workspace;
}

describe.runIf(hasSandbox)("files of the program in the workspace", () => {
  test("a socket and a token are not there for commands, also when their folder is moved", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("keys/deep/token", "the token\n");
    const socket = join(workspace.root, "keys", "deep", "c.sock");
    const server = createServer((connection) => connection.end("connected")).listen(socket);
    onTestFinished(() => void server.close());
    const ownPaths = [socket, join(workspace.root, "keys/deep/token")];
    const sandbox = createTestSandbox(workspace, { ownPaths });
    const reached = "curl -sS -m 2 --http0.9 --unix-socket $1/c.sock http://localhost 2>&1; cat $1/token";
    expect(await sandbox.shell(`set -- keys/deep; ${reached}`)).not.toMatch(/connected|the token/);
    await sandbox.shell("mv keys/deep other; mv keys others; rm -rf keys");
    expect(await sandbox.shell(`for at in keys/deep other others/deep; do set -- $at; ${reached}; done`)).not.toMatch(
      /connected|the token/,
    );
    expect(readFileSync(join(workspace.root, "keys/deep/token"), "utf8")).toBe("the token\n");
  });
});

describe("where there is no sandbox", () => {
  test("only what may run outside runs, and the status says so once", async () => {
    const sandbox = createTestSandbox(createTemporaryWorkspace(), noProbe);
    expect(await sandbox.shell("echo ran", { confinement: "outside" })).toBe("ran\n");
    await sandbox.shell(":", { confinement: "outside" });
    expect(sandbox.statuses).toEqual([
      {
        mode: "auto",
        active: false,
        network: "public",
        detail:
          "no sandbox: bwrap was not found. Each command needs a person's approval. For details, run: harness sandbox check",
      },
    ]);
  });

  test.each([
    ["required", {}],
    ["auto", {}],
    ["auto", { allowedDomains: ["example.com"] }],
    ["auto", { allowedDomains: [] }],
  ] as const)("%s with %j refuses", async (mode, settings) => {
    const workspace = createTemporaryWorkspace();
    const sandbox = createTestSandbox(workspace, { ...noProbe, mode, ...settings });
    for (const confinement of ["reader", "workspace"] as const) {
      await expect(sandbox.shell("touch ran", { confinement })).rejects.toMatchObject({
        reason: "SandboxUnavailable",
        message: expect.stringContaining("bwrap was not found"),
      });
    }
    expect(readdirSync(workspace.root)).toEqual([]);
    expect(sandbox.statuses).toMatchObject([{ mode, active: false }]);
  });

  test("off runs what the gate sends outside, and nothing else", async () => {
    const sandbox = createTestSandbox(createTemporaryWorkspace(), { ...noProbe, mode: "off", allowedDomains: [] });
    expect(await sandbox.shell("echo ran", { confinement: "outside" })).toBe("ran\n");
    await expect(sandbox.shell("echo ran", { confinement: "reader" })).rejects.toMatchObject({
      reason: "SandboxUnavailable",
    });
    expect(sandbox.statuses).toMatchObject([{ mode: "off", active: false, network: "open" }]);
  });

  test("a probe that failed is tried again by the next session", async () => {
    let probes = 0;
    const sandboxes = createSandboxes({
      env: process.env,
      ownPaths: [],
      clock: createSystemClock(),
      isSecret: () => false,
      probe: async () => {
        probes += 1;
        return missing;
      },
    });
    for (const round of [1, 2]) {
      const { root, ports } = createTemporaryWorkspace();
      const sandbox = sandboxes.open({ mode: "auto", root, processes: ports.processes });
      expect((await sandbox.status()).active).toBe(false);
      expect(probes).toBe(round);
      await sandbox.close();
    }
  });

  test("a status that cannot be recorded stops the command", async () => {
    const workspace = createTemporaryWorkspace();
    const sandbox = createTestSandbox(workspace, noProbe);
    sandbox.recordTo({
      async status() {
        throw new Error("the log is full");
      },
      connection: async () => undefined,
    });
    await expect(sandbox.shell("touch ran")).rejects.toThrow("the log is full");
    expect(readdirSync(workspace.root)).toEqual([]);
  });
});

describe.runIf(hasSandbox)("a command in the sandbox", () => {
  test("writes to the workspace and to a /tmp of its session, and leaves nothing behind", async () => {
    const workspace = createTemporaryWorkspace();
    const sandbox = createTestSandbox(workspace, { mode: "required" });
    await sandbox.shell("echo kept > /tmp/scratch; echo x > new.txt");
    expect(await sandbox.shell("cat /tmp/scratch; id -u; echo $TMPDIR")).toBe(`kept\n${process.getuid?.()}\n/tmp\n`);
    expect(readdirSync(workspace.root)).toEqual(["new.txt"]);
    expect(existsSync("/tmp/scratch")).toBe(false);
    expect(sandbox.statuses).toMatchObject([
      { mode: "required", active: true, backend: "bubblewrap", network: "public" },
    ]);
  });

  test("has no key and nothing of ours in its environment", async () => {
    const env = { ...process.env, HARNESS_MACHINE_KEY: "k", OPENAI_API_KEY: "k", HOME: process.env.HOME };
    const sandbox = createTestSandbox(createTemporaryWorkspace(), { env });
    expect(
      await sandbox.shell("env | grep -c 'HARNESS_\\|API_KEY'; cat /proc/*/environ | grep -c HARNESS_MACHINE"),
    ).toBe("0\n0\n");
  });

  test("takes no protected name, held or swept, and is told", async () => {
    const workspace = createTemporaryWorkspace();
    const sandbox = createTestSandbox(workspace);
    const said = await sandbox.shell("echo x > .vscode/settings.json; echo x > .bashrc; echo x > harness.md");
    expect(said).toContain(".vscode/settings.json: Permission denied");
    expect(said).toContain(
      `[sandbox] ${workspace.root}/.bashrc is protected: Harness moved what the command put there to`,
    );
    expect(readdirSync(workspace.root).toSorted()).toEqual([".bashrc.held-back", "harness.md.held-back"]);
  });

  test("has no protected name while it runs either: nothing outside can obey one", async () => {
    const workspace = createRepository();
    git(workspace.root, "config", "extensions.worktreeConfig", "true");
    git(workspace.root, "config", "include.path", "../team.gitconfig");
    git(workspace.root, "config", "core.hooksPath", "hooks");
    const sandbox = createTestSandbox(workspace);
    const said = sandbox.shell(
      `mkdir -p evil/hooks; echo x > evil/config; echo ../evil > .git/commondir; rm -f .git/commondir; mv evil .git/commondir
       for f in .git/config.worktree team.gitconfig; do echo '[core] fsmonitor = touch ran' > $f; rm -f $f; ln -sf evil $f; done
       for f in .idea .zed .cursor .claude .fleet .devcontainer hooks; do rmdir $f; echo x > $f; ln -s evil $f; mkdir -p $f/x; done
       touch ready; until [ -e go ]; do :; done`,
    );
    await expect.poll(() => existsSync(join(workspace.root, "ready"))).toBe(true);
    const at = (name: string): string => join(workspace.root, name);
    expect(readFileSync(at(".git/commondir"), "utf8")).toBe(".\n");
    expect(readFileSync(at(".git/config.worktree"), "utf8")).toBe("");
    expect(readFileSync(at("team.gitconfig"), "utf8")).toBe("");
    for (const name of [".idea", ".zed", ".cursor", ".claude", ".fleet", ".devcontainer", "hooks"])
      expect(readdirSync(at(name))).toEqual([]);
    // Git outside works meanwhile and obeys nothing of it.
    expect(git(workspace.root, "log", "--oneline").trim().split("\n")).toHaveLength(1);
    expect(existsSync(at("ran"))).toBe(false);
    workspace.put("go", "");
    await said;
    expect(readdirSync(workspace.root).filter((name) => name !== ".git")).toEqual(["a.txt", "evil", "go", "ready"]);
    expect(readdirSync(at(".git")).filter((name) => /common|worktree/.test(name))).toEqual([]);
  });

  test("does not steer git in other worktrees of the repository", async () => {
    const main = createRepository();
    const elsewhere = createTemporaryWorkspace();
    git(main.root, "worktree", "add", "-q", join(elsewhere.root, "tree"));
    const own = join(main.root, ".git/worktrees/tree");
    const attack = `mkdir -p ${main.root}/evil; echo ${main.root}/evil > ${own}/commondir; mv ${own} ${own}-gone; echo x > ${own}/config.worktree`;
    await createTestSandbox(main).shell(attack);
    expect(readFileSync(join(own, "commondir"), "utf8")).toBe("../..\n");
    const inside = { ...elsewhere, root: join(elsewhere.root, "tree") };
    await createTestSandbox(inside).shell(attack);
    expect(readFileSync(join(own, "commondir"), "utf8")).toBe("../..\n");
    expect(readdirSync(own)).not.toContain("config.worktree");
  });

  test("cannot change a protected file behind a symlink, nor the symlink", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("config/vscode/settings.json", "{}");
    symlinkSync("config/vscode", join(workspace.root, ".vscode"));
    const sandbox = createTestSandbox(workspace);
    await sandbox.shell("echo x > .vscode/settings.json; rm .vscode; mkdir .vscode; mv config c");
    expect(lstatSync(join(workspace.root, ".vscode")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(workspace.root, "config/vscode/settings.json"), "utf8")).toBe("{}");
  });

  test("two at the same time do not take the placeholders from each other", async () => {
    const workspace = createTemporaryWorkspace();
    const sandbox = createTestSandbox(workspace);
    await sandbox.shell(":");
    const long = sandbox.shell("until [ -e go ]; do :; done; mkdir -p .vscode/x; echo x > .harness/y");
    await sandbox.shell("until [ -d .vscode ]; do :; done");
    await sandbox.shell("touch go");
    await long;
    expect(readdirSync(workspace.root)).toEqual(["go"]);
  });

  test("works with git, but not on its hooks and configuration", async () => {
    const workspace = createRepository();
    const sandbox = createTestSandbox(workspace);
    const said = await sandbox.shell(
      "git config user.name b; git status --short; git -c user.name=a -c user.email=a@example.com commit --allow-empty -qm second && git log --oneline | wc -l",
    );
    expect(said).toContain("could not");
    expect(said.trim().endsWith("2")).toBe(true);
    expect(said).not.toContain("??");
  });

  test("works in a linked worktree, and a link alone opens nothing", async () => {
    const main = createRepository();
    const linked = createTemporaryWorkspace();
    git(main.root, "worktree", "add", "-q", join(linked.root, "tree"));
    const tree = { ...linked, root: join(linked.root, "tree") };
    const commit =
      "git -c user.name=a -c user.email=a@example.com commit --allow-empty -qm second && git log --oneline | wc -l";
    const ports = { ...linked.ports };
    expect(
      (
        await createTestSandbox({ ...tree, ports }).shell(`${commit}; echo x > ${main.root}/.git/hooks/pre-commit`)
      ).trim(),
    ).toMatch(/^2\n.*/);
    expect(existsSync(join(main.root, ".git/hooks/pre-commit"))).toBe(false);
    expect(readFileSync(join(tree.root, ".git"), "utf8")).toContain("gitdir: ");
    // A project that claims somebody else's repository for its own.
    const thief = createTemporaryWorkspace();
    thief.put(".git", `gitdir: ${join(main.root, ".git")}\n`);
    await createTestSandbox(thief).shell(`echo x > ${main.root}/.git/stolen`);
    expect(existsSync(join(main.root, ".git/stolen"))).toBe(false);
  });

  test("may begin a repository, without hooks and settings that run something", async () => {
    const workspace = createTemporaryWorkspace();
    const sandbox = createTestSandbox(workspace);
    const said = await sandbox.shell(
      "git init -q -b main && git config core.fsmonitor /tmp/x && git config user.name b && echo x > .git/hooks/pre-commit",
    );
    expect(said).toContain("the hook pre-commit does not run");
    expect(said).toContain("settings that can run programs");
    const config = readFileSync(join(workspace.root, ".git/config"), "utf8");
    expect(config).toContain("name = b");
    expect(config).not.toContain("fsmonitor");
    expect(git(workspace.root, "status", "--short")).toBe("");
  });

  test("may begin one further down as well, and use it, without what runs something", async () => {
    const workspace = createRepository();
    workspace.put("lib/a.txt", "a\n");
    const sandbox = createTestSandbox(workspace);
    await sandbox.shell(":");
    const said = await sandbox.shell(
      `git init -q -b main lib/deep && git -C lib/deep config core.fsmonitor "touch $PWD/ran" && echo x > lib/deep/.git/hooks/pre-commit
       mkdir -p hidden other && mv lib/deep/.git other/git && echo 'gitdir: ../../other/git' > lib/deep/.git && touch -d '2001-01-01' lib lib/deep .`,
    );
    expect(said).toContain("the hook pre-commit does not run");
    expect(readFileSync(join(workspace.root, "other/git/config"), "utf8")).not.toContain("fsmonitor");
    const later = await sandbox.shell(
      "git -C lib/deep config user.name b; git -C lib/deep config alias.x '!touch ran'; git worktree add -q tree; git -C tree status -s",
    );
    expect(later).toContain("settings that can run programs");
    expect(git(join(workspace.root, "lib/deep"), "config", "--local", "user.name")).toBe("b\n");
    expect(git(join(workspace.root, "tree"), "log", "--oneline").trim().split("\n")).toHaveLength(1);
    expect(await sandbox.shell("git worktree remove tree && echo gone")).toContain("gone");
  });

  test("is asked to end before it is made to", async () => {
    const sandbox = createTestSandbox(createTemporaryWorkspace());
    const stop = new AbortController();
    let said = "";
    const args = ["-c", "trap 'echo bye; exit' TERM; echo on; while :; do sleep 0.05; done"];
    const onOutput = (_stream: string, chunk: Buffer): void => {
      said += chunk.toString("utf8");
      stop.abort();
    };
    const exit = await sandbox.processes.run(
      { file: "bash", args, confinement: "workspace", timeoutMs: 20_000, onOutput },
      stop.signal,
    );
    expect(exit.ended).toBe("cancelled");
    expect(said).toContain("bye");
  });

  test("is steered by its own variables, and nothing outside is", async () => {
    const workspace = createTemporaryWorkspace();
    const sandbox = createTestSandbox(workspace);
    workspace.put("early.sh", "echo early $(ulimit -c)\n");
    const run = async (env: Record<string, string>) => {
      let said = "";
      const onOutput = (_stream: string, chunk: Buffer): void => {
        said += chunk.toString("utf8");
      };
      const args = ["-c", 'echo "$LD_LIBRARY_PATH" "$PLAIN" "$1"', "bash", "a b"];
      const exit = await sandbox.processes.run(
        { file: "bash", args, env, confinement: "workspace", timeoutMs: 20_000, onOutput },
        NEVER,
      );
      return { code: exit.code, said };
    };
    // The linker of whoever has it writes there; only programs outside can.
    const LD_DEBUG_OUTPUT = join(workspace.outside, "trace");
    await run({ LD_DEBUG: "libs", LD_DEBUG_OUTPUT });
    expect(readdirSync(workspace.outside)).not.toContainEqual(expect.stringContaining("trace"));
    expect(await run({ BASH_ENV: join(workspace.root, "early.sh"), LD_LIBRARY_PATH: "/x y", PLAIN: "plain" })).toEqual({
      code: 0,
      said: "early 0\n/x y plain a b\n",
    });
    const faked = await run({ "BASH_FUNC_ulimit%%": "() { :; }" });
    expect(faked.code).not.toBe(0);
    expect(faked.said).not.toContain("a b");
  });

  test("has its input, its exit code, its complaints and its descriptors to itself", async () => {
    const sandbox = createTestSandbox(createTemporaryWorkspace());
    const run = async (file: string, args: string[], stdin?: string) => {
      let said = "";
      const onOutput = (_stream: string, chunk: Buffer): void => {
        said += chunk.toString("utf8");
      };
      const spec = {
        file,
        args,
        confinement: "workspace" as const,
        timeoutMs: 20_000,
        onOutput,
        ...(stdin !== undefined && { stdin }),
      };
      return { code: (await sandbox.processes.run(spec, NEVER)).code, said };
    };
    const four = "cat; exec 4>four; echo five >&4; cat four; exit 7";
    for (const shell of ["bash", "sh"]) {
      expect(await run(shell, ["-c", four], "given ")).toEqual({ code: 7, said: "given five\n" });
      const closed = await run(shell, ["-c", "echo x >&4 || exit 3"]);
      expect(closed).toMatchObject({ said: expect.stringMatching(/4: Bad file descriptor/) });
    }
    expect(await run("cat", [], "given")).toEqual({ code: 0, said: "given" });
    expect(await run("bash", ["-c", "if then"])).toMatchObject({
      code: 2,
      said: expect.stringContaining("syntax error"),
    });
  });

  test("waits and has its limits whatever it is called, and a shell reads its options itself", async () => {
    const workspace = createTemporaryWorkspace();
    const sandbox = createTestSandbox(workspace);
    const program = '#!/bin/bash\necho "$# $1 $2" $(ulimit -n); { echo >&4; } 2>&1\n';
    for (const name of ["bash", "sh"]) chmodSync(workspace.put(name, program), 0o755);
    const run = async (file: string, args: string[]) => {
      let said = "";
      const onOutput = (_stream: string, chunk: Buffer): void => {
        said += chunk.toString("utf8");
      };
      const exit = await sandbox.processes.run(
        { file, args, confinement: "workspace", timeoutMs: 20_000, onOutput },
        NEVER,
      );
      return { code: exit.code, said };
    };
    for (const name of ["./bash", "./sh"]) {
      expect(await run(name, ["-c", "x"])).toMatchObject({
        said: expect.stringMatching(/^2 -c x 16384\n.*4: Bad file descriptor/),
      });
    }
    expect(await run("bash", ["-c", "-e", "false; echo not"])).toEqual({ code: 1, said: "" });
    expect(await run("sh", ["-c", "+e", 'echo "$0" $(ulimit -n)', "name"])).toEqual({ code: 0, said: "name 16384\n" });
  });

  test("does not run when there is no place for what the sandbox says", async () => {
    const workspace = createTemporaryWorkspace();
    const sandbox = createTestSandbox(workspace);
    await sandbox.shell(":");
    vi.stubEnv("TMPDIR", join(workspace.outside, "nowhere"));
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(sandbox.shell("touch ran")).rejects.toMatchObject({
      reason: "SpawnFailed",
      message: expect.stringMatching(/no file could be made for the state of the sandbox: .*; the command did not run/),
    });
    expect(readdirSync(workspace.root)).toEqual([]);
  });

  test("that cannot be set up is an error and did not run", async () => {
    const workspace = createTemporaryWorkspace();
    const sandbox = createTestSandbox(workspace);
    await sandbox.shell(":");
    const file = join(workspace.outside, "not-a-directory");
    writeFileSync(file, "");
    const broken = createTestSandbox(workspace, {
      probe: async () => {
        const found = await sandbox.probe();
        if (!found.available) return found;
        const wrap: typeof found.sandbox.wrap = (command, policy) =>
          found.sandbox.wrap(command, { ...policy, scratch: [{ path: "/tmp", from: join(file, "x") }] });
        return { ...found, sandbox: { ...found.sandbox, wrap } };
      },
    });
    await expect(broken.shell("touch ran")).rejects.toMatchObject({
      reason: "SandboxUnavailable",
      message: expect.stringContaining("so Harness refused it (built-in: sandbox)"),
    });
    expect(readdirSync(workspace.root)).toEqual([]);
  });

  test("refuses a workspace that it would have to hide, or that is everything", async () => {
    const workspace = createTemporaryWorkspace();
    mkdirSync(join(workspace.root, "sub"));
    const inside = createTestSandbox(workspace, { mode: "required", ownPaths: [workspace.root] });
    await expect(inside.shell(":")).rejects.toMatchObject({ reason: "SandboxUnavailable" });
    const everything = createTestSandbox({ ...workspace, root: "/" }, { mode: "required" });
    await expect(everything.shell(":")).rejects.toThrow("the workspace is the whole file system");
  });

  test("reaches the listed host through the proxy and nothing else", async () => {
    const sandbox = createTestSandbox(createTemporaryWorkspace(), { allowedDomains: ["allowed.test"] });
    const said = await sandbox.shell("curl -sS -m 5 https://other.test/; echo $HTTPS_PROXY");
    expect(said).toContain("403");
    expect(said).toContain("http://127.0.0.1:3128");
    expect(sandbox.connections).toMatchObject([{ host: "other.test", port: 443, state: "refused" }]);
  });
});

/** Another command swaps a folder in the moment in which bubblewrap looks at it: as if it had been given where the link leads. */
function followed(workspace: TemporaryWorkspace, from: string, to: string): TestSandboxOptions {
  const { processes } = workspace.ports;
  const swapped = (input: Uint8Array): Buffer => {
    const words = Buffer.from(input).toString("latin1").split("\0");
    const kind = /^--(?:(?:ro-)?bind|tmpfs)$/;
    const at = words.findIndex((word, index) => kind.test(words[index - 1] ?? "") && word === from);
    if (at >= 0) words[at] = to;
    return Buffer.from(words.join("\0"), "latin1");
  };
  const run: typeof processes.run = (spec, signal) => {
    const [mounts, ...others] = spec.inputs ?? [];
    return processes.run(mounts === undefined ? spec : { ...spec, inputs: [swapped(mounts), ...others] }, signal);
  };
  return { session: { processes: { run } } };
}

describe.runIf(hasSandbox)("a link that bubblewrap followed", () => {
  test("leads no command out of the workspace: it does not begin", async () => {
    for (const name of ["with space/sub", "with space/sub/.git", "with space/sub/.git/config"]) {
      const workspace = createTemporaryWorkspace();
      const there = join(workspace.outside, "mine");
      for (const folder of [there, join(workspace.root, "with space/sub")]) {
        mkdirSync(folder, { recursive: true });
        git(folder, "init", "-q");
      }
      const to = join(there, name.slice("with space/sub".length));
      const sandbox = createTestSandbox(workspace, followed(workspace, join(workspace.root, name), to));
      await expect(sandbox.shell("echo got > 'with space/sub/out'; touch ran")).rejects.toMatchObject({
        reason: "SandboxUnavailable",
        message: expect.stringContaining("was replaced while the sandbox was being set up"),
      });
      expect(readdirSync(there)).toEqual([".git"]);
      expect(existsSync(join(workspace.root, "ran"))).toBe(false);
    }
  });
});

describe.runIf(hasSandbox)("a name that was held elsewhere", () => {
  test("is no protection: the command does not begin", async () => {
    const workspace = createRepository();
    mkdirSync(join(workspace.root, "elsewhere"));
    const options = followed(workspace, join(workspace.root, ".vscode"), join(workspace.root, "elsewhere"));
    await expect(createTestSandbox(workspace, options).shell("touch ran")).rejects.toMatchObject({
      reason: "SandboxUnavailable",
      message: expect.stringContaining(".vscode was replaced while the sandbox was being set up"),
    });
    expect(existsSync(join(workspace.root, "ran"))).toBe(false);
  });
});

describe.runIf(hasSandbox)("memory", () => {
  test("has a limit for a command that nobody was asked about, and none for an allowed one", async () => {
    const sandbox = createTestSandbox(createTemporaryWorkspace());
    expect(await sandbox.shell("ulimit -d")).toBe("unlimited\n");
    expect(await sandbox.shell("ulimit -d", { confinement: "reader" })).toBe(`${1024 ** 2}\n`);
  });
});

describe.runIf(hasSandbox)("the git folder of a submodule that a command put there", () => {
  const plant = `mkdir -p $at/hooks; cp .git/HEAD $at; touch $at/hooks/post-checkout; printf '[core]\\n\\tfsmonitor = ./evil\\n' > $at/config`;

  test.each([
    ["of the workspace", `at=.git/modules/x; ${plant}`, ".git/modules/x"],
    [
      "behind many",
      `for i in $(seq 100); do mkdir -p .git/modules/a$i; cp .git/HEAD .git/modules/a$i; done; at=.git/modules/z; ${plant}`,
      ".git/modules/z",
    ],
    ["of a repository that it began", `git init -q n; at=n/.git/modules/a/b; ${plant}`, "n/.git/modules/a/b"],
  ])("runs nothing afterwards: %s", async (_, attack, at) => {
    const workspace = createRepository();
    await createTestSandbox(workspace).shell(attack);
    const folder = join(workspace.root, at);
    expect(existsSync(join(folder, "HEAD"))).toBe(true);
    expect(existsSync(join(folder, "hooks/post-checkout"))).toBe(false);
    expect(readFileSync(join(folder, "config"), "utf8")).not.toContain("fsmonitor");
  });
});
