/** Delegates in git worktrees of their own, with a real git: what they change stays there until it is taken over. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createWorktrees } from "../src/program/worktrees.ts";
import { createDelegationRig, type DelegationRig } from "./fakes/delegation-rig.ts";
import type { FakeResponse } from "./fakes/fake-provider.ts";
import type { RigOptions } from "./fakes/harness-rig.ts";
import { createManualClock } from "./fakes/manual-clock.ts";
import { projectsUnder } from "./fakes/open-projects.ts";
import type { ProjectFiles } from "./fakes/project-rig.ts";
import { agentFile, answers, delegates, HARNESS, lastText, makes, textsOf } from "./fakes/roles.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "harness-worktrees-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const env = () => ({ ...process.env, HOME: home, XDG_CACHE_HOME: join(home, "cache") });
const places = () => join(home, "cache", "harness", "worktrees");
const left = (): string[] => (existsSync(places()) ? readdirSync(places()) : []);

function git(folder: string, ...args: string[]): string {
  const as = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"];
  return execFileSync("git", [...as, ...args], { cwd: folder, encoding: "utf8", env: { ...process.env, HOME: home } });
}

function commit(folder: string): void {
  git(folder, "init", "-q");
  git(folder, "add", "-A");
  git(folder, "commit", "-qm", "first");
}

const files = {
  ".harness/agents/smith.md": agentFile("smith", "tools: [fs.write, fs.remove, exec]\nisolation: worktree\n"),
};
const smith: readonly FakeResponse[] = [
  makes(
    ["fs.write", { path: "notes.txt", content: "new\n" }],
    ["fs.write", { path: "made.txt", content: "made\n" }],
    ["fs.remove", { path: "old.txt" }],
  ),
  answers("Done."),
];

/** The root delegates and then does what `next` says with the session of its delegate. */
async function rigWith(
  next: (task: string) => readonly FakeResponse[],
  options: RigOptions & {
    readonly isRepository?: boolean;
    readonly delegate?: readonly FakeResponse[];
    /** Of `harness.md`. */
    readonly head?: string;
    readonly extraFiles?: ProjectFiles;
  } = {},
): Promise<DelegationRig> {
  const { isRepository = true, delegate = smith, head = "", extraFiles = {}, ...rest } = options;
  let rig: DelegationRig | undefined;
  const then =
    (index: number): FakeResponse =>
    (call) => {
      const response = next(rig?.children()[0] ?? "")[index] ?? answers(lastText(call));
      return response(call);
    };
  rig = await createDelegationRig(
    {
      "harness.md": HARNESS.replace("---\n", `---\n${head}`),
      ...files,
      ...extraFiles,
      "notes.txt": "first\n",
      "old.txt": "old\n",
    },
    { root: [delegates({ agent: "smith", task: "Change it." }), then(0), then(1), answers("Over.")], smith: delegate },
    {
      extraEnv: { XDG_CACHE_HOME: join(home, "cache") },
      autoApprove: true,
      undo: { directory: join(home, "undo"), key: Buffer.alloc(32, 1) },
      ...rest,
      prepare: (workspace) => {
        if (isRepository) commit(workspace.root);
      },
    },
  );
  return rig;
}

const text = (rig: DelegationRig, name: string): string | undefined => {
  const path = join(rig.workspace.root, name);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
};
/** What the root was told of its delegate. */
const told = (rig: DelegationRig): Record<string, unknown> => {
  const content = rig.of("ToolResult")[0]?.content ?? [];
  return JSON.parse(textsOf({ role: "user", content })) as Record<string, unknown>;
};
const state = (rig: DelegationRig) => ["notes.txt", "made.txt", "old.txt"].map((name) => text(rig, name));

describe("a delegate with a worktree", () => {
  test("changes nothing in the workspace, and nothing is left when nobody takes it over", async () => {
    const rig = await rigWith(() => []);
    await rig.send("go");
    expect(told(rig)).toMatchObject({
      status: "ok",
      worktree: { changes: ["added made.txt", "changed notes.txt", "removed old.txt"] },
    });
    expect(state(rig)).toEqual(["first\n", undefined, "old\n"]);
    expect(left()).toHaveLength(1);
    await rig.submit({ kind: "EndSession" });
    expect(left()).toEqual([]);
    expect(git(rig.workspace.root, "worktree", "list").trim().split("\n")).toHaveLength(1);
    expect(git(rig.workspace.root, "branch", "--list", "harness/*")).toBe("");
  });

  test("is taken over by calls of the parent, which undo reverts", async () => {
    const rig = await rigWith((task) => [makes(["worktree.take", { task }])]);
    await rig.send("go");
    expect(state(rig)).toEqual(["new\n", "made\n", undefined]);
    expect(left()).toEqual([]);
    const inner = rig.of("ToolResult").filter(({ parent }) => parent !== undefined);
    expect(inner).toHaveLength(3);
    await rig.submit({ kind: "UndoTurn" });
    expect(state(rig)).toEqual(["first\n", undefined, "old\n"]);
  });

  test("is taken over where the model has other tools for files, and not where nobody allows it", async () => {
    const command = "echo new > notes.txt; echo made > made.txt; rm old.txt";
    const given = {
      head: "tools_policy: { mode: denylist, deny: [fs.write, fs.remove] }\n",
      delegate: [makes(["exec", { command }]), answers("Done.")],
    };
    const take = (task: string) => [makes(["worktree.take", { task }])];
    const rig = await rigWith(take, given);
    await rig.send("go");
    expect([state(rig), left()]).toEqual([["new\n", "made\n", undefined], []]);
    const permissions = [{ effect: "allow", rule: "Bash(*)", source: "test" }] as const;
    const held = await rigWith(take, { ...given, autoApprove: false, settings: { permissions } });
    await held.send("go");
    expect(state(held)).toEqual(["first\n", undefined, "old\n"]);
    const last = held.of("ToolResult").filter(({ name }) => name === "worktree.take");
    expect(JSON.stringify(last)).toMatch(/made.txt was not taken over. Nothing was taken over.*Write was denied/s);
  });

  test("is not taken over where the policy of the machine denies the tool that writes", async () => {
    const policy = "---\ntools_policy: { mode: denylist, deny: [fs.write] }\n---\n";
    const rig = await rigWith((task) => [makes(["worktree.take", { task }])], {
      delegate: [makes(["exec", { command: "echo new > notes.txt" }]), answers("Done.")],
      projects: projectsUnder("policy.md"),
      extraFiles: { "policy.md": policy },
    });
    await rig.send("go");
    expect(state(rig)).toEqual(["first\n", undefined, "old\n"]);
    const last = rig.of("ToolResult").filter(({ name }) => name === "worktree.take");
    expect(JSON.stringify(last)).toContain("the admin policy denies");
  });

  test("is dropped", async () => {
    const rig = await rigWith((task) => [makes(["worktree.drop", { task }])]);
    await rig.send("go");
    expect(JSON.stringify(rig.of("ToolResult").at(-1))).toContain("Dropped");
    expect([state(rig), left()]).toEqual([["first\n", undefined, "old\n"], []]);
  });

  test("conflicts with what changed meanwhile: all of it is named, and nothing is written", async () => {
    const rig = await rigWith((task) => [
      makes(["fs.write", { path: "notes.txt", content: "mine\n" }]),
      makes(["worktree.take", { task }]),
    ]);
    await rig.send("go");
    const last = rig.of("ToolResult").at(-1);
    expect(JSON.stringify(last)).toContain("notes.txt: the workspace has another version");
    expect(state(rig)).toEqual(["mine\n", undefined, "old\n"]);
    expect(left()).toHaveLength(1);
  });

  test("that changed nothing leaves nothing", async () => {
    const rig = await rigWith(() => [], { delegate: [answers("I looked.")] });
    await rig.send("go");
    expect([told(rig).worktree, left()]).toEqual([{ changes: [] }, []]);
  });

  test.runIf(hasSandbox)("runs its commands there, in the sandbox", async () => {
    const rig = await rigWith((task) => [makes(["worktree.take", { task }])], {
      delegate: [makes(["exec", { command: "echo ran > made.txt && git status --short" }]), answers("Done.")],
    });
    await rig.send("go");
    expect(
      JSON.stringify(rig.all.find(({ kind, session }) => kind === "ToolResult" && session !== rig.session)),
    ).toContain("?? made.txt");
    expect([told(rig).worktree, text(rig, "made.txt")]).toMatchObject([{ changes: ["added made.txt"] }, "ran\n"]);
  });

  test("needs a git repository", async () => {
    const rig = await rigWith(() => [], { isRepository: false });
    await rig.send("go");
    expect(JSON.stringify(rig.of("ToolResult")[0])).toContain("needs a git repository");
    expect(rig.children()).toEqual([]);
  });
});

describe("a worktree", () => {
  const opener = (failures: string[] = []) =>
    createWorktrees({ env: env(), clock: createManualClock(Date.now()), onFailure: (why) => void failures.push(why) });

  function repository(): string {
    const folder = join(home, "repository");
    mkdirSync(folder);
    writeFileSync(join(folder, "a.txt"), "a\n");
    return folder;
  }

  test("is refused where its branch exists, or nothing was committed", async () => {
    const folder = repository();
    git(folder, "init", "-q");
    await expect(opener()(folder, "call_1")).rejects.toThrow("needs a commit to begin from");
    commit(folder);
    git(folder, "branch", "harness/call_1");
    await expect(opener()(folder, "call_1")).rejects.toThrow("there is already a branch harness/call_1");
    expect([git(folder, "branch", "--list", "harness/*").trim(), left()]).toEqual(["harness/call_1", []]);
  });

  test("runs no hook and no filter of the repository", async () => {
    const folder = repository();
    writeFileSync(join(folder, ".gitattributes"), "*.txt filter=bad\n");
    commit(folder);
    const mark = join(home, "ran");
    writeFileSync(join(folder, ".git/hooks/post-checkout"), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
    git(folder, "config", "filter.bad.smudge", `touch ${mark}; cat`);
    git(folder, "config", "filter.bad.clean", `touch ${mark}; cat`);
    git(folder, "config", "filter.bad.required", "true");
    const worktree = await opener()(folder, "call_1");
    writeFileSync(join(worktree.folder, "a.txt"), "b\n");
    expect(await worktree.changes()).toMatchObject([{ path: "a.txt", kind: "changed" }]);
    await worktree.close();
    expect(existsSync(mark)).toBe(false);
  });

  test("of a killed program is swept at the next start, and others are left alone", async () => {
    const folder = repository();
    commit(folder);
    const worktree = await opener()(folder, "call_1");
    const owner = join(places(), "call_1", "owner.json");
    const facts = JSON.parse(readFileSync(owner, "utf8")) as { owner: string };
    opener();
    const other = await opener()(folder, "call_2");
    expect(left()).toEqual(["call_1", "call_2"]);
    // A process with another start mark: the one that made it is gone.
    const [host, , , nonce] = facts.owner.split(":");
    writeFileSync(owner, JSON.stringify({ ...facts, owner: [host, process.pid, "1", nonce].join(":") }));
    await (await opener()(folder, "call_3")).close();
    expect(left()).toEqual(["call_2"]);
    expect(existsSync(worktree.folder)).toBe(false);
    expect(git(folder, "branch", "--list", "harness/*")).not.toContain("call_1");
    await other.close();
    expect(git(folder, "worktree", "list").trim().split("\n")).toHaveLength(1);
  });

  test("cannot lead git elsewhere by its own link file", async () => {
    const folder = repository();
    commit(folder);
    const worktree = await opener()(folder, "call_1");
    const evil = join(home, "evil");
    mkdirSync(evil);
    git(evil, "init", "-q");
    writeFileSync(join(worktree.folder, ".git"), `gitdir: ${join(evil, ".git")}\n`);
    writeFileSync(join(worktree.folder, "b.txt"), "b\n");
    expect((await worktree.changes()).map(({ path }) => path)).toEqual(["b.txt"]);
    await worktree.close();
    expect([left(), existsSync(join(evil, ".git"))]).toEqual([[], true]);
  });
});
