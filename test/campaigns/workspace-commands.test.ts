/** A dozen of the commands that developers allow, in the workspace confinement. All of them: `node bench/workspace-commands.ts`. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGE_ADDRESS, PACKAGE_HOST, type PackageServer, startPackageServer } from "../fakes/package-server.ts";
import { hasSandbox } from "../fakes/test-sandbox.ts";
import { runWorkspaceCommand, workspaceCommands } from "../fakes/workspace-commands.ts";

const NAMES = [
  "git: begin a repository and commit",
  "git: rebase",
  "git: stash with untracked files",
  "git: worktree of an earlier call",
  "git: clean",
  "git: clone over https",
  "git: config",
  "npm: ci from a registry",
  "pip: install into a folder",
  "gcc: an address sanitizer",
  "python: a manager of processes",
  "python: a pseudo-terminal",
  "files in the home across calls",
  "a server in one call, its client in the next",
];

const installed = (names: readonly string[] = []): boolean =>
  names.every((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0);

describe.runIf(hasSandbox && installed(["git", "python3"]))("an allowed command", () => {
  let server: PackageServer;
  let parent: string;
  beforeAll(async () => {
    server = await startPackageServer();
    parent = realpathSync(mkdtempSync(join(tmpdir(), "harness-commands-")));
  });
  afterAll(async () => {
    await server.close();
    rmSync(parent, { recursive: true, force: true });
  });

  const rows = workspaceCommands().filter(({ name, needs }) => NAMES.includes(name) && installed(needs));
  test.each(rows)("works: $name", async (row) => {
    const result = await runWorkspaceCommand(row, {
      parent,
      inside: true,
      variables: server.variables(true),
      setupVariables: server.variables(false),
      ...(row.network === "packages" && { domains: [PACKAGE_HOST, PACKAGE_ADDRESS], resolve: server.resolve }),
    });
    if (row.held === undefined) expect(result).toMatchObject({ works: true });
    else expect(result.output).toMatch(new RegExp(row.held, "m"));
  });
});

test("the corpus has every name once, and names fixtures and patterns that exist", () => {
  const rows = workspaceCommands();
  expect(rows.length).toBeGreaterThanOrEqual(150);
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  expect(NAMES.filter((name) => !rows.some((row) => row.name === name))).toEqual([]);
  for (const { expect: wanted, held } of rows) for (const text of [wanted?.output, held]) new RegExp(text ?? "", "m");
});
