/** Skills: the open format as it is written in public, what is refused and why, and what reaches the model when. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { skillList, skillsOf } from "#artifacts";
import { calls, says } from "./fakes/harness-rig.ts";
import { createInProcessCli } from "./fakes/in-process-cli.ts";
import { createProjectFolder, problemLines } from "./fakes/project-folder.ts";
import { createProjectRig } from "./fakes/project-rig.ts";

const skill = (name: string, head = "", body = "Do it."): string =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${head}---\n\n${body}\n`;

/** Heads as public collections have them. */
const VALID_HEADS = [
  "",
  "license: MIT\n",
  "license: Complete terms in LICENSE.txt\n",
  "compatibility: Needs git and Node 24\n",
  "metadata:\n  author: ada\n  version: '1.0'\n",
  "metadata:\n  tags: [a, b]\n",
  "allowed-tools: Read Grep\n",
  "allowed-tools: Bash(git:*), Read\n",
  "allowed-tools:\n  - Read\n  - Bash(npm run test:*)\n",
  "model: inherit\ndisable-model-invocation: true\n",
  "version: 1.2.0\nauthor: Ada\n",
  "argument-hint: '[file]'\nuser-invocable: false\n",
  "triggers:\n  files: ['*.sql']\n  keywords: [database]\n",
  "# a comment\n",
  // What YAML refuses and other agents read.
  "argument-hint: [file] [line]\n",
  "compatibility: Needs: git and jq\n",
  "when_to_use: `release` or @tag\n",
];
const VALID_BODIES = [
  "Do it.",
  "",
  "# Kopf\n\nÜberprüfe ä.",
  "使い方\n",
  "```sh\nscripts/run.sh\n```",
  "See [x](references/x.md).",
];
const FOLDERS = [".claude/skills", ".agents/skills", ".harness/skills"];

const INVALID: readonly (readonly [name: string, text: string, code: string])[] = [
  ["Upper", skill("Upper"), "wrong-value"],
  ["two--hyphens", skill("two--hyphens"), "wrong-value"],
  ["-start", skill("-start"), "wrong-value"],
  ["under_score", skill("under_score"), "wrong-value"],
  ["x".repeat(65), skill("x".repeat(65)), "wrong-value"],
  ["other-name", skill("another-name"), "skill-folder"],
  ["no-head", "Just text.\n", "frontmatter-missing"],
  ["open-head", "---\nname: open-head\n", "frontmatter-unclosed"],
  ["no-description", "---\nname: no-description\n---\n", "missing-key"],
  ["long", `---\nname: long\ndescription: ${"x".repeat(1025)}\n---\n`, "wrong-value"],
  ["a-list", "---\n- name\n---\n", "not-a-map"],
  ["bomb", `---\na: &a [x,x,x]\nb: &b [*a,*a]\nname: bomb\ndescription: *b\n---\n`, ""],
  ["huge", skill("huge", "", "x".repeat(10_000_000)), "too-large"],
  ["deep", skill("deep", `metadata: { k: ${"[".repeat(5_000)}${"]".repeat(5_000)} }\n`), ""],
  [
    "laughs",
    `---\n${[..."abcdefghi"].map((one, at) => `${one}: &${one} [${at === 0 ? "x" : `${`*${"abcdefghi"[at - 1]},`.repeat(9)}`}]`).join("\n")}\nname: laughs\ndescription: x\n---\n`,
    "too-many-values",
  ],
  ["control", '---\nname: control\ndescription: "a\\x1b[2Jb"\nallowed-tools: 7\n---\n', ""],
  ["huge-head", skill("huge-head", `metadata: { k: ${"x".repeat(40_000)} }\n`), "too-large"],
  ["not-text", "---\nname: not-text\ndescription: a\0b\n---\n", "not-text"],
];

test("100 skills in the shapes of public collections load", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => {
      const name = `skill-${index}`;
      const text = skill(name, VALID_HEADS[index % VALID_HEADS.length], VALID_BODIES[index % VALID_BODIES.length]);
      const folder = FOLDERS[index % FOLDERS.length];
      return [`${folder}/${name}/SKILL.md`, index % 7 === 0 ? `\uFEFF${text.replaceAll("\n", "\r\n")}` : text];
    }),
  );
  const loaded = await createProjectFolder(files).load();
  expect(problemLines(loaded)).toEqual([]);
  expect(loaded.project && skillsOf(loaded.project)).toHaveLength(100);
});

test.each(INVALID)("%s is left out and says why", async (name, text, code) => {
  const folder = createProjectFolder({
    [`.claude/skills/${name}/SKILL.md`]: text,
    ".claude/skills/good/SKILL.md": skill("good"),
  });
  const loaded = await folder.load();
  expect(loaded.project && skillsOf(loaded.project).map((one) => one.name)).toEqual(["good"]);
  expect(loaded.project?.leftOut).toMatchObject([{ kind: "skill", why: "broken" }]);
  expect(problemLines(loaded).join("\n")).toContain(code);
  expect(loaded.problems[0]?.message).toContain("Harness leaves the file out.");
});

test("a link out of the project is not followed; a folder that links inside it is", async () => {
  const folder = createProjectFolder({ ".agents/skills/shared/SKILL.md": skill("shared"), ".claude/skills/x": "" });
  symlinkSync("/etc", join(folder.root, ".claude/skills/etc"));
  symlinkSync("/etc/hostname", join(folder.root, ".agents/skills/shared.md"));
  symlinkSync(join(folder.root, ".agents/skills/shared"), join(folder.root, ".claude/skills/shared"));
  const { project } = await folder.load();
  expect(project && skillsOf(project).map(({ file }) => file)).toEqual([".agents/skills/shared/SKILL.md"]);
});

test("of two with one name, .harness beats .agents beats .claude", async () => {
  const files = Object.fromEntries(FOLDERS.map((folder) => [`${folder}/one/SKILL.md`, skill("one", "", folder)]));
  const { project } = await createProjectFolder(files).load();
  expect(project && skillsOf(project).map(({ body }) => body)).toEqual([".harness/skills"]);
});

test("the list in the prompt has at most 4,000 tokens and says how many are left", () => {
  const skills = Array.from({ length: 200 }, (_, index) => ({
    ...{
      name: `skill-${index}`,
      description: "word ".repeat(60),
      body: "",
      file: "",
      folder: "",
      origin: "project" as const,
    },
    triggers: { files: [], keywords: [] },
  }));
  const list = skillList(skills);
  expect(list.length).toBeLessThan(16_100);
  expect(list).toMatch(/\(\d+ more skills: find them with skill\(search\)\)$/);
});

describe("the tool", () => {
  test("is there with a skill, gives its text and files of its folder, and nothing outside", async () => {
    const rig = await createProjectRig(
      {
        ".claude/skills/one/SKILL.md": skill("one", "", "BODY-OF-ONE"),
        ".claude/skills/one/references/more.md": "MORE",
        "secret.md": "SECRET",
      },
      [
        calls(["skill", { name: "one" }]),
        calls(["skill", { name: "one", file: "references/more.md" }]),
        calls(["skill", { name: "one", file: "../../../secret.md" }]),
        calls(["skill", { name: "one", file: "link.md" }]),
        calls(["skill", { search: "does" }]),
        says("done"),
      ],
    );
    symlinkSync(join(rig.workspace.root, "secret.md"), join(rig.workspace.root, ".claude/skills/one/link.md"));
    await rig.send();
    const results = rig.results();
    expect(results[0]).toContain("BODY-OF-ONE");
    expect(results.join("\n")).toContain("MORE");
    expect(results.filter((text) => text.includes("is not in the folder of the skill one"))).toHaveLength(2);
    expect(results.at(-1)).toContain("- one: Does one.");
    const [first, second] = rig.vendor.requests.map(({ body }) => JSON.stringify(body));
    expect(first).toContain("- one: Does one.");
    expect(first).not.toContain("BODY-OF-ONE");
    expect(second).toContain("BODY-OF-ONE");
  });

  test("is absent without one", async () => {
    const rig = await createProjectRig({ "harness.md": "---\n---\n\nBe brief.\n" }, [says("done")]);
    await rig.send();
    expect(JSON.stringify(rig.vendor.requests[0]?.body)).not.toContain('"skill"');
  });
});

test("/skills:NAME is an input, /skills:reload looks at the disk, and a change of the skills is published", async () => {
  const rig = await createProjectRig({ ".claude/skills/one/SKILL.md": skill("one") }, [says("a")]);
  const run = (name: string, args = {}) => rig.submit({ kind: "RunSlashCommand", namespace: "skills", name, args });
  expect(await run("one", { text: "now" })).toMatchObject({
    result: { input: "Read the skill one with the tool skill, and follow it. now" },
  });
  rig.write(".claude/skills/two/SKILL.md", skill("two"));
  expect(await run("reload")).toMatchObject({ result: { text: "2 skills." } });
  expect(rig.of("SkillRegistryChanged")).toEqual([{ skills: ["one", "two"] }]);
  expect(rig.harness.slashCommands(rig.session)).toMatchObject(
    expect.arrayContaining([expect.objectContaining({ namespace: "skills", name: "two" })]),
  );
  await expect(run("three")).rejects.toThrow("there is no /skills:three");
  rig.write(".claude/skills/three/SKILL.md", "no head");
  const broken = "  .claude/skills/three/SKILL.md: broken. harness skills validate says why.";
  expect(await run("reload")).toMatchObject({ result: { text: `2 skills.\n${broken}` } });
});

describe("harness skills", () => {
  test("new, validate, list and show", async () => {
    const cli = createInProcessCli({}, "a");
    expect(await cli.run("skills", "list")).toMatchObject({ code: 0, out: expect.stringContaining("no skills here") });
    expect(await cli.run("skills", "new", "Wrong_Name")).toMatchObject({ code: 2 });
    expect(await cli.run("skills", "new", "deploy")).toMatchObject({ code: 0 });
    expect(await cli.run("skills", "new", "deploy")).toMatchObject({ code: 2 });
    cli.put(".claude/skills/bad/SKILL.md", "no head");
    const { code, out, err } = await cli.run("skills", "validate");
    expect({ code, out }).toEqual({ code: 1, out: "1 valid, 1 invalid.\n" });
    expect(err).toContain(".claude/skills/bad/SKILL.md:1:1: The skill does not begin with frontmatter.");
    expect((await cli.run("skills", "list")).out).toMatch(/deploy .*needs your ack/);
    expect((await cli.run("context")).out).toMatch(/⚪ {2}skills +deploy .*needs your ack/);
    expect(await cli.run("ack")).toMatchObject({ code: 0 });
    expect(await cli.json("skills", "list")).toMatchObject({
      skills: expect.arrayContaining([
        expect.objectContaining({ name: "deploy", source: ".harness/skills/deploy/SKILL.md" }),
        expect.objectContaining({ name: "bad", left_out: expect.stringContaining("broken") }),
      ]),
    });
    expect((await cli.run("skills", "show", "deploy")).out).toContain("1. The first step.");
    expect(await cli.run("skills", "show", "deplo")).toMatchObject({
      code: 2,
      err: expect.stringContaining("deploy?"),
    });
  });
});

test("an input for a skill begins as /skills:NAME would, raises it, and is refused for one that is not there", async () => {
  const rig = await createProjectRig({ ".harness/skills/one/SKILL.md": skill("one") }, [says("a"), says("b")]);
  const content = [{ type: "text" as const, text: "the shop" }];
  const { done } = await rig.submit({ kind: "SendInput", content, skill: "one" });
  await done;
  const [started] = rig.of("TurnStarted");
  expect(started?.content).toEqual([
    { type: "text", text: "Read the skill one with the tool skill, and follow it." },
    { type: "text", text: "the shop" },
  ]);
  expect(JSON.stringify(rig.vendor.requests[0]?.body)).toContain("[matches this session]");
  for (const name of ["two", "reload"]) {
    const refused = rig.submit({ kind: "SendInput", content, skill: name });
    await expect(refused).rejects.toMatchObject({ message: expect.stringContaining(`there is no skill '${name}'`) });
  }
  await rig.submit({ kind: "QueueInput", content, skill: "one" });
  await expect.poll(() => rig.of("TurnStarted").length).toBe(2);
});
