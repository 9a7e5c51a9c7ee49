/** Profiles of a project: nothing of them takes effect before an ack, and none loosens what the user set. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createInProcessCli, type InProcessCli } from "../../test/fakes/in-process-cli.ts";

const MODEL = `
name: one
rules:
  - when: { tool: fs.write }
    reply: [{ text: "Done." }]
  - when: { input: "write it" }
    reply: [{ tool: fs.write, args: { path: a.txt, content: "x" } }]
  - when: { input: "/./" }
    reply: [{ text: "Hello." }]
`;
const SHOP = ".harness/profiles/shop.toml";
const CONFIG = "../.config/harness";

interface Report {
  readonly model: string;
  readonly sections: readonly { kind: string; name: string; active: boolean; text: string; source: string }[];
}

function project(files: Readonly<Record<string, string>>, key: string | undefined = "a"): InProcessCli {
  const cli = createInProcessCli({}, key);
  cli.put("one.yaml", MODEL);
  for (const [path, text] of Object.entries(files)) cli.put(path, text);
  return cli;
}

async function acked(files: Readonly<Record<string, string>>): Promise<InProcessCli> {
  const cli = project(files);
  await cli.run("ack", "--profile", "shop");
  return cli;
}

const run = (cli: InProcessCli, ...flags: string[]) =>
  cli.run("run", "--store", "jsonl", "--profile", "shop", "-m", "scripted:./one.yaml", ...flags);
const names = ({ sections }: Report, kind: string) =>
  sections.filter((one) => one.kind === kind && one.active).map(({ name }) => name);

describe("a profile of a project", () => {
  test("has no effect before its ack, and then sets instructions, context files and tools", async () => {
    const files = {
      [SHOP]: 'prompt_header = "You work on the shop."\ncontext_sources = ["CLAUDE.md"]\ntool_packs = ["fs"]\n',
      "CLAUDE.md": "Tabs.\n",
    };
    const nobody = createInProcessCli();
    for (const [path, text] of Object.entries(files)) nobody.put(path, text);
    const refused = await nobody.run("run", "--profile", "shop", "-m", "scripted:offline", "hi");
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining(SHOP) });
    expect(refused.err).toContain("NonInteractiveAckRefused");
    const canonical = "Run harness ack --all once interactively, or pre-populate approved.lock from CI.";
    expect(refused.err).toContain(canonical);
    expect(await nobody.run("context", "--profile", "shop")).toMatchObject({
      code: 2,
      err: expect.stringContaining("waits for your ack"),
    });

    const cli = await acked(files);
    const report = (await cli.json("context", "--profile", "shop", "--json")) as Report;
    expect(report.sections.find(({ kind }) => kind === "profile")?.text).toBe("You work on the shop.");
    expect(names(report, "tool")).not.toContain("exec");
    expect(names(report, "file")).toEqual(["CLAUDE.md"]);
    expect(await run(cli, "-p", "hi")).toMatchObject({ code: 0, out: "Hello.\n" });
    // Nobody is asked about CLAUDE.md without it.
    expect(names((await cli.json("context", "--json")) as Report, "file")).toEqual([]);
  });

  test("that was denied cannot be named, and holds up no other session", async () => {
    const cli = project({ [SHOP]: 'prompt_header = "x"\n' }, "d");
    await cli.run("ack");
    expect(await cli.run("run", "--profile", "shop", "-m", "scripted:offline", "hi")).toMatchObject({
      code: 2,
      err: expect.stringContaining("the profile 'shop' cannot be used: .harness/profiles/shop.toml was denied"),
    });
    expect(await cli.run("run", "-m", "scripted:./one.yaml", "-p", "hi")).toMatchObject({ code: 0 });
  });

  test("loosens nothing: each value that would is ignored with a warning", async () => {
    const cli = await acked({
      [SHOP]: [
        'context_sources = ["AGENTS.md", "CLAUDE.md"]',
        "allow_project_hooks = true",
        'permission_presets = ["loose"]',
        "[permissions]",
        'allow = ["Write"]',
        "strict = false",
        "[retention]",
        "content_days = 1",
        "[mcp_servers.mine]",
        'command = "node"',
      ].join("\n"),
      "CLAUDE.md": "Tabs.\n",
      [`${CONFIG}/presets/loose.toml`]: 'allow = ["fs.*"]\nstrict = false\n',
      [`${CONFIG}/config.toml`]: 'context_sources = ["AGENTS.md"]\n[permissions]\nstrict = true\n',
    });
    const { err, code } = await cli.run("run", "--profile", "shop", "-m", "scripted:./one.yaml", "--json", "write it");
    expect(code).toBe(0);
    for (const ignored of [
      "mcp_servers is ignored, because a project declares servers in .mcp.json or harness.md",
      "retention is ignored",
      "allow_project_hooks is ignored",
      "a part of context_sources is ignored",
      "allow of permissions is ignored",
      "strict of permissions is ignored",
      "allow of permission_presets is ignored",
      "strict of permission_presets is ignored",
    ]) {
      expect(err).toContain(`shop.toml: ${ignored}`);
    }
    const report = (await cli.json("context", "--profile", "shop", "--json")) as Report;
    expect(names(report, "file")).toEqual([]);
    const { out } = await cli.run("run", "--profile", "shop", "-m", "scripted:./one.yaml", "--json", "write it");
    expect(out).toContain("strict-permissions");
  });

  test("tightens: its deny rules and strict hold, whatever the user allows", async () => {
    const cli = await acked({ [SHOP]: '[permissions]\ndeny = ["Write"]\n' });
    const { out } = await cli.run(
      ...["run", "--profile", "shop", "-m", "scripted:./one.yaml", "--allow", "Write", "--json", "write it"],
    );
    expect(out).toMatch(/shop\.toml:2/);
    expect(out).not.toContain('"outcome":"ok"');
  });

  test("of a name that the user has is not used", async () => {
    const cli = await acked({
      [SHOP]: 'prompt_header = "Theirs."\n',
      [`${CONFIG}/profiles/shop.toml`]: 'prompt_header = "Mine."\n',
    });
    const report = (await cli.json("context", "--profile", "shop", "--json")) as Report;
    expect(report.sections.find(({ kind }) => kind === "profile")?.text).toBe("Mine.");
  });

  test("with an unknown key warns with file, line and the nearest key", async () => {
    const cli = await acked({ [SHOP]: '\nskil_packs = ["builtin"]\n' });
    expect((await run(cli, "-p", "hi")).err).toMatch(
      /\.harness\/profiles\/shop\.toml:2:1: .*"skil_packs" is unknown.*Did you mean "skill_packs"\?/,
    );
  });

  test.each([
    ["with a wrong value", "shop.toml", 'tool_packs = ["git"]\n', "Expected"],
    ["that is not TOML", "shop.toml", "x = [", "Invalid TOML"],
    ["with another name", "shop.toml", 'name = "other"\n', "make them the same"],
    ["of 360 KB", "shop.toml", "a = 1\n".repeat(60_000), "larger than"],
    ["of 10 MB", "shop.toml", `prompt_header = "${"x".repeat(10 * 1024 * 1024)}"\n`, "the limit is"],
    ["with deep table names", "shop.toml", "[a".repeat(100_000), "shop.toml"],
    ["with deep lists", "shop.toml", `x = ${"[".repeat(50_000)}${"]".repeat(50_000)}\n`, "shop.toml"],
    [
      "with names of prototypes",
      "shop.toml",
      "[__proto__]\ntool_packs = 1\n[constructor.prototype]\nx = 1\n",
      "__proto__",
    ],
    ["with a file name that cannot be typed", "Shop X.toml", 'prompt_header = "x"\n', "small letters"],
  ])("%s is left out and says why", async (_what, name, text, why) => {
    const cli = project({ [`.harness/profiles/${name}`]: text, ".harness/profiles/good.toml": "" });
    await cli.run("ack");
    const { err } = await cli.run("run", "--profile", "good", "-m", "scripted:./one.yaml", "-p", "hi");
    expect(err).toContain(why);
    expect(({} as Record<string, unknown>).tool_packs).toBeUndefined();
  });

  test("behind a link out of the project is not read", async () => {
    const cli = project({ "../elsewhere/shop.toml": 'prompt_header = "Outside."\n' });
    mkdirSync(join(cli.workspace, ".harness/profiles"), { recursive: true });
    symlinkSync(join(cli.workspace, "../elsewhere/shop.toml"), join(cli.workspace, SHOP));
    await cli.run("ack");
    expect(await run(cli, "hi")).toMatchObject({ code: 2, err: expect.stringContaining("profile 'shop'") });
  });
});

describe("files of the user that a profile names", () => {
  test("presets: built-in ones and those of the user, added to its rules", async () => {
    const cli = createInProcessCli();
    cli.put("one.yaml", MODEL);
    cli.put(`${CONFIG}/presets/mine.toml`, 'ask = ["Bash"]\n');
    cli.put(`${CONFIG}/profiles/safe.toml`, 'permission_presets = ["no-edits", "mine"]\n');
    const { out } = await cli.run(
      ...["run", "--profile", "safe", "-m", "scripted:./one.yaml", "--allow", "Write", "--json", "write it"],
    );
    expect(out).toContain("preset no-edits:2");
  });

  test.each([
    ["a link", (file: string, target: string) => symlinkSync(target, file), "is a link or not an ordinary file"],
    ["a folder", (file: string) => mkdirSync(file), "is a link or not an ordinary file"],
    ["10 MB", (file: string) => writeFileSync(file, "#".repeat(10_000_000)), "is larger than 262144 bytes"],
    [
      "writable by others",
      (file: string) => {
        writeFileSync(file, "");
        chmodSync(file, 0o666);
      },
      "can be written by others",
    ],
  ])("a profile that is %s is refused", async (_what, make, why) => {
    const cli = createInProcessCli();
    const target = cli.put(`${CONFIG}/profiles/real.toml`, "");
    make(join(cli.workspace, CONFIG, "profiles/bad.toml"), target);
    const { code, err } = await cli.run("run", "--profile", "bad", "-m", "scripted:offline", "hi");
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(why) });
  });
});
