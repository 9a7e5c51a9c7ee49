/** Skills from outside a project: those that ship with the program and those of the user; and what raises a skill. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { skillList, skillsOf, withOwnSkills } from "#artifacts";
import { loadOwnSkills } from "../src/program/user-skills.ts";
import { calls, says } from "./fakes/harness-rig.ts";
import { createInProcessCli, type InProcessCli } from "./fakes/in-process-cli.ts";
import { openProjects } from "./fakes/open-projects.ts";
import { createProjectFolder } from "./fakes/project-folder.ts";
import { createProjectRig } from "./fakes/project-rig.ts";
import { quietCliPorts } from "./fakes/quiet-cli-ports.ts";

const BUILT_IN = ["bisect-failure", "review-change", "write-eval", "write-hook", "write-policy", "write-tool"];

const skill = (name: string, head = "", body = "Do it."): string =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${head}---\n\n${body}\n`;

function putUserSkill({ env }: Pick<InProcessCli, "env">, name: string, text: string): string {
  const file = join(env.HOME ?? "", ".config/harness/skills", name, "SKILL.md");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o644 });
  return file;
}

const portsOf = (env: Readonly<Record<string, string>>) => quietCliPorts({ out: "", err: "" }, { env, cwd: "/" });

describe("the built-in pack", () => {
  test("loads without a problem, and is not in the prompt until something raises it", async () => {
    const cli = createInProcessCli();
    const own = await loadOwnSkills(portsOf(cli.env));
    expect(own?.problems).toEqual([]);
    const loaded = withOwnSkills(await createProjectFolder({}).load(), own ?? { files: [], leftOut: [], problems: [] });
    const skills = loaded.project === undefined ? [] : skillsOf(loaded.project);
    expect(skills.map(({ name }) => name)).toEqual(BUILT_IN);
    expect(skillList(skills)).toBe("");
    expect(skillList(skills, new Set(["write-hook"]))).toMatch(/^- write-hook: .*\[matches this session\]$/);
    for (const { body } of skills) expect(body.length).toBeLessThan(4_000);
  });

  test("what its examples write is a valid project, and its eval passes", async () => {
    const cli = createInProcessCli({}, "a");
    const own = await loadOwnSkills(portsOf(cli.env));
    const examples = (own?.files ?? []).flatMap(({ content }) => [
      ...content.body.matchAll(/^ {3}```\w+ title=(\S+)\n([\s\S]*?)^ {3}```$/gm),
    ]);
    expect(examples).toHaveLength(4);
    for (const [, file = "", text = ""] of examples) cli.put(file, text.replaceAll(/^ {3}/gm, ""));
    expect(await cli.run("validate")).toMatchObject({
      code: 0,
      err: "",
      out: expect.stringContaining("1 tool, 1 hook"),
    });
    expect(await cli.run("eval")).toMatchObject({ code: 0, out: expect.stringContaining("1 passed of 1") });
  });
});

describe("skills of the user", () => {
  test("win over built-in ones and lose against those of the project", async () => {
    const cli = createInProcessCli({}, "a");
    const file = putUserSkill(cli, "write-hook", skill("write-hook", "", "MINE"));
    putUserSkill(cli, "deploy", skill("deploy", "", "MINE"));
    cli.put(".harness/skills/deploy/SKILL.md", skill("deploy", "", "PROJECT"));
    await cli.run("ack");
    expect(await cli.json("skills", "list")).toMatchObject({
      skills: expect.arrayContaining([
        expect.objectContaining({ name: "deploy", source: ".harness/skills/deploy/SKILL.md" }),
        expect.objectContaining({ name: "write-hook", source: file }),
        expect.objectContaining({ name: "write-tool", source: "built-in" }),
      ]),
    });
    expect((await cli.run("skills", "show", "write-hook")).out).toContain("MINE");
  });

  test("are in the prompt of an empty folder without an ack", async () => {
    const cli = createInProcessCli();
    putUserSkill(cli, "deploy", skill("deploy"));
    const { sections } = (await cli.json("context")) as { sections: { kind: string; name: string; text: string }[] };
    expect(sections.find(({ kind }) => kind === "skills")?.text).toContain("- deploy: Does deploy.");
    expect(sections.find(({ name }) => name === "skill")).toMatchObject({ kind: "tool", active: true });
  });

  test("are refused when others may write them, and left out with a warning when they are broken", async () => {
    const cli = createInProcessCli();
    const file = putUserSkill(cli, "deploy", "no head");
    expect(await cli.run("skills", "validate")).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        `${file}:1:1: The skill does not begin with frontmatter. Harness leaves the file out.`,
      ),
    });
    chmodSync(file, 0o666);
    expect(await cli.run("skills", "list")).toMatchObject({
      code: 2,
      err: expect.stringContaining("can be written by others"),
    });
  });
});

describe("triggers", () => {
  const files = {
    ".harness/skills/a-first/SKILL.md": skill("a-first"),
    ".harness/skills/sql/SKILL.md": skill("sql", "triggers: { files: ['*.sql'], keywords: [data base] }\n", "BODY"),
    "db/one.sql": "select 1",
    "db/one.txt": "select 1",
  };
  const raised = (body: unknown): boolean => JSON.stringify(body).includes("[matches this session]");

  test("whole words of an input raise a skill for the rest of the session, and load nothing", async () => {
    const rig = await createProjectRig(files, [says("a"), says("b"), says("c")]);
    await rig.send("the data basement");
    await rig.send("Ask the Data  Base, please");
    await rig.send("and now?");
    const bodies = rig.vendor.requests.map(({ body }) => body);
    expect(bodies.map(raised)).toEqual([false, true, true]);
    expect(JSON.stringify(bodies[1])).toMatch(
      /- sql: Does sql\. \(files: \*\.sql\) \[matches this session\]\\n- a-first/,
    );
    expect(JSON.stringify(bodies)).not.toContain("BODY");
  });

  test("a call that works on a matching file raises it; other files and words of the model do not", async () => {
    const rig = await createProjectRig(files, [
      calls(["fs.read", { path: "db/one.txt" }]),
      says("The data base says one."),
      calls(["fs.read", { path: "db/one.sql" }]),
      says("done"),
    ]);
    await rig.send("go");
    await rig.send("on");
    expect(rig.vendor.requests.map(({ body }) => raised(body))).toEqual([false, false, false, true]);
  });

  test("/skills:NAME offers a built-in skill, whose text comes from the tool", async () => {
    const own = await loadOwnSkills(portsOf(createInProcessCli().env));
    const rig = await createProjectRig(
      { "harness.md": "---\n---\n\nBe brief.\n" },
      [
        says("a"),
        calls(["skill", { name: "write-tool" }]),
        calls(["skill", { name: "write-tool", file: "x" }]),
        says("b"),
      ],
      {
        async projects(root) {
          const opened = await openProjects(root);
          const { project } =
            own === undefined || opened === undefined ? {} : withOwnSkills({ ...opened, problems: [] }, own);
          return opened && { ...opened, ...(project === undefined ? {} : { project }) };
        },
      },
    );
    await rig.send("hello");
    expect(JSON.stringify(rig.vendor.requests[0]?.body)).not.toContain('"skill"');
    await rig.submit({ kind: "RunSlashCommand", namespace: "skills", name: "write-tool", args: {} });
    await rig.send("Read it.");
    expect(rig.results()[0]).toMatch(/^\s*# Write a tool/);
    expect(rig.results()[1]).toContain("is not in this project: it has no other files");
  });
});
