/** Who may do what, in the whole program: rules, the quiet preset, questions, plan mode, and what names lead to. */

import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defined } from "#base";
import { calls, createHarnessRig, says } from "./fakes/harness-rig.ts";

describe("permissions", () => {
  const write = ["fs_write", { path: "new.txt", content: "x" }] as const;

  test("without anybody to ask, a call that needs an answer is denied at once and the model is told how to allow it", async () => {
    const rig = await createHarnessRig([calls(write), says("I could not.")]);
    expect(await rig.send()).toMatchObject({ outcome: "answered" });
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "PermissionDenied", is_error: true }]);
    expect(JSON.stringify(rig.vendor.requests[1]?.body)).toContain("with the rule Write(new.txt)");
    expect(() => readFileSync(join(rig.workspace.root, "new.txt"))).toThrow();
  });

  test("a person is asked, and each of the four answers does what it says", async () => {
    const rig = await createHarnessRig(
      [
        calls(["exec", { command: "touch one.txt" }]),
        says("1"),
        calls(["exec", { command: "touch two.txt" }]),
        calls(["exec", { command: "touch three.txt" }]),
        says("2"),
        calls(write),
        calls(["fs_write", { path: "other.txt", content: "y" }]),
        says("3"),
      ],
      { interactive: true },
    );
    const answer = async (decision: "allow_once" | "allow_argv_glob" | "allow_tool" | "deny", reason?: string) => {
      const turn = rig.send();
      const { call_id } = await rig.next("PermissionRequested");
      await rig.submit({ kind: "AnswerPermission", call_id, decision, ...defined({ reason }) });
      await turn;
      const asked = rig.of("PermissionRequested").length;
      const outcomes = rig.of("ToolResult").map(({ outcome }) => outcome);
      rig.events.length = 0;
      return { asked, outcomes };
    };
    expect(await answer("deny", "not now")).toEqual({ asked: 1, outcomes: ["denied"] });
    expect(JSON.stringify(rig.vendor.requests[1]?.body)).toContain("not now");
    expect(await answer("allow_argv_glob")).toEqual({ asked: 1, outcomes: ["ok", "ok"] });
    expect(await answer("allow_tool")).toEqual({ asked: 1, outcomes: ["ok", "ok"] });
  });

  test("allow_once is for one call only", async () => {
    const rig = await createHarnessRig([calls(write), says("1"), calls(write), says("2")], { interactive: true });
    for (const decision of ["allow_once", "deny"] as const) {
      rig.events.length = 0;
      const turn = rig.send();
      const { call_id } = await rig.next("PermissionRequested");
      await rig.submit({ kind: "AnswerPermission", call_id, decision });
      await turn;
    }
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied" }]);
  });

  test("an agent cannot answer, not even for a turn of somebody else", async () => {
    const rig = await createHarnessRig([calls(write), says("done")], { interactive: true });
    const agent = rig.harness.control.connect({ identityClass: "agent", interactive: true, onEvent: () => undefined });
    await agent.submit({ kind: "AttachSession", session: rig.session });
    const turn = rig.send();
    const { call_id } = await rig.next("PermissionRequested");
    await expect(
      agent.submit({ kind: "AnswerPermission", session: rig.session, call_id, decision: "allow_once" }),
    ).rejects.toMatchObject({ reason: "NotAllowed" });
    await rig.submit({ kind: "AnswerPermission", call_id, decision: "deny" });
    await turn;
    await expect(
      agent.submit({ kind: "AnswerPermission", session: rig.session, call_id, decision: "allow_once" }),
    ).rejects.toMatchObject({ reason: "NotAllowed" });
    expect(rig.of("AnswerTooLate")).toEqual([]);
    const canonical = `Permission denied for Write by ${rig.client.id}. To allow: re-prompt and pick 'Allow once / argv-glob / tool / session'.`;
    expect(JSON.stringify(rig.of("ToolResult"))).toContain(canonical);
  });

  test("a session with only an agent attached denies at once", async () => {
    const rig = await createHarnessRig([calls(write), says("done")], { interactive: true, identityClass: "agent" });
    await rig.send();
    expect(rig.of("PermissionRequested")).toEqual([]);
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied" }]);
  });

  test("deny beats allow, tells which rule and where, and auto-approve does not lift it", async () => {
    const rig = await createHarnessRig(
      [calls(write), calls(["fs_write", { path: "b.txt", content: "" }]), says("done")],
      {
        autoApprove: true,
        settings: {
          permissions: [
            { effect: "allow", rule: "fs.*", source: "config.toml:3" },
            { effect: "deny", rule: "Write(new.txt)", source: "config.toml:4" },
          ],
        },
      },
    );
    await rig.send();
    const [first, second] = rig.of("ToolResult");
    expect(first).toMatchObject({ outcome: "denied" });
    expect(JSON.stringify(first?.content)).toContain("deny Write(new.txt)' (config.toml:4)");
    expect(second).toMatchObject({ outcome: "ok" });
  });

  test("the quiet preset passes reading inside the workspace, not secrets and not strict mode", async () => {
    const read = calls(["fs_read", { path: ".env" }]);
    const rig = await createHarnessRig([calls(["fs_list", { path: "." }]), read, says("done")]);
    rig.workspace.put(".env", "KEY=1\n");
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome }) => outcome)).toEqual(["ok", "denied"]);
    const strict = await createHarnessRig([calls(["fs_list", { path: "." }]), says("x")], {
      settings: { strictPermissions: true },
    });
    await strict.send();
    expect(strict.of("ToolResult").map(({ outcome }) => outcome)).toEqual(["denied"]);
  });

  test("credential tools are denied whatever the rules say", async () => {
    const rig = await createHarnessRig([calls(["exec", { command: "env secret-tool lookup a b" }]), says("no")], {
      settings: { permissions: [{ effect: "allow", rule: "Bash", source: "test" }] },
    });
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied" }]);
  });

  test("a quiet command needs no rule beside an allowed one, unless it runs in another folder", async () => {
    const rig = await createHarnessRig(
      [
        calls(["exec", { command: "git status; touch x" }]),
        calls(["exec", { command: "git status; touch y", cwd: "sub" }]),
        calls(["exec", { command: "cd sub && git status && touch z" }]),
        says("done"),
      ],
      {
        settings: {
          permissions: ["Bash(touch *)", "Bash(cd *)"].map((rule) => ({ effect: "allow", rule, source: "test" })),
          tools: { execution: "auto", onError: "continue" },
        },
      },
    );
    rig.workspace.put("sub/file", "");
    execFileSync("git", ["init", "-q"], { cwd: rig.workspace.root });
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome }) => outcome)).toEqual(["ok", "denied", "denied"]);
  });

  test("what a quiet name leads to on the disk counts: links, secrets below a folder, a repository that runs programs", async () => {
    const commands = [
      "cat notes.txt",
      "cat *.txt",
      "ls out/",
      "cat inside.txt",
      "grep -rn x src",
      "grep -rn x docs",
      "git status",
      "git log -1 --unified --output=.git/config -s",
    ];
    const rig = await createHarnessRig([...commands.map((command) => calls(["exec", { command }])), says("done")], {
      settings: { tools: { execution: "auto", onError: "continue" } },
    });
    const { root, outside } = rig.workspace;
    writeFileSync(join(outside, "secret.txt"), "x");
    symlinkSync(join(outside, "secret.txt"), join(root, "notes.txt"));
    symlinkSync("/proc", join(root, "out"));
    rig.workspace.put("plain.txt", "x");
    rig.workspace.put("inside.txt", "x");
    rig.workspace.put("src/.env", "x");
    rig.workspace.put("docs/page.md", "x");
    rig.workspace.put(".git/HEAD", "ref: refs/heads/main\n");
    rig.workspace.put(".git/config", "[core]\n\tfsmonitor = touch ran\n");
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome }, index) => `${commands[index]}: ${outcome}`)).toEqual([
      "cat notes.txt: denied",
      "cat *.txt: denied",
      "ls out/: denied",
      "cat inside.txt: ok",
      "grep -rn x src: denied",
      "grep -rn x docs: ok",
      "git status: denied",
      "git log -1 --unified --output=.git/config -s: denied",
    ]);
  });

  test.each([
    ["printf '%ln' PATH", {}],
    ["printf '%hhn' HOME", {}],
    ["cat e", { cwd: "sub" }],
    ["egrep -r x sub", {}],
    ["grep -r --regexp=x sub docs", {}],
    ["grep -r --include='[s]ecrets.yml' x .", {}],
    ["grep -r --include=config x .", {}],
    ["diff -N sub docs", {}],
    ["cat cred*.json", {}],
    ["rg x", {}],
    ["ls -RL sub", {}],
    ["c''d sub; cat e", {}],
    ["c''d sub && cat ../sub/e", {}],
    ["git status", { config: "[core]\n\tbare = false\n[diff] external = touch ran\n" }],
    ["git diff", { config: "[extensions]\n\tworktreeConfig = true\n" }],
    ["git diff", { file: ".git/config.worktree" }],
    ["git diff", { file: ".git/commondir" }],
    ["git status", { file: ".git/hooks/post-index-change" }],
    ["git log -p", { config: '[remote "origin"]\n\tpromisor = true\n' }],
    ["git status", { file: ".gitmodules" }],
  ] as [string, { cwd?: string; config?: string; file?: string }][])(
    "%j with %j asks",
    async (command, { cwd, config = "[core]\n\tbare = false\n", file }) => {
      const rig = await createHarnessRig([calls(["exec", { command, ...defined({ cwd }) }]), says("done")]);
      const { workspace } = rig;
      workspace.put("sub/.env", "x");
      workspace.put("docs/secrets.yml", "x");
      workspace.put("credentials.json", "x");
      workspace.put(".git/HEAD", "ref: refs/heads/main\n");
      workspace.put(".git/config", config);
      if (file !== undefined) workspace.put(file, "x");
      symlinkSync(".env", join(workspace.root, "sub/e"));
      await rig.send();
      expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied" }]);
    },
  );

  test("a repository inside the repository, tracked by its commit alone, is not looked into unasked", async () => {
    const rig = await createHarnessRig([calls(["exec", { command: "git status" }]), says("done")]);
    const { root } = rig.workspace;
    const git = (cwd: string, ...args: string[]): void => {
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd, stdio: "ignore" });
    };
    git(root, "init", "-q");
    rig.workspace.put("inner/file.txt", "a\n");
    git(join(root, "inner"), "init", "-q");
    git(join(root, "inner"), "add", ".");
    git(join(root, "inner"), "commit", "-q", "-m", "x");
    git(join(root, "inner"), "config", "filter.x.clean", "touch ../ran; cat");
    git(root, "add", "inner");
    rig.workspace.put("inner/.gitattributes", "* filter=x\n");
    rig.workspace.put("inner/file.txt", "b\n");
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied" }]);
    expect(existsSync(join(root, "ran"))).toBe(false);
  });

  test("a rule about a file holds for commands that read it", async () => {
    const commands = ["cat private/a", "cd private && cat a", "grep -rn x .", "wc -l docs/page.md"];
    const rig = await createHarnessRig([...commands.map((command) => calls(["exec", { command }])), says("done")], {
      settings: {
        permissions: [
          { effect: "allow", rule: "Bash", source: "config.toml:1" },
          { effect: "deny", rule: "Read(private/**)", source: "config.toml:2" },
        ],
        tools: { execution: "auto", onError: "continue" },
      },
    });
    rig.workspace.put("private/a", "x");
    rig.workspace.put("docs/page.md", "x");
    await rig.send();
    const results = rig.of("ToolResult");
    expect(results.map(({ outcome }) => outcome)).toEqual(["denied", "denied", "denied", "ok"]);
    expect(JSON.stringify(results[0]?.content)).toContain("'deny Read(private/**)' (config.toml:2)");
  });

  test("a plain repository is quiet, with what clone and init write into its configuration", async () => {
    const rig = await createHarnessRig([calls(["exec", { command: "git status --short" }]), says("done")]);
    execFileSync("git", ["init", "-q"], { cwd: rig.workspace.root });
    const remote =
      '[remote "origin"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n';
    const branch = '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n';
    appendFileSync(join(rig.workspace.root, ".git/config"), remote + branch);
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "ok" }]);
  });

  test("a link inside the workspace gets around neither rules nor the list of sensitive files", async () => {
    const rig = await createHarnessRig(
      [
        calls(["fs_read", { path: "readme-link" }]),
        calls(["fs_write", { path: "docs/hooks/pre-commit", content: "x" }]),
        calls(["fs_read", { path: "denied-link" }]),
        calls(["fs_read", { path: "/etc/hostname" }]),
        says("done"),
      ],
      {
        settings: {
          permissions: [
            { effect: "allow", rule: "Write(docs/**)", source: "test" },
            { effect: "deny", rule: "Read(private/**)", source: "test" },
          ],
          tools: { execution: "auto", onError: "continue" },
        },
      },
    );
    const { root } = rig.workspace;
    rig.workspace.put(".env", "KEY=1");
    rig.workspace.put(".git/hooks/sample", "");
    rig.workspace.put("private/a", "x");
    rig.workspace.put("docs/page.md", "x");
    symlinkSync(".env", join(root, "readme-link"));
    symlinkSync("../.git/hooks", join(root, "docs/hooks"));
    symlinkSync("private/a", join(root, "denied-link"));
    await rig.send();
    const results = rig.of("ToolResult");
    expect(results.map(({ outcome }) => outcome)).toEqual(["denied", "denied", "denied", "denied"]);
    expect(JSON.stringify(results[3]?.content)).toContain("choose a workspace that contains that path");
    expect(existsSync(join(root, ".git/hooks/pre-commit"))).toBe(false);
  });

  test("the session's own record in the workspace is out of reach of the file tools, whatever is allowed", async () => {
    const rig = await createHarnessRig(
      [
        calls(["fs_write", { path: ".harness/threads/x/events.jsonl", content: "forged" }]),
        calls(["fs_remove", { path: ".harness", recursive: true }]),
        calls(["fs_move", { from: "log/x", to: "elsewhere" }]),
        calls(["fs_write", { path: "notes.md", content: "fine" }]),
        says("done"),
      ],
      {
        settings: {
          permissions: [{ effect: "allow", rule: "fs.*", source: "test" }],
          tools: { execution: "auto", onError: "continue" },
        },
      },
    );
    rig.workspace.put(".harness/threads/x/events.jsonl", "real");
    symlinkSync(".harness/threads", join(rig.workspace.root, "log"));
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome }) => outcome)).toEqual(["denied", "denied", "denied", "ok"]);
    expect(readFileSync(join(rig.workspace.root, ".harness/threads/x/events.jsonl"), "utf8")).toBe("real");
  });

  test("plan mode that begins while a question waits still holds", async () => {
    const rig = await createHarnessRig([calls(write), says("done")], { interactive: true });
    const turn = rig.send();
    const { call_id } = await rig.next("PermissionRequested");
    await rig.submit({ kind: "EnterPlanMode" });
    await rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_once" });
    await turn;
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "PlanModeActive" }]);
  });

  test("plan mode passes only read-only calls until a human approves the plan", async () => {
    const rig = await createHarnessRig([calls(write), says("planned"), calls(write), says("done")], {
      settings: { permissions: [{ effect: "allow", rule: "Write", source: "test" }] },
    });
    await rig.submit({ kind: "EnterPlanMode" });
    await rig.send();
    expect(rig.of("ToolResult")).toMatchObject([{ outcome: "denied", reason: "PlanModeActive" }]);
    await rig.submit({ kind: "ExitPlanMode", approve: true });
    await rig.send();
    expect(rig.of("ToolResult")[1]).toMatchObject({ outcome: "ok" });
    expect(rig.of("PlanModeChanged")).toEqual([{ active: true }, { active: false }]);
  });
});

describe("rules of a session", () => {
  test("are listed with where they come from, can be taken back, and kept for good by a human", async () => {
    const kept: string[] = [];
    const touch = (name: string) => calls(["exec", { command: `touch ${name}` }]);
    const rig = await createHarnessRig([touch("1"), says("a"), touch("2"), says("b"), touch("3"), says("c")], {
      interactive: true,
      settings: { permissions: [{ effect: "deny", rule: "Bash(rm *)", source: "config.toml:3" }] },
      keepRule: async (rule) => {
        kept.push(rule);
        return "config.toml";
      },
    });
    const turn = rig.send();
    const { call_id } = await rig.next("PermissionRequested");
    await rig.submit({ kind: "AnswerPermission", call_id, decision: "allow_argv_glob" });
    await turn;
    const rules = [
      { effect: "deny", rule: "Bash(rm *)", source: "config.toml:3" },
      { effect: "allow", rule: "Bash(touch *)", source: "session" },
    ];
    expect(await rig.submit({ kind: "ListRules" })).toEqual({ result: rules });
    const agent = rig.harness.control.connect({ identityClass: "agent", interactive: true, onEvent: () => undefined });
    const promote = { kind: "PromoteRule", session: rig.session, rule: "Bash(touch *)" } as const;
    await expect(agent.submit(promote)).rejects.toMatchObject({ reason: "NotAllowed" });
    await rig.submit({ kind: "PromoteRule", rule: "Bash(touch *)" });
    expect(kept).toEqual(["Bash(touch *)"]);
    await rig.send();
    expect(rig.of("PermissionRequested")).toHaveLength(1);
    await rig.submit({ kind: "RevokeRule", rule: "Bash(touch *)" });
    await expect(rig.submit({ kind: "RevokeRule", rule: "Bash(rm *)" })).rejects.toMatchObject({
      reason: "RuleNotFound",
    });
    expect(await rig.submit({ kind: "ListRules" })).toEqual({ result: rules.slice(0, 1) });
    rig.events.length = 0;
    const again = rig.send();
    const asked = await rig.next("PermissionRequested");
    await rig.submit({ kind: "AnswerPermission", call_id: asked.call_id, decision: "deny" });
    await again;
  });
});
