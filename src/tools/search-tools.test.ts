import { symlinkSync, utimesSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { defined } from "#base";
import type { Tool } from "#engine";
import { createWorkspaceFiles } from "#world";
import {
  createTemporaryWorkspace,
  createToolContext,
  type TemporaryWorkspace,
} from "../../test/fakes/temporary-workspace.ts";
import { hasSandbox } from "../../test/fakes/test-sandbox.ts";
import { globTool } from "./glob.ts";
import { searchTool } from "./search.ts";

async function run(tool: Tool, workspace: TemporaryWorkspace, args: Record<string, unknown>): Promise<string> {
  const [block] = (await tool.run(args, createToolContext(workspace.ports))).content;
  return block?.type === "text" ? block.text : "no text";
}

/** No git repository; the files get older in the order of the list. */
function project(): TemporaryWorkspace {
  const workspace = createTemporaryWorkspace();
  const files: Record<string, string> = {
    "src/new.ts": "export const needle = 1;\n",
    "src/deep/old.ts": "line one\nNeedle two\nline three\n",
    "readme.md": "no such thing\n",
    ".github/flow.yml": "needle: yes\n",
    "generated.ts": "needle\n",
    "build/out.ts": "needle\n",
    ".git/config.ts": "needle\n",
    ".gitignore": "generated.ts\nbuild/\n*.env\n!example.env\n",
    "example.env": "x\n",
  };
  let ageS = 0;
  for (const [path, content] of Object.entries(files)) {
    const timeS = 1_700_000_000 - ageS++;
    utimesSync(workspace.put(path, content), timeS, timeS);
  }
  return workspace;
}

describe("fs.glob", () => {
  test("finds files newest first, without what is ignored or git's own", async () => {
    const workspace = project();
    expect(await run(globTool, workspace, { pattern: "**/*.ts" })).toBe("src/new.ts\nsrc/deep/old.ts");
    expect(await run(globTool, workspace, { pattern: "*.ts" })).toBe("src/new.ts\nsrc/deep/old.ts");
    expect(await run(globTool, workspace, { pattern: "src/*.{ts,md}" })).toBe("src/new.ts");
    expect(await run(globTool, workspace, { pattern: ".github/**" })).toBe(".github/flow.yml");
    expect(await run(globTool, workspace, { pattern: "generated.ts" })).toBe("No files found.");
  });

  test("takes a directory to look in and gives paths from the root", async () => {
    const workspace = project();
    expect(await run(globTool, workspace, { pattern: "**/*.ts", path: "src" })).toBe("src/new.ts\nsrc/deep/old.ts");
    expect(await run(globTool, workspace, { pattern: "./*.ts", path: "src/deep" })).toBe("src/deep/old.ts");
  });

  test.runIf(hasSandbox)("finds files newest first where ripgrep sees no /proc and cannot sort them", async () => {
    const workspace = project();
    const { processes } = workspace.ports;
    const withoutProc: typeof processes = {
      run: ({ file, args, ...spec }, signal) =>
        processes.run(
          { ...spec, file: "bwrap", args: ["--dev-bind", "/", "/", "--tmpfs", "/proc", "--", file, ...args] },
          signal,
        ),
    };
    const there = { ...workspace, ports: { ...workspace.ports, processes: withoutProc } };
    expect(await run(globTool, there, { pattern: "**/*.ts" })).toBe("src/new.ts\nsrc/deep/old.ts");
    expect(await run(globTool, there, { pattern: "*.ts", path: "src" })).toBe("src/new.ts\nsrc/deep/old.ts");
  });

  test("shows at most 200 and counts the rest", async () => {
    const workspace = createTemporaryWorkspace();
    for (let index = 0; index < 205; index++) workspace.put(`f${index}.txt`, "");
    const lines = (await run(globTool, workspace, { pattern: "*.txt" })).split("\n");
    expect([lines.length, lines.at(-1)]).toEqual([201, "[5 more files; narrow the pattern or the path]"]);
  });

  test("refuses a place that is outside, missing or a file, and a broken pattern", async () => {
    const workspace = project();
    const glob = (args: Record<string, unknown>) => run(globTool, workspace, args);
    await expect(glob({ pattern: "*", path: ".." })).rejects.toMatchObject({ reason: "OutsideWorkspace" });
    await expect(glob({ pattern: "*", path: "sr" })).rejects.toThrow("sr does not exist.");
    await expect(glob({ pattern: "*", path: "readme.md" })).rejects.toThrow("is not a directory");
    await expect(glob({ pattern: "a{" })).rejects.toThrow("glob");
    expect(await glob({ pattern: "../**" })).toBe("No files found.");
  });

  test("a pattern made to backtrack ends soon", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("a".repeat(200), "");
    expect(await run(globTool, workspace, { pattern: `${"*a".repeat(30)}b` })).toBe("No files found.");
    expect(await run(globTool, workspace, { pattern: `${"{a,*a}".repeat(30)}b` })).toBe("No files found.");
  });
});

describe("fs.search", () => {
  test("shows matching lines under their file", async () => {
    expect(await run(searchTool, project(), { pattern: "needle" })).toBe(
      ".github/flow.yml\n1:needle: yes\n\nsrc/new.ts\n1:export const needle = 1;",
    );
  });

  test("takes case, context, glob and place", async () => {
    const workspace = project();
    expect(await run(searchTool, workspace, { pattern: "NEEDLE", ignore_case: true, path: "src", context: 1 })).toBe(
      "src/deep/old.ts\n1-line one\n2:Needle two\n3-line three\n\nsrc/new.ts\n1:export const needle = 1;",
    );
    expect(await run(searchTool, workspace, { pattern: "needle", glob: "*.yml" })).toBe(
      ".github/flow.yml\n1:needle: yes",
    );
    expect(await run(searchTool, workspace, { pattern: "Needle", path: "src/deep/old.ts" })).toBe(
      "src/deep/old.ts\n2:Needle two",
    );
  });

  test("never reaches git's own files, whatever the glob", async () => {
    const answer = await run(searchTool, project(), { pattern: "needle", glob: "**", output: "files" });
    expect(answer).not.toContain(".git/");
    expect(await run(globTool, project(), { pattern: "**" })).not.toContain(".git/");
  });

  test("passes over files that hold secrets unless one is named", async () => {
    const workspace = project();
    workspace.put(".env", "needle_secret=1\n");
    workspace.put("certs/server.pem", "needle_secret\n");
    expect(await run(searchTool, workspace, { pattern: "needle_secret" })).toBe("No matches.");
    expect(await run(searchTool, workspace, { pattern: "needle_secret", path: ".env" })).toContain(".env");
    expect(await run(searchTool, workspace, { pattern: "needle_secret", glob: "*.pem" })).toBe("No matches.");
    expect(await run(searchTool, workspace, { pattern: "needle_secret", glob: "server.pem" })).toContain("server.pem");
  });

  test("lists files or counts", async () => {
    const workspace = project();
    expect(await run(searchTool, workspace, { pattern: "(?i)needle", output: "files" })).toBe(
      ".github/flow.yml\nsrc/deep/old.ts\nsrc/new.ts",
    );
    expect(await run(searchTool, workspace, { pattern: "line", path: "src", output: "count" })).toBe(
      "src/deep/old.ts: 2",
    );
  });

  test("no match is an answer, a bad pattern is an error that shows where", async () => {
    const workspace = project();
    expect(await run(searchTool, workspace, { pattern: "nowhere to be seen" })).toBe("No matches.");
    await expect(run(searchTool, workspace, { pattern: "a(" })).rejects.toThrow(/regex parse error.*unclosed group/s);
    await expect(run(searchTool, workspace, { pattern: "x", glob: "a{" })).rejects.toThrow("glob");
    await expect(run(searchTool, workspace, { pattern: "x", output: "xml" })).rejects.toMatchObject({
      reason: "InvalidArguments",
    });
  });

  test("a pattern or a path that looks like an option is none", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("--files", "--version\n");
    expect(await run(searchTool, workspace, { pattern: "--version", path: "--files" })).toBe("--files\n1:--version");
  });

  test("lines and columns are bounded, and it stops when there are enough", async () => {
    const workspace = createTemporaryWorkspace();
    workspace.put("wide.txt", `${"w".repeat(100_000)} needle\n`);
    for (let index = 0; index < 40; index++) workspace.put(`many/${index}.txt`, "hit\n".repeat(1_000));
    const wide = await run(searchTool, workspace, { pattern: "w+", path: "wide.txt" });
    expect(wide.length).toBeLessThan(700);
    workspace.put("long.txt", `${"needle ".repeat(70)} ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5 needle\n`);
    for (const context of [0, 1]) {
      const long = await run(searchTool, workspace, { pattern: "needle", path: "long.txt", context });
      expect(long).toMatch(/needle {2,3}\[\.\.\. .*\]$/);
      expect(long).not.toContain("ghp_");
    }
    const lines = (await run(searchTool, workspace, { pattern: "hit", path: "many" })).split("\n");
    expect(lines.length).toBeLessThan(305);
    expect(lines.at(-1)).toBe("[more matches; narrow the pattern, path or glob]");
  });

  test("a cancelled search says so", async () => {
    const workspace = project();
    const context = createToolContext(workspace.ports, { signal: AbortSignal.abort() });
    await expect(searchTool.run({ pattern: "x" }, context)).rejects.toMatchObject({ reason: "Cancelled" });
  });
});

test("what is hidden is not found, wherever a search begins and whatever its name looks like", async () => {
  const workspace = project();
  for (const path of ["state/own/token", "state/own[1]{a}/token", "state/own1a/token", "src/own/token"]) {
    workspace.put(path, "needle\n");
  }
  const hidden = ["state/own", "state/own[1]{a}", "src/own/token"].map((path) => `${workspace.root}/${path}`);
  const files = createWorkspaceFiles(workspace.root, hidden);
  const inside = { ...workspace, ports: { ...workspace.ports, files } };
  for (const path of [".", "state", "src/own"]) {
    for (const glob of [undefined, "token", "**/token"]) {
      const options = { path, ...defined({ glob }) };
      const found = await run(searchTool, inside, { pattern: "needle", output: "files", ...options });
      expect(found.match(/.*token/g) ?? []).toEqual(path === "src/own" ? [] : ["state/own1a/token"]);
    }
  }
  symlinkSync("state", `${workspace.root}/link`);
  for (const path of [".", "state", "./state", "link"]) {
    const listed = await run(globTool, inside, { pattern: "**/token", path });
    expect(listed.match(/.*token/g)).toEqual(["state/own1a/token"]);
  }
  for (const path of ["state/own", "link/own", "src/own/token"]) {
    await expect(run(searchTool, inside, { pattern: "needle", path })).rejects.toThrow(/belongs to Harness itself/);
  }
});
