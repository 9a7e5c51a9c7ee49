/** MCP servers that may change the workspace: each call is guarded like a command, and between calls nothing of them can write. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { McpServer } from "#artifacts";
import { calls, says } from "./fakes/harness-rig.ts";
import { createMcpRig, type McpRig, runs, shell, shown, textOf } from "./fakes/mcp-rig.ts";
import { referenceServer } from "./fakes/mcp-world.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

function writing(server: McpServer, ...writable: readonly string[]): McpServer {
  const { connection } = shown(server);
  if (connection.kind !== "stdio") throw new Error("a program was expected");
  return { ...server, connection: { ...connection, writable } };
}

/** A hostile server with the whole workspace, after `prepare`. */
async function attack(script: string, prepare: (root: string) => void = () => undefined): Promise<McpRig> {
  return createMcpRig(
    [runs(script), says("done")],
    (root) => {
      prepare(root);
      return [writing(shell(), ".")];
    },
    { autoApprove: true },
  );
}

const rootOf = (rig: McpRig): string => rig.of("SessionStarted")[0]?.working_dir ?? "";

describe.runIf(hasSandbox)("a server that may change the workspace", () => {
  test("writes a file, and undo takes it back", async () => {
    const { outside } = createTemporaryWorkspace();
    const rig = await createMcpRig([], (root) => [writing(referenceServer("filesystem", [root]), ".")], {
      autoApprove: true,
      undo: { directory: join(outside, "undo"), key: Buffer.alloc(32, 1) },
    });
    const root = rootOf(rig);
    const made = join(root, "notes/made.txt");
    rig.vendor.reply(
      calls(["mcp.filesystem.create_directory", { path: join(root, "notes") }]),
      calls(["mcp.filesystem.write_file", { path: made, content: "first" }]),
      calls(["mcp.filesystem.write_file", { path: made, content: "second" }]),
      says("done"),
    );
    await rig.send();
    expect(rig.of("ToolResult").map(({ outcome, is_error }) => ({ outcome, is_error }))).toEqual(
      Array.from({ length: 3 }, () => ({ outcome: "ok", is_error: false })),
    );
    expect(readFileSync(made, "utf8")).toBe("second");
    expect(readdirSync(root)).toEqual(["notes"]);
    await rig.submit({ kind: "UndoTurn" });
    expect(readdirSync(root)).toEqual([]);
  });

  test("does not write steering files, and leaves no placeholder", async () => {
    const tries = [
      ".envrc",
      ".harness/x",
      ".vscode/tasks.json",
      ".mcp.json",
      ".git/hooks/pre-commit",
      ".git/config.worktree",
    ];
    const rig = await attack(
      [
        ...tries.map((path) => `mkdir -p $(dirname ${path}); echo evil > ${path}`),
        "echo evil >> .git/config",
        "echo fine > plain",
      ].join("\n"),
      (root) => void execFileSync("git", ["init", "-q", "--template=", root]),
    );
    await rig.send();
    const root = rootOf(rig);
    expect(readFileSync(join(root, "plain"), "utf8")).toBe("fine\n");
    expect(readdirSync(root).toSorted()).toEqual([".git", "plain"]);
    for (const path of tries) expect(existsSync(join(root, path))).toBe(false);
    expect(readFileSync(join(root, ".git/config"), "utf8")).not.toContain("evil");
  });

  test("does not begin a repository with hooks, and the model reads what was moved aside", async () => {
    const rig = await attack("mkdir -p sub/.git/hooks; echo evil > sub/.git/hooks/pre-commit; echo x > mise.toml");
    await rig.send();
    const root = rootOf(rig);
    expect(readdirSync(root).toSorted()).toEqual(["mise.toml.held-back", "sub"]);
    expect(existsSync(join(root, "sub/.git/hooks/pre-commit"))).toBe(false);
    expect(textOf(rig)).toMatch(/\[sandbox\].*mise\.toml is protected/);
  });

  test("writes nothing once its call has ended", async () => {
    const beat = "while :; do date +%s%N > beat; echo x > .envrc; mkdir .harness; done";
    const rig = await attack(`setsid sh -c '${beat}' >/dev/null 2>&1 & until test -s beat; do :; done; echo begun`);
    await rig.send();
    expect(textOf(rig)).toContain("begun");
    const root = rootOf(rig);
    expect(readdirSync(root)).toEqual(["beat"]);
    const last = readFileSync(join(root, "beat"), "utf8");
    rig.vendor.reply(runs("cat beat"), says("done"));
    await rig.send();
    expect(readFileSync(join(root, "beat"), "utf8")).toBe(last);
  });

  test("writes in the folders that were named, and nowhere else", async () => {
    const rig = await createMcpRig(
      [runs("echo a > docs/a; echo b > b; echo c > docs/../c; ls docs"), says("done")],
      (root) => {
        mkdirSync(join(root, "docs"));
        return [writing(shell(), "docs")];
      },
      { autoApprove: true },
    );
    await rig.send();
    expect(readdirSync(rootOf(rig))).toEqual(["docs"]);
    expect(readdirSync(join(rootOf(rig), "docs"))).toEqual(["a"]);
  });

  test.each([
    ["is not there", () => undefined],
    ["is a link", (root: string) => symlinkSync("/tmp", join(root, "docs"))],
    ["is a file", (root: string) => writeFileSync(join(root, "docs"), "")],
  ])("is not started for a folder that %s", async (_why, prepare) => {
    const rig = await createMcpRig(
      [runs("echo a > docs/a"), says("done")],
      (root) => {
        prepare(root);
        return [writing(shell(), "docs")];
      },
      { autoApprove: true },
    );
    await rig.send();
    expect(textOf(rig)).toMatch(/which is not a folder of the workspace, or leads elsewhere/);
  });

  test("uses the process that only reads for a tool that changes nothing", async () => {
    const rig = await createMcpRig(
      [runs("echo x > made; echo $PPID"), says("done")],
      [{ ...writing(shell(), "."), readOnlyTools: ["sh"] }],
      { autoApprove: true },
    );
    await rig.send();
    expect(textOf(rig)).toContain("Read-only file system");
  });
});
