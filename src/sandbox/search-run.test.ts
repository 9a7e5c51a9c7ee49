import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { describe, expect, onTestFinished, test } from "vitest";
import { createProcesses } from "#world";
import { createTemporaryWorkspace, type TemporaryWorkspace } from "../../test/fakes/temporary-workspace.ts";
import { createTestSandbox, hasSandbox } from "../../test/fakes/test-sandbox.ts";

const NEVER = new AbortController().signal;
const SEARCHES = 25;
/** A folder and links in its place, over and over: to a folder outside and to one that is hidden. Ends by itself. */
const SWAP = `
  const fs = require("node:fs");
  process.chdir(process.argv[1]);
  const untilMs = Date.now() + 120_000;
  for (let round = 0; Date.now() < untilMs; round++) {
    fs.renameSync("folder", "aside");
    fs.symlinkSync(round % 2 ? "../outside" : "own", "folder");
    fs.unlinkSync("folder");
    fs.renameSync("aside", "folder");
    if (round === 0) fs.writeSync(1, "swapping");
  }`;

function createReader(workspace: TemporaryWorkspace, env = process.env) {
  const { root } = workspace;
  const ports = { ...workspace.ports, processes: createProcesses({ root, env }) };
  const sandbox = createTestSandbox(
    { ...workspace, ports },
    { ownPaths: [join(root, "own"), join(root, "token")], env },
  );
  return async (args: readonly string[], cwd = ".", file = rgPath) => {
    let said = "";
    const onOutput = (_stream: string, chunk: Buffer): void => {
      said += chunk.toString("utf8");
    };
    const spec = { file, args, cwd, ownProgram: true, timeoutMs: 20_000, onOutput } as const;
    return { code: (await sandbox.processes.run(spec, NEVER)).code, said };
  };
}

describe.runIf(hasSandbox)("the search of this program", () => {
  test("sees the workspace, and nothing else where a link leads, nor what is hidden", async () => {
    const workspace = createTemporaryWorkspace();
    for (const path of ["a/b.txt", "own/c.txt", "token"]) workspace.put(path, "needle\n");
    mkdirSync(join(workspace.outside, "outside"));
    writeFileSync(join(workspace.outside, "outside/d.txt"), "needle\n");
    symlinkSync("../outside", join(workspace.root, "up"));
    symlinkSync("own", join(workspace.root, "ours"));
    const read = createReader(workspace);
    expect(await read(["--follow", "--files-with-matches", "--no-messages", "needle", "./"])).toMatchObject({
      said: "./a/b.txt\n",
    });
    expect(await read(["--count", "needle", "./b.txt"], "a")).toEqual({ code: 0, said: "1\n" });
    expect((await read(["--no-messages", "needle", "./token", "./own/c.txt"])).said).toBe("");
    await expect(read(["needle"], "up")).rejects.toMatchObject({ reason: "OutsideWorkspace" });
  });

  test("is not led out by a folder that becomes a link while it walks", async () => {
    const workspace = createTemporaryWorkspace();
    mkdirSync(join(workspace.outside, "outside"));
    for (let index = 0; index < 40; index++) {
      workspace.put(`folder/${index}`, "needle plain\n");
      workspace.put(`own/${index}`, "needle SECRET\n");
      writeFileSync(join(workspace.outside, "outside", String(index)), "needle SECRET\n");
    }
    const swapper = spawn(process.execPath, ["-e", SWAP, workspace.root], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void swapper.kill("SIGKILL"));
    await once(swapper.stdout, "data");
    const read = createReader(workspace);
    let found = 0;
    for (let searches = 0; searches < SEARCHES || found === 0; searches++) {
      const { said } = await read(["--no-messages", "--no-filename", "needle", "./"]);
      expect(said).not.toContain("SECRET");
      if (said.includes("plain")) found += 1;
    }
  });

  test("knows what is ignored above the workspace and everywhere", async () => {
    const workspace = createTemporaryWorkspace();
    for (const name of ["kept", "above", "excluded", "everywhere", "far"]) workspace.put(name, "needle\n");
    const put = (path: string, content: string): void => {
      mkdirSync(dirname(join(workspace.outside, path)), { recursive: true });
      writeFileSync(join(workspace.outside, path), content);
    };
    put(".gitignore", "above\n");
    put(".git/info/exclude", "excluded\n");
    put("home/.config/git/ignore", "everywhere\n");
    const read = createReader(workspace, { PATH: process.env.PATH, HOME: join(workspace.outside, "home") });
    expect((await read(["--no-config", "--files"])).said.trim().split("\n").sort()).toEqual(["far", "kept"]);
  });

  test("that never began is not a search without a result", async () => {
    const read = createReader(createTemporaryWorkspace());
    await expect(read(["needle"], "gone")).rejects.toMatchObject({ reason: "NotFound" });
  });

  test("sees no pipe, which would hold it for ever", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("a.txt", "needle\n");
    execFileSync("mkfifo", [join(workspace.root, "pipe")]);
    expect(await createReader(workspace)(["--count", "needle", "./pipe", "./a.txt"])).toMatchObject({
      said: "./a.txt:1\n",
    });
  });
});
