import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { ackProject } from "../../test/fakes/ack-project.ts";
import { createInProcessCli, type InProcessCli } from "../../test/fakes/in-process-cli.ts";

let cli: InProcessCli;
beforeEach(() => {
  cli = createInProcessCli();
});

const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1) + (entry.isDirectory() ? "/" : ""))
    .sort();

test("init makes the current folder a project that is valid without a warning", async () => {
  expect(await cli.run("init", ".")).toMatchObject({ code: 0, out: expect.stringContaining("  harness.md\n") });
  expect(files(cli.workspace)).toEqual([
    ".harness/",
    ".harness/hooks/",
    ".harness/hooks/block_dangerous_commands.md",
    ".harness/hooks/detect_secrets.md",
    ".harness/tools/",
    ".harness/tools/get_current_folder.md",
    ".harness/tools/list_files.md",
    ".harness/tools/read_file.md",
    ".harness/tools/write_file.md",
    "harness.md",
  ]);
  expect(readFileSync(join(cli.workspace, "harness.md"), "utf8")).toContain("# workspace\n");
  const { code, out } = await cli.run("validate");
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^✅ harness\.md valid\n {3}4 tools, 2 hooks, 0 agents \(\d+ ms\)\n$/),
  });
});

test.each([
  ["init", "fs.read fs.write fs.list fs.move fs.remove", "read_file write_file list_files get_current_folder"],
  ["scaffold", "fs.read fs.write fs.move fs.remove", "read_file write_file fs.list"],
])("%s shows the model one tool for each job", async (command, hidden, shown) => {
  const folder = command === "init" ? "." : "new";
  expect(await cli.run(command, ...(command === "init" ? [] : [folder]))).toMatchObject({ code: 0 });
  const listed = (await cli.json("tools", "--config", join(folder, "harness.md"))) as {
    name: string;
    visible: boolean;
  }[];
  const offered = listed.filter((tool) => tool.visible).map(({ name }) => name);
  expect(offered).toEqual(expect.arrayContaining(shown.split(" ")));
  expect(offered.filter((name) => hidden.split(" ").includes(name))).toEqual([]);
  const { out } = await cli.run("run", "--cwd", folder, "--list-tools");
  for (const name of hidden.split(" ")) expect(out).not.toMatch(new RegExp(`^${name} `, "m"));
});

test("the offline model lists and reads with the tools of a new project", async () => {
  await cli.run("init");
  cli.put("notes.txt", "remember the milk");
  const run = (text: string) => cli.run("run", "--model", "scripted:offline", text);
  expect((await run("list files")).out).toContain("notes.txt");
  expect((await run("read notes.txt")).out).toContain("remember the milk");
});

test("init takes a name, leaves what is there, and refuses where a project is", async () => {
  cli.put(".harness/tools/read_file.md", "mine");
  expect(await cli.run("init", "R&D $& {{name}}")).toMatchObject({
    code: 0,
    out: expect.stringContaining("Left as they were:\n  .harness/tools/read_file.md\n"),
  });
  expect(readFileSync(join(cli.workspace, ".harness/tools/read_file.md"), "utf8")).toBe("mine");
  expect(readFileSync(join(cli.workspace, "harness.md"), "utf8")).toContain("# R&D $& {{name}}\n");
  const again = await cli.run("init");
  expect(again).toMatchObject({ code: 1, out: "", err: expect.stringContaining("AlreadyExists") });
});

test.each(["harness.yaml", "harness.yml"])("init refuses where there is a %s", async (name) => {
  cli.put(name, "");
  expect(await cli.run("init")).toMatchObject({ code: 1, err: expect.stringContaining(name) });
  expect(files(cli.workspace)).toEqual([name]);
});

test("init refuses where harness.md is a link that leads nowhere", async () => {
  symlinkSync("gone", join(cli.workspace, "harness.md"));
  expect(await cli.run("init")).toMatchObject({ code: 1 });
  expect(files(cli.workspace)).toEqual(["harness.md"]);
});

test("scaffold makes a new folder with a project that is valid without a warning, and overwrites nothing", async () => {
  expect(await cli.run("scaffold", "my-agent")).toMatchObject({
    code: 0,
    err: "Next: cd my-agent, harness validate, harness run\n",
  });
  expect(files(join(cli.workspace, "my-agent"))).toEqual([
    ".harness/",
    ".harness/agents/",
    ".harness/hooks/",
    ".harness/hooks/safety.md",
    ".harness/tools/",
    ".harness/tools/read_file.md",
    ".harness/tools/write_file.md",
    "harness.md",
  ]);
  const { code, out } = await cli.run("validate", "--config", "my-agent/harness.md");
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^✅ harness\.md valid\n {3}2 tools, 1 hook, 0 agents \(\d+ ms\)\n$/),
  });
  expect(await cli.run("scaffold", "my-agent")).toMatchObject({
    code: 1,
    err: expect.stringContaining("AlreadyExists"),
  });
  mkdirSync(join(cli.workspace, "empty"));
  expect(await cli.run("scaffold", "empty")).toMatchObject({ code: 1 });
  expect(files(join(cli.workspace, "empty"))).toEqual([]);
});

test.each([
  [["scaffold"], 2],
  [["scaffold", "no/parent"], 2],
  [["scaffold", "a\nb"], 2],
  [["init", "a/b"], 2],
  [["init", "x".repeat(101)], 2],
  [["init", "a", "b"], 2],
])("%j is exit %i and writes nothing", async (args, code) => {
  expect(await cli.run(...args)).toMatchObject({ code, out: "" });
  expect(existsSync(join(cli.workspace, "harness.md"))).toBe(false);
  expect(files(cli.workspace)).toEqual([]);
});

test("init --ci writes a workflow into a project that is there, once, and its commands are ours", async () => {
  cli.put("harness.md", "---\n---\n");
  expect(await cli.run("init", "--ci")).toMatchObject({
    code: 0,
    out: expect.stringContaining("  .github/workflows/evals.yml\n"),
  });
  const workflow: unknown = parse(readFileSync(join(cli.workspace, ".github/workflows/evals.yml"), "utf8"));
  const commands = JSON.stringify(workflow).match(/npx --no -- harness [^"]+/g) ?? [];
  expect(commands).toHaveLength(2);
  cli.put(
    "evals/testdata/01.yaml",
    "name: hello\nsetup:\n  scenario:\n    name: hello\n    rules: []\n    otherwise: [{ text: hi }]\nturns: [{ content: hi }]\ngrade: [{ type: no_errors }]\n",
  );
  await ackProject(cli);
  for (const command of commands) {
    expect(await cli.run(...command.split(" ").slice(4))).toMatchObject({ code: 0 });
  }
  expect(files(cli.workspace)).toEqual(
    expect.arrayContaining(["evals.xml", "evals-live.xml", "eval-logs/hello.jsonl"]),
  );
  expect(await cli.run("init", "--ci")).toMatchObject({ code: 1, err: expect.stringContaining("AlreadyExists") });
});
