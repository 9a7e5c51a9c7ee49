/** Profiles as people use them: `--profile`, `--framework`, files of the user. */
import { hash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { defaultSettings, loadProfileParser } from "#artifacts";
import { createInProcessCli, type InProcessCli } from "../../test/fakes/in-process-cli.ts";

const MODEL = `
name: one
rules:
  - when: { tool: fs.write }
    reply: [{ text: "Refused." }]
  - when: { input: "write it" }
    reply: [{ tool: fs.write, args: { path: a.txt, content: "x" } }]
  - when: { input: "/hi/" }
    reply: [{ text: "I am one." }]
`;

function withProfile(text: string, file = "mine.toml"): InProcessCli {
  const cli = createInProcessCli();
  cli.put(`../.config/harness/profiles/${file}`, text);
  cli.put("one.yaml", MODEL);
  return cli;
}

interface Report {
  readonly model: string;
  readonly sections: readonly { kind: string; name: string; source: string; active: boolean; text: string }[];
}

async function contextOf(cli: InProcessCli, ...flags: string[]): Promise<Report> {
  return (await cli.json("context", "--json", ...flags)) as Report;
}

const namesOf = ({ sections }: Report, kind: string): readonly string[] =>
  sections.filter((section) => section.kind === kind && section.active).map(({ name }) => name);

describe("the built-in profiles", () => {
  test("default says what holds without a profile", async () => {
    const { parseProfile, applyProfile } = await loadProfileParser();
    const text = readFileSync(resolve(import.meta.dirname, "../../profiles/default.toml"), "utf8");
    const profile = parseProfile("default.toml", text, { stem: "default", source: "built-in", scope: "built-in" });
    expect(profile.warnings).toEqual([]);
    expect(applyProfile(defaultSettings, profile)).toEqual(defaultSettings);
  });

  test("framework adds its instructions, and config.toml decides over it", async () => {
    const cli = createInProcessCli();
    const header = (report: Report) => report.sections.find(({ kind }) => kind === "profile");
    expect(header(await contextOf(cli))).toBeUndefined();
    expect(header(await contextOf(cli, "--framework"))).toMatchObject({
      source: "built-in",
      text: expect.stringContaining("working on Harness itself"),
    });
    cli.put("CLAUDE.md", "Tabs.\n");
    const hidden = async () =>
      (await contextOf(cli, "--profile", "framework")).sections.find(({ name }) => name === "CLAUDE.md");
    expect(await hidden()).toMatchObject({ hidden: expect.not.stringContaining("not enabled") });
    cli.put("../.config/harness/config.toml", 'context_sources = ["AGENTS.md"]\n');
    expect(await hidden()).toMatchObject({ hidden: expect.stringContaining("not enabled") });
  });
});

describe("a profile of the user", () => {
  test("chooses model, instructions and tools over config.toml", async () => {
    const cli = withProfile(
      'default_model = "openai:gpt-4o"\nprompt_header = "Speak plainly."\ntool_packs = ["web"]\ncontext_sources = ["CLAUDE.md"]\n',
    );
    cli.put("../.config/harness/config.toml", 'model = "anthropic:claude-sonnet-5-5"\n');
    const report = await contextOf(cli, "--profile", "mine");
    expect(report.model).toBe("openai:gpt-4o");
    expect(report.sections.find(({ kind }) => kind === "profile")?.text).toBe("Speak plainly.");
    expect(namesOf(report, "tool")).toEqual(["web.fetch", "ask_user", "plan", "todos"]);
    expect(namesOf(await contextOf(cli), "tool")).toContain("fs.read");
  });

  test("adds permission rules, and the session has its name", async () => {
    const cli = withProfile('default_model = "scripted:./one.yaml"\n[permissions]\ndeny = ["Write"]\n');
    const { out } = await cli.run(
      "run",
      "--profile",
      "mine",
      "--auto-approve",
      "--store",
      "jsonl",
      "--json",
      "write it",
    );
    const events = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.find(({ kind }) => kind === "SessionStarted").payload).toMatchObject({ profile: "mine" });
    expect(out).toMatch(/mine\.toml:3/);
    const session: string = events[0].session;
    // Its profile holds as long as it does.
    const resume = (...flags: string[]) =>
      cli.run("run", "-m", "scripted:./one.yaml", "--store", "jsonl", "--resume", session, ...flags);
    expect((await resume("write it")).err).toMatch(/mine\.toml:3/);
    expect(await resume("--profile", "mine", "-p", "hi")).toMatchObject({ code: 0, out: "I am one.\n" });
    const other = await resume("--framework", "hi");
    expect(other).toMatchObject({ code: 2, err: expect.stringContaining("has the profile 'mine'") });
    // Its rules hold also when its file is gone; a new session does not get it.
    rmSync(join(cli.workspace, "../.config/harness/profiles/mine.toml"));
    const gone = await resume("--auto-approve", "write it");
    expect(gone).toMatchObject({
      code: 0,
      err: expect.stringMatching(/there is no profile 'mine'.* keeps the profile/s),
    });
    expect(gone.err).toMatch(/denied by the rule 'deny Write' \(.*mine\.toml:3/);
    const fresh = await cli.run("run", "--profile", "mine", "-m", "scripted:./one.yaml", "hi");
    expect(fresh).toMatchObject({ code: 2, err: expect.stringContaining("there is no profile 'mine'") });
  });

  test("its MCP servers are those of the run, and replace one of the same name", async () => {
    const { parseProfile, applyProfile } = await loadProfileParser();
    const text = '[mcp_servers.notes]\ncommand = "theirs"\n';
    const profile = parseProfile("p.toml", text, { stem: "p", source: "p.toml", scope: "user" });
    const first = applyProfile(defaultSettings, profile);
    expect(first.mcpServers).toMatchObject([{ name: "notes" }]);
    expect(applyProfile(first, profile).mcpServers).toHaveLength(1);
    const version = hash("sha256", text, "hex");
    expect(first.profile).toEqual({ name: "p", scope: "user", source: "p.toml", sets: ["mcp_servers"], version });
  });

  test("warns of an unknown key with the nearest one", async () => {
    const cli = withProfile('promt_header = "x"\n');
    const { err, code } = await cli.run("run", "--profile", "mine", "-m", "scripted:./one.yaml", "-p", "hi");
    expect(code).toBe(0);
    expect(err).toContain('mine.toml:1: unknown key "promt_header" is ignored. Did you mean "prompt_header"?');
  });

  test("can be any file", async () => {
    const cli = createInProcessCli();
    cli.put("one.yaml", MODEL);
    const file = cli.put("../elsewhere/terse.toml", 'default_model = "scripted:./one.yaml"\n');
    expect(await cli.run("run", "--profile", file, "-p", "hi")).toMatchObject({ code: 0, out: "I am one.\n" });
    // Flags without a command mean run.
    expect(await cli.run("--no-daemon", "--profile", file, "hi you")).toMatchObject({ code: 0 });
  });
});

describe("a profile that cannot be used", () => {
  test.each([
    [["--profile", "nope"], "Known profiles: default, framework, mine."],
    [["--profile", "./nope.toml"], "there is no profile './nope.toml'"],
    [["--profile", "mine", "--framework"], "--framework cannot be combined with --profile mine"],
  ])("%j", async (flags, message) => {
    const cli = withProfile("");
    const { code, err } = await cli.run("run", ...flags, "hi");
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
  });

  test.each([
    ["mine", "mine.toml", "schema_version = 2", "mine.toml:1: schema_version"],
    ["mine", "mine.toml", 'name = "other"', "make them the same"],
    ["mine", "mine.toml", 'name = "framework"', "is the name of a built-in profile"],
    ["framework", "framework.toml", "", "'framework' is a built-in profile: rename"],
    ["default", "default.toml", "", "'default' is a built-in profile: rename"],
    ["mine", "mine.toml", 'tool_packs = ["git"]', "Expected"],
  ])("%s in %s with %s", async (name, file, text, message) => {
    const { code, err } = await withProfile(text, file).run("run", "--profile", name, "hi");
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
  });
});
