import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createInProcessCli } from "../../test/fakes/in-process-cli.ts";

const TABS = [
  "memory",
  "add",
  "tabs",
  "--description",
  "Prefers tabs",
  "--tags",
  "style, Coding Style",
  "--body",
  "Also YAML.",
];

test("a memory is added, listed, shown, edited and found", async () => {
  const cli = createInProcessCli();
  expect((await cli.run("memory", "list")).out).toContain("There are no memories here");
  expect(await cli.run(...TABS, "--scope", "user")).toMatchObject({ code: 0, out: "Written: the user memory tabs.\n" });
  const { out } = await cli.run("memory", "list");
  expect(out).toMatch(/tabs +user +long-term +user +style,coding-style +Prefers tabs/);
  expect((await cli.run("memory", "edit", "tabs", "--tier", "core")).code).toBe(0);
  expect(await cli.json("memory", "show", "tabs", "--json")).toMatchObject({
    ...{ name: "tabs", scope: "user", tier: "core", description: "Prefers tabs", body: "Also YAML." },
    ...{ tags: ["style", "coding-style"], source: "a person", labels: [] },
  });
  expect((await cli.run("memory", "edit", "tabs", "--keywords", "how wide, reformat ")).code).toBe(0);
  expect((await cli.run("memory", "show", "tabs")).out).toContain("Keywords: how wide, reformat\n");
  expect((await cli.run("memory", "search", "which", "style?")).out).toContain("Prefers tabs");
  expect(await cli.run("memory", "search", "weather")).toMatchObject({ code: 0, out: "No memory matches.\n" });
});

test("what was forgotten comes back with undo, unless it was forgotten for good", async () => {
  const cli = createInProcessCli();
  await cli.run(...TABS);
  expect((await cli.run("memory", "forget", "tabs")).out).toContain("Forgotten: the project memory tabs");
  expect((await cli.run("memory", "undo")).out).toBe("tabs: its earlier version is back.\n");
  expect((await cli.run("memory", "forget", "tabs", "--for-good")).code).toBe(0);
  expect(await cli.run("memory", "undo")).toMatchObject({ code: 1, err: expect.stringContaining("NothingToUndo") });
});

test.each([
  ["a name that is taken", TABS, "harness memory edit tabs"],
  ["no description", ["memory", "add", "x"], "--description is missing"],
  ["a name that cannot be used", ["memory", "add", "../x", "--description", "x"], "../x"],
  ["a tag that cannot be used", ["memory", "add", "x", "--description", "x", "--tags", "<b>"], "<b>"],
  ["nothing to change", ["memory", "edit", "tabs"], "name what to change"],
  ["an unknown name", ["memory", "show", "tab"], "did you mean tabs?"],
  ["a wrong type", ["memory", "add", "x", "--description", "x", "--type", "root"], "Allowed choices"],
])("%s is refused with what to do", async (_, args, why) => {
  const cli = createInProcessCli();
  await cli.run(...TABS);
  const { code, err } = await cli.run(...args);
  expect(code).not.toBe(0);
  expect(err).toContain(why);
  expect(await cli.json("memory", "list", "--json")).toMatchObject({ memories: [{ name: "tabs" }] });
});

test("a secret is refused, and is nowhere on the disk", async () => {
  const cli = createInProcessCli();
  const key = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
  const { code, err } = await cli.run("memory", "add", "x", "--description", `token ${key}`);
  expect(code).toBe(1);
  expect(err).toContain("must not hold a secret");
  expect(err).not.toContain(key);
  const folder = join(cli.env.HOME ?? "", ".local/share/harness/memory");
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  expect(files.filter((entry) => entry.isFile())).toEqual([]);
});

test("files that cannot be read are listed with the reason, those of a repository too", async () => {
  const cli = createInProcessCli();
  await cli.run(...TABS, "--scope", "user");
  writeFileSync(join(cli.env.HOME ?? "", ".local/share/harness/memory/user/long-term/bad.md"), "x", { mode: 0o600 });
  cli.put(".harness/memory/core/good.md", "---\ndescription: Ours\n---\n");
  cli.put(".harness/memory/core/worse.md", "---\ntags: x\n---\n");
  const { out, err } = await cli.run("memory", "list");
  expect(out).not.toContain("good");
  expect(err).toContain("bad.md:1: The memory does not begin with frontmatter");
  expect(err).toContain("good.md: it needs your ack: harness ack");
  expect(err).toContain("worse.md: it ");
});

test("each project has its own, those of the user are everywhere", async () => {
  const cli = createInProcessCli();
  mkdirSync(join(cli.workspace, "other"));
  await cli.run(...TABS);
  await cli.run("memory", "add", "everywhere", "--description", "x", "--scope", "user");
  const names = async (...args: string[]) => {
    const listed = (await cli.json("memory", "list", "--json", ...args)) as { memories: { name: string }[] };
    return listed.memories.map(({ name }) => name);
  };
  expect(await names()).toEqual(["everywhere", "tabs"]);
  expect(await names("--dir", "other")).toEqual(["everywhere"]);
  rmSync(join(cli.workspace, "other"), { recursive: true });
});

test("harness context shows memories and sources, and why each would join or not", async () => {
  const cli = createInProcessCli();
  cli.put(
    "harness.md",
    `---
context:
  sources:
    - { name: notes, file: notes.md, required: true }
    - { name: head, command: git log }
    - { name: mode, starlark: '"in review"', when: 'ctx.get("mode") == "review"' }
---
You are the agent.
`,
  );
  cli.put("notes.md", "Say moo.");
  await cli.run(...TABS);
  await cli.run("memory", "add", "core", "--description", "Always", "--tier", "core");
  const rows = async (...args: string[]) => {
    const { sections } = (await cli.json("context", "--json", ...args)) as { sections: Record<string, unknown>[] };
    return sections.filter(({ kind }) => kind === "memory" || kind === "source");
  };
  const section = (name: string, active: boolean, why: object) => expect.objectContaining({ name, active, ...why });
  expect(await rows()).toEqual([
    section("notes", true, { text: "Say moo.", note: "file, once for each session, at most 1000 tokens, required" }),
    section("head", false, { hidden: "a turn runs it, if a rule allows it: git log" }),
    section("mode", false, { hidden: "its condition is false" }),
    section("project/core", true, { note: "core memory" }),
    section("1 more", false, { hidden: "chosen by the input of each turn: see --input TEXT" }),
  ]);
  const chosen = await rows("--set", "mode=review", "--input", "which style?");
  expect(chosen.slice(2)).toEqual([
    section("mode", true, { text: "in review" }),
    section("project/core", true, { note: "core memory" }),
    section("project/tabs", true, { note: "tags: style" }),
  ]);
});
