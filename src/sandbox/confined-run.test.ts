import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createSystemClock } from "#world";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { createTestSandbox, hasSandbox, type TestSandboxOptions } from "../../test/fakes/test-sandbox.ts";
import { createSandboxes } from "./command-sandbox.ts";

const NEVER = new AbortController().signal;
const READER = { confinement: "reader" } as const;

function git(folder: string, ...args: string[]): string {
  const fixed = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
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

/** A home of its own beside the workspace, with what people have in theirs. */
function withHome(workspace: TemporaryWorkspace, files: Readonly<Record<string, string>>): TestSandboxOptions {
  const home = join(workspace.outside, "home");
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), content);
  }
  return { env: { ...process.env, HOME: home, XDG_CACHE_HOME: join(workspace.outside, "caches") } };
}

async function exitOf(sandbox: ReturnType<typeof createTestSandbox>, script: string, timeoutMs = 20_000) {
  let printed = 0;
  const onOutput = (_stream: string, chunk: Buffer): void => {
    printed += chunk.length;
  };
  const spec = { file: "bash", args: ["-c", script], timeoutMs, onOutput, ...READER };
  return { ...(await sandbox.processes.run(spec, NEVER)), printed };
}

describe.runIf(hasSandbox)("a command that nobody was asked about", () => {
  test("changes nothing: workspace, steering files, home, machine", async () => {
    const workspace = createRepository();
    const sandbox = createTestSandbox(workspace, withHome(workspace, { "x.txt": "x" }));
    await sandbox.shell(
      `echo x > new; echo x > a.txt; rm -rf .git; mkdir d; ln -s a.txt l; chmod 777 a.txt; touch -d 2001-01-01 a.txt
       echo x > ~/new; git commit --allow-empty -m x; echo x > /etc/new; echo x > /usr/new; kill -9 ${process.pid}`,
      READER,
    );
    expect(readdirSync(workspace.root).toSorted()).toEqual([".git", "a.txt"]);
    expect(readFileSync(join(workspace.root, "a.txt"), "utf8")).toBe("a\n");
    expect(statSync(join(workspace.root, "a.txt")).mtimeMs).toBeGreaterThan(Date.UTC(2020, 0));
    expect(git(workspace.root, "status", "--short")).toBe("");
    expect(readdirSync(join(workspace.outside, "home"))).toEqual(["x.txt"]);
  });

  test("reads the workspace as it is, git included, from where it was told to begin", async () => {
    const workspace = createRepository();
    workspace.put("src/b.txt", "b\n");
    const sandbox = createTestSandbox(workspace, withHome(workspace, { ".gitconfig": "[user]\n\tname = Ann\n" }));
    expect(
      await sandbox.shell("cat a.txt; git status --short; git log --format=%s; git config user.name", READER),
    ).toBe("a\n?? src/\nfirst\nAnn\n");
    let said = "";
    const onOutput = (_stream: string, chunk: Buffer): void => {
      said += chunk.toString("utf8");
    };
    await sandbox.processes.run(
      { file: "cat", args: ["b.txt"], cwd: "src", timeoutMs: 20_000, onOutput, ...READER },
      NEVER,
    );
    expect(said).toBe("b\n");
  });

  test("sees no secret file of the repository that the workspace is a part of", async () => {
    const repository = createRepository();
    for (const path of [".env", "services/pay/.env", "keys/server.pem", "packages/app/.env"])
      repository.put(path, "TOKEN=hidden\n");
    repository.put("README.md", "shown\n");
    const root = join(repository.root, "packages/app");
    const sandbox = createTestSandbox({ ...repository, root }, withHome(repository, {}));
    const script = `cat ../../README.md; cat ../../.env ../../services/pay/.env ../../keys/server.pem .env; git log --format=%s`;
    expect(await sandbox.shell(script, READER)).toBe("shown\nfirst\n");
    repository.put("services/later/.env", "TOKEN=hidden\n");
    expect(await sandbox.shell("cat ../../services/later/.env; echo seen", READER)).toBe("seen\n");
    expect(readFileSync(join(repository.root, ".env"), "utf8")).toBe("TOKEN=hidden\n");
  });

  test("sees no secret file, no home of the person and no other part of the machine", async () => {
    const workspace = createTemporaryWorkspace();
    for (const name of [".env", "deploy/key.pem", "deploy/.env.production", ".ssh/id_rsa"])
      workspace.put(name, "SECRET\n");
    writeFileSync(join(workspace.outside, "beside.txt"), "SECRET\n");
    const home = {
      ".aws/credentials": "SECRET",
      ".config/gh/hosts.yml": "SECRET",
      ".netrc": "SECRET",
      "notes.txt": "SECRET",
    };
    const sandbox = createTestSandbox(workspace, withHome(workspace, home));
    const said = await sandbox.shell(
      "cat .env deploy/* deploy/.env* .ssh/id_rsa ../beside.txt ~/.aws/* ~/.netrc ~/notes.txt ~/.config/gh/*; ls -A ~; ls /var /run /home /srv /mnt; cat /etc/shadow",
      READER,
    );
    expect(said).not.toContain("SECRET");
    expect(said).not.toMatch(/root:[*!$]/);
    expect((await sandbox.shell("ls /", READER)).split("\n")).not.toContain("home");
    // A secret file that comes later is masked too.
    workspace.put("later/.env", "SECRET\n");
    expect(await sandbox.shell("cat later/.env", READER)).toBe("");
    // Whoever was allowed reads what the workspace holds.
    expect(await sandbox.shell("cat later/.env")).toBe("SECRET\n");
  });

  test("reaches no socket, no pipe and no network", async () => {
    const workspace = createTemporaryWorkspace();
    const heard: string[] = [];
    const inWorkspace = createServer((one) => void one.on("data", (data) => heard.push(String(data))).end("answer"));
    inWorkspace.listen(join(workspace.root, "s.sock"));
    const onLoopback = createServer((one) => one.end("answer")).listen(0, "127.0.0.1");
    await new Promise((resolve) => onLoopback.once("listening", resolve));
    onTestFinished(() => {
      inWorkspace.close();
      onLoopback.close();
    });
    execFileSync("mkfifo", [join(workspace.root, "pipe")]);
    const { port } = onLoopback.address() as { port: number };
    const sandbox = createTestSandbox(workspace);
    const said = await sandbox.shell(
      `curl -sS -m 2 --unix-socket s.sock http://x/ 2>&1; curl -sS -m 2 http://127.0.0.1:${port}/ 2>&1
       timeout 2 bash -c 'echo x > pipe'; timeout 2 cat pipe; ls -l pipe; exec 3<>/dev/tcp/127.0.0.1/${port}`,
      READER,
    );
    expect(said).not.toContain("answer");
    expect(said).not.toMatch(/^p/m);
    expect(heard).toEqual([]);
  });

  test("is held to its time, output, memory and number of processes, and is told the way out", async () => {
    const sandbox = createTestSandbox(createTemporaryWorkspace(), { session: { readerTimeoutMs: 500 } });
    const late = await exitOf(sandbox, "sleep 30");
    expect(late).toMatchObject({ ended: "timeout", note: expect.stringContaining("call exec with ask: true") });
    expect(late.durationMs).toBeLessThan(5_000);
    const generous = createTestSandbox(createTemporaryWorkspace());
    const loud = await exitOf(generous, "yes");
    expect(loud).toMatchObject({ ended: "output", printed: 1024 ** 2, note: expect.any(String) });
    expect(await exitOf(generous, "exit 3")).toMatchObject({ ended: "exit", code: 3, note: expect.any(String) });
    expect((await exitOf(generous, "true")).note).toBeUndefined();
    const said = await generous.shell(
      "ulimit -d; ulimit -u; head -c 80000000 /dev/zero > /tmp/x; stat -c %s /tmp/x",
      READER,
    );
    expect(said).toMatch(/^1048576\n256\n/);
    expect(said).toMatch(/\n67108864\n$/);
  });

  test.runIf(userInfo().uid === 0)("is held to its number of processes also as root", async () => {
    const sandbox = createTestSandbox(createTemporaryWorkspace());
    const count = "for i in $(seq 400); do sleep 3 & done 2>/dev/null; jobs -r | wc -l; kill $(jobs -p)";
    expect(Number((await sandbox.shell(`timeout 2 bash -c '${count}' | head -1`, READER)) || 0)).toBeLessThan(256);
  });

  test("runs beside those of other sessions of the same program", async () => {
    const said = Array.from({ length: 6 }, async () => {
      const sandbox = createTestSandbox(createTemporaryWorkspace());
      return [await sandbox.shell("echo a", READER), await sandbox.shell("echo b", READER)].join("");
    });
    expect(await Promise.all(said)).toEqual(said.map(() => "a\nb\n"));
  });

  test("makes no keyring call, no io_uring, no user namespace and puts nothing into a terminal", async () => {
    const sandbox = createTestSandbox(createTemporaryWorkspace());
    const said = await sandbox.shell(
      `python3 - <<'E'
import ctypes, socket
libc = ctypes.CDLL(None, use_errno=True)
for name, number in (("keyctl", 250), ("io_uring_setup", 425), ("bpf", 321), ("userfaultfd", 323)):
    print(name, libc.syscall(number, 0, 0, 0, 0, 0))
print("unshare", libc.unshare(0x10000000))
for family in (1, 17, 38, 40):
    try: socket.socket(family, socket.SOCK_DGRAM); print("family", family)
    except OSError as e: print("refused")
try: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); print("pair")
except OSError: print("refused")
E`,
      READER,
    );
    if (process.arch !== "x64" || said === "") return;
    expect(said).toBe(
      `${["keyctl", "io_uring_setup", "bpf", "userfaultfd", "unshare"].map((name) => `${name} -1\n`).join("")}${"refused\n".repeat(5)}`,
    );
  });
});

describe.runIf(hasSandbox)("the contents of a repository", () => {
  const hostile: readonly (readonly [string, (workspace: TemporaryWorkspace) => void])[] = [
    ["core.hooksPath that does not exist", ({ root }) => void git(root, "config", "core.hooksPath", "no/such/folder")],
    [
      "a planted folder of a submodule",
      ({ put }) => void put(".git/modules/e/config", "[core]\n\thooksPath = ../../x\n"),
    ],
    [
      "a submodule folder that is a link",
      ({ root, put }) => {
        put(".git/modules/HEAD", "x");
        execFileSync("ln", ["-s", "/etc", join(root, ".git/modules/e")]);
      },
    ],
    ["an include of a missing file", ({ root }) => void git(root, "config", "include.path", "../a/b/c")],
    ["a worktree that leads nowhere", ({ put }) => void put(".git/worktrees/w/gitdir", "/nowhere/.git\n")],
  ];
  test.each(hostile)("do not switch the sandbox off: %s", async (_name, plant) => {
    const workspace = createRepository();
    plant(workspace);
    const sandbox = createTestSandbox(workspace);
    const beside = join(workspace.outside, "ran");
    for (const confinement of ["reader", "workspace"] as const) {
      // Refused or confined, never outside.
      await sandbox.shell(`touch ${beside}; cat ~/.bashrc`, { confinement }).catch((error: unknown) => {
        expect(error).toMatchObject({ reason: "SandboxUnavailable" });
      });
      expect(existsSync(beside)).toBe(false);
    }
    expect((await sandbox.probe()).available).toBe(true);
  });

  test("of one session do not decide about another, nor does its folder", async () => {
    const sandboxes = createSandboxes({
      env: process.env,
      ownPaths: [],
      clock: createSystemClock(),
      isSecret: () => false,
    });
    const first = createRepository();
    git(first.root, "config", "core.hooksPath", "no/such/folder");
    const open = (root: string, { ports }: TemporaryWorkspace) => {
      const sandbox = sandboxes.open({ mode: "auto", root, processes: ports.processes });
      onTestFinished(() => sandbox.close());
      return sandbox;
    };
    await open("/", first).status();
    expect((await open(first.root, first).status()).active).toBe(true);
    const second = createTemporaryWorkspace();
    expect((await open(second.root, second).status()).active).toBe(true);
  });
});

describe.runIf(hasSandbox)("a command that was allowed", () => {
  test("has a home of its own that lasts for the session, with toolchains and without logins", async () => {
    const workspace = createTemporaryWorkspace();
    const options = withHome(workspace, {
      ".bashrc": "SECRET",
      ".docker/config.json": "SECRET",
      ".cargo/bin/tool": "#!/bin/sh\necho tool\n",
      ".cargo/credentials.toml": "SECRET",
      ".gitconfig": '[user]\n\tname = "Ann"\n\temail = ann@example.com\n[credential]\n\thelper = !cat SECRET\n',
      ".npmrc": "registry=https://registry.example.com/\n//registry.example.com/:_authToken=SECRET\n",
    });
    execFileSync("chmod", ["+x", join(workspace.outside, "home/.cargo/bin/tool")]);
    const sandbox = createTestSandbox(workspace, options);
    const said = await sandbox.shell(
      "echo kept > ~/mine; cat ~/.bashrc ~/.docker/* ~/.cargo/cred*; cat ~/.gitconfig ~/.npmrc; ~/.cargo/bin/tool",
    );
    expect(said).not.toContain("SECRET");
    expect(said).toContain("ann@example.com");
    expect(said).toContain("registry=https://registry.example.com/\n");
    expect(said).toContain("tool\n");
    expect(await sandbox.shell("cat ~/mine; echo x > ~/.cargo/bin/tool; echo x > ~/.cache/cached")).toContain("kept\n");
    const home = join(workspace.outside, "home");
    expect(existsSync(join(home, "mine"))).toBe(false);
    expect(readFileSync(join(home, ".cargo/bin/tool"), "utf8")).toContain("echo tool");
    // A cache stays for the next session in the same workspace.
    await sandbox.close();
    expect(await createTestSandbox(workspace, options).shell("cat ~/.cache/cached; cat ~/mine")).toMatch(
      /^x\n.*No such file/s,
    );
  });

  test("cannot lead the mounts of the next command out of its home or its /tmp", async () => {
    const workspace = createTemporaryWorkspace();
    const options = withHome(workspace, { ".cargo/bin/tool": "", ".local/share/mise/x": "", ".pyenv/shims/pip": "" });
    const victim = join(workspace.outside, "victim");
    mkdirSync(victim);
    const sandbox = createTestSandbox(workspace, options);
    // Where bubblewrap has the machine while it mounts.
    const planted = `/oldroot${victim}`;
    const above = workspace.outside.split("/").slice(0, 3).join("/");
    const places = ["~/.cargo", "~/.local", "~/.local/share", "~/.pyenv", "~/.cache", "~/.m2", above];
    const script = places.map(
      (place, at) => `mv ${place} /tmp/moved-${at}; rm -rf ${place}; ln -sfn ${planted} ${place}`,
    );
    await sandbox.shell(script.join("; "));
    expect(
      await sandbox.shell("pwd; ls -d ~/.cargo/bin/tool ~/.local/share/mise/x; test -L ~/.cargo || echo straight"),
    ).toBe(
      `${workspace.root}\n${["home/.cargo/bin/tool", "home/.local/share/mise/x"].map((name) => `${join(workspace.outside, name)}\n`).join("")}straight\n`,
    );
    expect(readdirSync(victim)).toEqual([]);
  });

  test("sees no socket of the home or of /var, with and without a list of hosts", async () => {
    const workspace = createTemporaryWorkspace();
    const options = withHome(workspace, { ".docker/run/x": "" });
    const places = [
      join(workspace.outside, "home/.docker/run/docker.sock"),
      join("/var/tmp", `harness-${process.pid}.sock`),
    ];
    const servers = places.map((place) => createServer((one) => one.end("answer")).listen(place));
    onTestFinished(() => {
      for (const server of servers) server.close();
      for (const place of places) rmSync(place, { force: true });
    });
    for (const allowedDomains of [undefined, ["example.com"], []]) {
      const sandbox = createTestSandbox(workspace, { ...options, ...(allowedDomains && { allowedDomains }) });
      const script = places.map((place) => `curl -sS -m 2 --http0.9 --unix-socket ${place} http://x/ 2>&1`).join("; ");
      expect(await sandbox.shell(script)).not.toContain("answer");
    }
  });

  test("changes steering files of git only where a person agreed to this very call", async () => {
    const workspace = createRepository();
    const sandbox = createTestSandbox(workspace);
    const run = (mayChangeSteering: boolean) =>
      sandbox.processes.run(
        {
          file: "git",
          args: ["remote", "add", "up", "https://example.com/x.git"],
          timeoutMs: 20_000,
          confinement: "workspace",
          ...(mayChangeSteering && { mayChangeSteering: true }),
        },
        NEVER,
      );
    expect((await run(false)).code).not.toBe(0);
    expect(git(workspace.root, "remote")).toBe("");
    expect((await run(true)).code).toBe(0);
    expect(git(workspace.root, "remote")).toBe("up\n");
  });

  test("does not start a program that a rule denies, whatever leads to it", async () => {
    const sandbox = createTestSandbox(createTemporaryWorkspace(), {
      session: { deniedPrograms: () => ["curl", "no-such"] },
    });
    const said = await sandbox.shell(
      "curl --version; xargs -I{} {} --version <<< curl; bash <(echo curl --version); $(echo /usr/bin/curl) --version; env curl --version",
    );
    expect(said).toContain("Permission denied");
    expect(said).not.toContain("libcurl");
  });

  test.runIf(existsSync("/usr/bin/perl"))("nor under another name of the same file", async () => {
    const sandbox = createTestSandbox(createTemporaryWorkspace(), { session: { deniedPrograms: () => ["perl"] } });
    const said = await sandbox.shell(
      "for p in $(find /usr/bin -samefile /usr/bin/perl) /usr/bin/perl5.*[0-9]; do $p -v; done",
    );
    expect(said).not.toContain("Larry Wall");
  });

  test("leaves a repository below, a linked worktree and one that borrows objects usable", async () => {
    const main = createRepository();
    const shared = createTemporaryWorkspace();
    git(shared.root, "clone", "-q", "--shared", main.root, "copy");
    const copy = { ...shared, root: join(shared.root, "copy") };
    expect(await createTestSandbox(copy).shell("git log --format=%s", READER)).toBe("first\n");
    main.put("sub/b.txt", "b\n");
    const below = { ...main, root: realpathSync(join(main.root, "sub")) };
    expect(await createTestSandbox(below).shell("git status --short .", READER)).toBe("?? ./\n");
  });

  test("a server of one command is reached by the next", async () => {
    const sandbox = createTestSandbox(createTemporaryWorkspace());
    const stop = new AbortController();
    const server = sandbox.shell(
      'python3 -c \'import http.server as h; s = h.HTTPServer(("127.0.0.1", 8123), h.SimpleHTTPRequestHandler); print("on", flush=True); s.serve_forever()\' > log',
      { signal: stop.signal },
    );
    const said = await sandbox.shell(
      "for i in $(seq 100); do curl -sS -m 2 http://127.0.0.1:8123/log && break; sleep 0.1; done 2>&1",
    );
    expect(said).toContain("on\n");
    stop.abort();
    await server;
  });
});

describe.runIf(hasSandbox)("folders of the session that would lie in the workspace", () => {
  const attack = (above: string, name: string, target: string): string =>
    `for at in ${above}; do mv $at/${name} $at/gone; ln -s ${target} $at/${name}; done; true`;

  test("a workspace that holds the folder for temporary files is refused", async () => {
    const workspace = createTemporaryWorkspace();
    mkdirSync(join(workspace.root, "tmp"));
    const target = join(workspace.outside, "target");
    mkdirSync(target);
    vi.stubEnv("TMPDIR", join(workspace.root, "tmp"));
    onTestFinished(() => void vi.unstubAllEnvs());
    const sandbox = createTestSandbox(workspace);
    for (const confinement of ["workspace", "reader"] as const) {
      const run = sandbox.shell(attack("tmp/harness-sandbox-*", "home", target), { confinement });
      await expect(run).rejects.toMatchObject({
        reason: "SandboxUnavailable",
        message: expect.stringContaining("set TMPDIR to a folder outside"),
      });
    }
  });

  test("a cache in the workspace is not mounted", async () => {
    const workspace = createTemporaryWorkspace();
    const target = join(workspace.outside, "target");
    mkdirSync(target);
    const env = { ...process.env, XDG_CACHE_HOME: join(workspace.root, "cache") };
    await createTestSandbox(workspace, { env }).shell(attack("cache/harness/workspaces/*", "general", target));
    await createTestSandbox(workspace, { env }).shell("echo got > ~/.cache/out");
    expect(readdirSync(target)).toEqual([]);
  });
});

describe.runIf(hasSandbox)("object stores that a repository borrows", () => {
  const SHOW_ALL = "git cat-file --batch-all-objects --batch; git fsck 2>&1";

  test.each([
    ["in the repository of the workspace", (store: string) => `echo ${store} > .git/objects/info/alternates`, true],
    [
      "over one that was there",
      (store: string) => `cd .git/objects; mv info i; mkdir info; echo ${store} > info/alternates`,
      true,
    ],
    [
      "in one that a command began",
      (store: string) => `git init -q; echo ${store} > .git/objects/info/alternates`,
      false,
    ],
    [
      "behind a link",
      (store: string) => `git init -q; ln -s ${dirname(store)} l; echo $PWD/l/objects > .git/objects/info/alternates`,
      false,
    ],
  ] as const)("are not named by a command: %s", async (where, attack, hasRepository) => {
    const workspace = hasRepository ? createRepository() : createTemporaryWorkspace();
    const mine = join(workspace.outside, "mine");
    mkdirSync(mine);
    git(mine, "init", "-q");
    writeFileSync(join(mine, "a"), "the secret of another repository\n");
    git(mine, "add", ".");
    if (where.startsWith("over")) {
      const borrowed = join(workspace.outside, "borrowed");
      git(workspace.outside, "clone", "-q", "--bare", workspace.root, borrowed);
      writeFileSync(join(workspace.root, ".git/objects/info/alternates"), `${borrowed}/objects\n`);
    }
    const first = createTestSandbox(workspace);
    await first.shell(attack(join(mine, ".git/objects")));
    await first.close();
    for (const confinement of ["reader", "workspace"] as const) {
      const second = createTestSandbox(workspace);
      expect(await second.shell(SHOW_ALL, { confinement })).not.toContain("the secret");
      await second.close();
    }
    expect(git(workspace.root, "status", "--short")).not.toContain("fatal");
  });
});
