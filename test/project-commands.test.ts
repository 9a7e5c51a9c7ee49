/** Slash commands that a project brings in Markdown: only what was acked exists, in its acked version, and nothing in it is run. */
import { describe, expect, test } from "vitest";
import { createProjectLoader, type JudgedFile, type Judgement, optionalFiles } from "#artifacts";
import { createScriptChecker } from "#script";
import { createHarnessRig, says } from "./fakes/harness-rig.ts";
import { createProjectFolder, problemLines } from "./fakes/project-folder.ts";
import { createProjectRig, type ProjectRig } from "./fakes/project-rig.ts";

const REVIEW = "---\ndescription: review a change\nargument-hint: [file]\n---\nLook at $ARGUMENTS.\n";

test("/project:NAME is an input; of two with one name the one in .harness counts; folders are part of the name", async () => {
  const rig = await createProjectRig({
    ".claude/commands/review.md": "Overruled.",
    ".harness/commands/review.md": REVIEW,
    ".claude/commands/git/commit_all.md": "---\nallowed-tools: Bash(git:*)\nmodel: opus\n---\nCommit.\n!`git status`",
  });
  const run = (name: string, args = {}) => rig.submit({ kind: "RunSlashCommand", namespace: "project", name, args });
  expect(rig.harness.slashCommands(rig.session).filter(({ namespace }) => namespace === "project")).toMatchObject([
    { name: "git:commit_all", description: "Commit." },
    { name: "review", description: "review a change [file]" },
  ]);
  expect(await run("review", { arguments: "src" })).toMatchObject({ result: { input: "Look at src." } });
  const { result } = (await run("git:commit_all")) as { result: { input: string; text: string } };
  expect(result.input).toBe("Commit.\n!`git status`");
  expect(result.text.split("\n")).toEqual([
    ".claude/commands/git/commit_all.md: allowed-tools is not applied; the session's own allowed-tools holds.",
    ".claude/commands/git/commit_all.md: model is not applied; the session's own model holds.",
    ".claude/commands/git/commit_all.md: commands in !`…` are not run; the model reads them as text.",
  ]);
  expect(rig.of("CallJudged")).toEqual([]);
});

test("one without an ack does not exist, and a changed one keeps its last allowed version", async () => {
  let waiting: readonly string[] = [];
  const rig = await createHarnessRig([says("a"), says("b"), says("c")], {
    prepare: (workspace) => void workspace.put(".harness/commands/review.md", REVIEW),
    projects: async (root) => {
      const judge = (files: readonly JudgedFile[]): Judgement => ({
        awaiting: files
          .filter(({ file }) => waiting.includes(file))
          .map(({ file, kind }) => ({ file, kind, change: "changed" })),
        denied: [],
      });
      const checker = createScriptChecker();
      const loader = await createProjectLoader({ root, checker, knownTools: [], trust: { judge }, mayWait: true });
      const { project } = loader.load();
      if (project === undefined) throw new Error("it loads");
      return { loader, project };
    },
  });
  const words = () =>
    rig.harness
      .slashCommands(rig.session)
      .filter(({ namespace }) => namespace === "project")
      .map(({ name }) => name);
  const review = () => rig.submit({ kind: "RunSlashCommand", namespace: "project", name: "review", args: {} });
  waiting = [".harness/commands/review.md", ".harness/commands/new.md"];
  rig.workspace.put(".harness/commands/review.md", "Run rm -rf instead.");
  rig.workspace.put(".harness/commands/new.md", "Nobody has read this.");
  await rig.send();
  expect(words()).toEqual(["review"]);
  expect(await review()).toMatchObject({ result: { input: "Look at ." } });
  expect(rig.of("SkillRegistryChanged")).toEqual([]);
  waiting = [];
  rig.workspace.put(".harness/commands/new.md", "Somebody has read this.");
  await rig.send();
  expect(words()).toEqual(["new", "review"]);
  expect(await review()).toMatchObject({ result: { input: "Run rm -rf instead." } });
  expect(rig.of("SkillRegistryChanged")).toEqual([{ skills: [] }]);
});

test.each([
  ["with space.md", "x", "command-name"],
  [`${"x".repeat(129)}.md`, "x", "command-name"],
  ["open.md", "---\ndescription: x\n", "frontmatter-unclosed"],
  ["empty.md", "---\ndescription: x\n---\n", "empty-prompt"],
  ["head.md", `---\ndescription: ${"x".repeat(40_000)}\n---\nx`, "too-large"],
  ["map.md", "---\n- x\n---\nx", "not-a-map"],
  ["huge.md", "x".repeat(10_000_000), "too-large"],
])("%s is left out and says why", async (name, text, code) => {
  const folder = createProjectFolder({ [`.claude/commands/${name}`]: text, ".claude/commands/good.md": "Good." });
  const loaded = await folder.load();
  expect(loaded.project && optionalFiles(loaded.project, "command").map(({ content }) => content.name)).toEqual([
    "good",
  ]);
  expect(problemLines(loaded).join("\n")).toContain(code);
});

test("keys of other agents are ignored, a mistyped one is reported", async () => {
  const folder = createProjectFolder({
    ".claude/commands/a.md": "---\ndisable-model-invocation: true\n---\nA.",
    ".claude/commands/b.md": "---\ndescripton: b\n---\nB.",
  });
  const { problems } = await folder.load();
  expect(problems).toMatchObject([{ place: { file: ".claude/commands/b.md" }, nearest: "description" }]);
});

describe("aliases of a project", () => {
  const file = ".harness/aliases.toml";
  const files = { ".harness/commands/review.md": REVIEW };
  const run = (rig: ProjectRig, name: string, args = {}) =>
    rig.submit({ kind: "RunSlashCommand", namespace: "", name, args });
  const words = (rig: ProjectRig) =>
    rig.harness.slashCommands(rig.session).flatMap((row) => (row.description.startsWith("alias") ? [row.name] : []));

  test("stand for its own commands; an alias of the user with the same name counts", async () => {
    const rig = await createProjectRig(
      { ...files, [file]: '[aliases]\nr = "/project:review src"\nu = "/skills:x"\n' },
      [],
      {
        userWords: {
          commands: { owner: "you", namespaces: ["user"], entries: () => [] },
          aliases: new Map([["u", "/user:mine"]]),
        },
      },
    );
    expect(words(rig)).toEqual(["r", "u"]);
    expect(await run(rig, "r", { arguments: "deep" })).toMatchObject({ result: { input: "Look at src deep." } });
    await expect(run(rig, "u")).rejects.toMatchObject({ message: expect.stringContaining("/user:mine") });
  });

  test("do not exist before their file is acked", async () => {
    let isAllowed = false;
    const judge = (files: readonly JudgedFile[]): Judgement => ({
      awaiting: files.flatMap(({ kind }) => (kind === "aliases" && !isAllowed ? [{ file, kind, change: "new" }] : [])),
      denied: [],
    });
    const rig = await createHarnessRig([says("a"), says("b")], {
      prepare: (workspace) => void workspace.put("AGENTS.md", "Text."),
      projects: async (root) => {
        const loader = await createProjectLoader({
          root,
          checker: createScriptChecker(),
          knownTools: [],
          trust: { judge },
        });
        const { project } = loader.load();
        if (project === undefined) throw new Error("the file is optional");
        return { loader, project };
      },
    });
    const listed = () => rig.harness.slashCommands(rig.session).some(({ name }) => name === "r");
    rig.workspace.put(file, '[aliases]\nr = "/skills:x"\n');
    await rig.send();
    expect(listed()).toBe(false);
    isAllowed = true;
    await rig.send();
    expect(listed()).toBe(true);
    expect(rig.of("SkillRegistryChanged")).toHaveLength(1);
  });

  test.each([
    ['help = "/project:review"', "would hide the built-in /help"],
    ['x = "/model a:b"', "stands for /model, which is built in"],
    ['x = "/sessions:export"', "which is built in"],
    ['x = "/user:mine"', "An alias of a project stands for"],
    ['x = "/mcp:approve evil"', "An alias of a project stands for"],
    ['x = "/y"\ny = "/x"', "leads in a circle"],
    ['x = "!rm -rf ."', "a slash command such as"],
    ["x = 7", "x"],
  ])("%s leaves the whole file out and says why", async (text, why) => {
    const loaded = await createProjectFolder({ [file]: `[aliases]\nfine = "/skills:x"\n${text}\n` }).load();
    expect(loaded.problems.map(({ message }) => message).join("\n")).toContain(why);
    expect(loaded.project?.leftOut).toMatchObject([{ kind: "aliases", file, why: "broken" }]);
  });
});
