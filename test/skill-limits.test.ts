/** `allowed-tools`: from reading a skill to the end of the turn, the intersection with what the session has, for delegates too. */
import { describe, expect, test } from "vitest";
import { namesTool, type RuleCall } from "../src/governance/rules.ts";
import { listsCall, skillToolRules } from "../src/governance/skill-tools.ts";
import { createDelegationRig } from "./fakes/delegation-rig.ts";
import { calls, says } from "./fakes/harness-rig.ts";
import { createProjectRig } from "./fakes/project-rig.ts";
import { agentFile, answers, delegates, HARNESS, makes } from "./fakes/roles.ts";

const skill = (name: string, allowed?: string): string =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${allowed === undefined ? "" : `allowed-tools: ${allowed}\n`}---\n\nDo ${name}.\n`;

const execCall = (command: string): RuleCall => ({
  ...{ tool: "exec", label: "Bash", class: "sensitive", subject: command, args: { command } },
});

type Rig = Awaited<ReturnType<typeof createProjectRig>>;
type Replies = Parameters<typeof createProjectRig>[1];

interface Sent {
  readonly tools: readonly { readonly function: { readonly name: string } }[];
}

const offered = (rig: Rig) =>
  rig.vendor.requests.map(({ body }) => (body as Sent).tools.map((tool) => tool.function.name));
const outcomes = (rig: Rig) => rig.of("ToolResult").map(({ name, outcome }) => `${name} ${outcome}`);
const reads = (name: string) => calls(["skill", { name }]);
const WRITE = calls(["fs.write", { path: "made", content: "x" }]);
const ALLOWED = ["Write", "Bash(touch *)", "Bash(git *)"].map((rule) => ({
  effect: "allow" as const,
  rule,
  source: "t",
}));

async function ran(skills: Readonly<Record<string, string | undefined>>, replies: Replies, input?: string) {
  const files = Object.fromEntries(
    Object.entries(skills).map(([name, allowed]) => [`.harness/skills/${name}/SKILL.md`, skill(name, allowed)]),
  );
  const rig = await createProjectRig({ "a.txt": "text", ...files }, replies, { settings: { permissions: ALLOWED } });
  await rig.send(input);
  return rig;
}

describe("a skill with allowed-tools", () => {
  test("leaves the agent with those and the tool skill until its turn ends", async () => {
    const read = calls(["fs_read", { path: "a.txt" }]);
    const rig = await ran({ look: "Read Grep" }, [reads("look"), read, WRITE, says("x"), WRITE, says("y")]);
    expect(outcomes(rig)).toEqual(["skill ok", "fs.read ok", "fs.write denied"]);
    expect(offered(rig)[0]).toContain("fs_write");
    expect(offered(rig)[1]).toEqual(["fs_read", "fs_search", "skill"]);
    expect(rig.of("CallJudged")).toMatchObject([{ judged: { effect: "deny", by: "skill look" } }]);
    await rig.send("and now?");
    expect(outcomes(rig).at(-1)).toBe("fs.write ok");
    expect(offered(rig).at(-1)).toEqual(offered(rig)[0]);
  });

  test.each([
    ["a pattern", "Bash(touch *)"],
    ["a pattern as Claude Code writes it", "Bash(touch:*), Read"],
  ])("is held to %s", async (_, allowed) => {
    const runs = (command: string) => calls(["exec", { command }]);
    const replies = [reads("look"), runs("touch one"), runs("ls"), runs("touch one; ls"), says("x")];
    const rig = await ran({ look: allowed }, replies);
    expect(outcomes(rig)).toEqual(["skill ok", "exec ok", "exec denied", "exec denied"]);
  });

  test.each([
    ["Bash(git *)", ["git --version", "git version", "git -C . status", "timeout 5 git log -1 2>&1"]],
    ["Bash(git:*)", ["git log --oneline -5", "git --version && git version", "git"]],
    ["Bash(npm run test *)", ["npm run test", "npm run test -- --watch=false"]],
    ["Bash(*)", ["ls -la"]],
    ["Bash", ["ls | head -1 > out.txt"]],
  ])("%s lists what its author means", (written, commands) => {
    const rules = skillToolRules(written, "SKILL.md");
    for (const command of commands) expect(listsCall(rules, execCall(command), "/w"), command).toBe(true);
  });

  test.each([
    [
      "Bash(git *)",
      ["gitk", "git log > log.txt", "git log | head", "git log; rm x", "git log $(rm x)", "PATH=. git log"],
    ],
    ["Bash(git *)", ["export PATH=.; git log", "sudo rm x", "git log <<< $(rm x)", "git 'unclosed"]],
    ["Bash(npm run test:*)", ["npm run testing", "npm run", "npm install"]],
    ["Read", ["cat a.txt"]],
    ["Bash(git", ["git status"]],
  ])("%s does not list what is something else", (written, commands) => {
    const rules = skillToolRules(written, "SKILL.md");
    for (const command of commands) expect(listsCall(rules, execCall(command), "/w"), command).toBe(false);
  });

  test.each([
    ["Read", ["fs.read"]],
    ["LS", ["fs.list"]],
    ["MultiEdit", ["fs.edit"]],
    ["Task", ["delegate", "delegate_async"]],
    ["TodoWrite", ["todos"]],
    ["mcp__shop__look_up", ["mcp.shop.look_up"]],
    ["mcp__shop", ["mcp.shop.anything"]],
    ["mcp__shop__*", ["mcp.shop.anything"]],
    ["mcp__my__shop__look", ["mcp.my__shop.look"]],
    ["fs.*", ["fs.read", "fs.write", "fs.list", "fs.edit"]],
    ["WebSearch", []],
    ["constructor", []],
  ])("%s names %j", (written, tools) => {
    const rules = skillToolRules(written, "SKILL.md");
    const known = [
      "fs.read",
      "fs.write",
      "fs.list",
      "fs.edit",
      "delegate",
      "delegate_async",
      "todos",
      "exec",
      "mcp.shop.look_up",
    ];
    for (const tool of [...known, ...tools]) {
      const isNamed = rules.some((rule) => namesTool(rule, { tool, label: tool }));
      expect(isNamed, tool).toBe(
        tools.includes(tool) || (/^mcp__shop(__\*)?$/.test(written) && tool.startsWith("mcp.shop.")),
      );
    }
  });

  test("holds as well when the agent reads its text, or another file of it, by the name of the file", async () => {
    for (const file of ["SKILL.md", "./SKILL.md", "references/a.md"]) {
      const files = {
        ".harness/skills/look/SKILL.md": skill("look", "Read"),
        ".harness/skills/look/references/a.md": "the reference",
      };
      const replies = [calls(["skill", { name: "look", file }]), WRITE, says("x")];
      const rig = await createProjectRig(files, replies, { settings: { permissions: ALLOWED } });
      await rig.send();
      expect(outcomes(rig).slice(-2)).toEqual(["skill ok", "fs.write denied"]);
    }
  });

  test("never allows what the session would not", async () => {
    const rig = await ran({ all: "Edit Bash(rm *) '*'".replaceAll("'", "") }, [
      reads("all"),
      calls(["exec", { command: "rm a.txt" }]),
      calls(["fs_edit", { path: "a.txt", old_text: "text", new_text: "other" }]),
      says("x"),
    ]);
    expect(rig.of("ToolResult").map(({ reason }) => reason)).toEqual([
      undefined,
      "PermissionDenied",
      "PermissionDenied",
    ]);
  });

  test("and another one leave what both list", async () => {
    const rig = await ran({ one: "Read Grep", two: "Read Write" }, [reads("one"), reads("two"), WRITE, says("x")]);
    expect(outcomes(rig)).toEqual(["skill ok", "skill ok", "fs.write denied"]);
    expect(offered(rig)[2]).toEqual(["fs_read", "skill"]);
  });

  test.each([
    ["that names nothing known here leaves the tool skill alone", "NotebookEdit '('".replaceAll("'", ""), ["skill"]],
    ["that is empty leaves the tool skill alone", "[]", ["skill"]],
  ])("%s", async (_, allowed, left) => {
    const rig = await ran({ look: allowed }, [reads("look"), says("x")]);
    expect(offered(rig)[1]).toEqual(left);
  });

  test("limits nothing when it is only raised, and when it has no list", async () => {
    const rig = await ran({ look: undefined }, [reads("look"), WRITE, says("x")]);
    expect(outcomes(rig)).toEqual(["skill ok", "fs.write ok"]);
    const raised = await ran({ look: "Read\ntriggers: { keywords: [look] }" }, [WRITE, says("x")], "look at it");
    expect(outcomes(raised)).toEqual(["fs.write ok"]);
  });

  test("reads its own files, and calls inside an allowed tool belong to that tool", async () => {
    const tool = "---\nparameters: {}\nscript: |\n  def run(args):\n      fs.write('made', 'x')\n---\n\nMakes it.\n";
    const files = {
      ".harness/skills/look/SKILL.md": skill("look", "maker"),
      ".harness/skills/look/references/a.md": "the reference",
      ".harness/tools/maker.md": tool,
    };
    const replies = [reads("look"), calls(["skill", { name: "look", file: "references/a.md" }]), calls(["maker", {}])];
    const rig = await createProjectRig(files, [...replies, says("x")], {
      settings: { permissions: [...ALLOWED, { effect: "allow", rule: "maker", source: "t" }] },
    });
    await rig.send();
    expect(outcomes(rig).filter((one) => !one.startsWith("fs."))).toEqual(["skill ok", "skill ok", "maker ok"]);
  });
});

test("a delegate has the limits of whoever started it", async () => {
  const files = {
    "harness.md": HARNESS,
    "a.txt": "text",
    ".harness/agents/scout.md": agentFile("scout", "tools: [fs.read, fs.write]\n"),
    ".harness/skills/look/SKILL.md": skill("look", "Read delegate"),
  };
  const write = makes(["fs.write", { path: "made", content: "x" }]);
  const read = makes(["fs.read", { path: "a.txt" }]);
  const scout = [write, read, answers("done")];
  const start = delegates({ agent: "scout", task: "go" });
  const rig = await createDelegationRig(
    files,
    { root: [makes(["skill", { name: "look" }]), start, write, answers("done")], scout },
    { settings: { permissions: ALLOWED } },
  );
  await rig.send();
  const [child] = rig.children();
  expect(rig.ofSession(child, "ToolResult").map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
    "fs.write denied",
    "fs.read ok",
  ]);
  expect(rig.ofSession(rig.session, "ToolResult").at(-1)).toMatchObject({ name: "fs.write", outcome: "denied" });
});
