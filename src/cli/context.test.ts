/** `harness context` as people run it, on real files. */
import { describe, expect, test } from "vitest";
import { createInProcessCli } from "../../test/fakes/in-process-cli.ts";

const HARNESS = `---
model: { provider: openai, name: gpt-4o }
context: { max_tokens: 1000, files: [NOTES.md] }
tools_policy: { mode: allowlist, allow: [fs.read] }
---
You keep this repository tidy.
`;
const PLUGIN = `---
type: plugin
condition: 'ctx.get("mode") == "review"'
---
You are reviewing a pull request.
`;

function project() {
  const cli = createInProcessCli();
  cli.put("harness.md", HARNESS);
  cli.put("NOTES.md", "Tabs, not spaces.\n");
  cli.put(".harness/plugins/review.md", PLUGIN);
  return cli;
}

describe("harness context", () => {
  test("lists every block with its source, counted by the tokenizer of the model", async () => {
    const { out, code } = await project().run("context");
    expect(code).toBe(0);
    expect(out).toMatch(/^openai:gpt-4o · \d+ of 1000 tokens \([\d.]+ %\), counted with o200k_base/);
    expect(out).toMatch(/✅\s+identity\s+identity\s+\d+\s+harness\.md:6/);
    expect(out).toMatch(/⚪\s+plugin\s+review\s+–/);
    expect(out).toMatch(/✅\s+file\s+NOTES\.md/);
    expect(out).toMatch(/✅\s+tool\s+fs\.read/);
    expect(out).toMatch(/⚪\s+tool\s+exec/);
  });

  test("says what a condition gave, and --set decides it", async () => {
    const cli = project();
    const off = await cli.run("context", "--verbose");
    expect(off.out).toContain("⚪ review (plugin, priority 40, INACTIVE)");
    expect(off.out).toContain('Condition: ctx.get("mode") == "review" → False');
    const on = await cli.run("context", "--verbose", "--set", "mode=review");
    expect(on.out).toContain("✅ review (plugin, priority 40, ACTIVE)");
    expect(on.out).toContain("│ You are reviewing a pull request.");
  });

  test("--json can be kept and compared with later", async () => {
    const cli = project();
    const { out } = await cli.run("context", "--json");
    const report = JSON.parse(out);
    const active = report.sections.filter(({ active: is }: { active: boolean }) => is);
    expect(report.tokens).toBe(active.reduce((sum: number, { tokens }: { tokens: number }) => sum + tokens, 0));
    cli.put("before.json", out);
    expect(await cli.run("context", "--diff", "before.json")).toMatchObject({ code: 0 });
    cli.put(".harness/plugins/review.md", PLUGIN.replace('"review"', "None"));
    const changed = await cli.run("context", "--diff", "before.json");
    expect(changed).toMatchObject({ code: 1 });
    expect(changed.out).toMatch(/now active\s+plugin\s+review\s+\+\d+/);
    expect(await cli.run("context", "--diff", "missing.json")).toMatchObject({ code: 2 });
  });

  test("estimates where no tokenizer is known, and says so", async () => {
    const cli = project();
    cli.put("harness.md", HARNESS.replace("provider: openai, name: gpt-4o", "provider: anthropic, name: claude-x"));
    expect((await cli.run("context")).out).toContain("estimated (3.7 bytes to a token)");
  });

  test("has the files of the project in its own prompt and those of an agent in that one's", async () => {
    const cli = project();
    cli.put("STYLE.md", "Short words.\n");
    cli.put(
      ".harness/agents/writer.md",
      "---\ndescription: writes\ncontext: { files: [./STYLE.md] }\n---\nYou write.\n",
    );
    const own = (await cli.run("context", "-v")).out;
    expect(own).toContain("Tabs, not spaces.");
    expect(own).not.toContain("Short words.");
    const writer = (await cli.run("context", "-v", "--agent", "writer")).out;
    expect(writer).toContain("Short words.");
    expect(writer).not.toContain("Tabs, not spaces.");
  });

  test("of an agent that is not there names those that are", async () => {
    expect(await project().run("context", "--agent", "scout")).toMatchObject({ code: 2 });
  });
});

test("files of a repository that have no effect are named with the reason: before an ack, after it, with hooks allowed", async () => {
  const cli = createInProcessCli({}, "a");
  cli.put(".claude/commands/review.md", "Review $1.");
  cli.put(".claude/commands/empty.md", "");
  cli.put(".mcp.json", '{ "mcpServers": { "shop": { "command": "node", "args": ["shop.mjs"] } } }');
  cli.put("shop.mjs", "");
  cli.put(".harness/aliases.toml", '[aliases]\nr = "/project:review"\n');
  cli.put(".claude/hooks/guard.sh", "exit 0\n");
  cli.put(
    ".claude/settings.json",
    '{ "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": ".claude/hooks/guard.sh" } ] } ] } }',
  );
  const rows = async (...flags: string[]) => {
    const report = (await cli.json("context", ...flags)) as { sections: { name: string; hidden?: string }[] };
    const named = report.sections.filter(({ name }) => /^(?:\.|shop$)/.test(name));
    return Object.fromEntries(named.map(({ name, hidden = "" }) => [name, hidden]));
  };
  const waits = "needs your ack: harness ack";
  const off = "not enabled: --allow-project-hooks, or allow_project_hooks in config.toml";
  const hooks = (why: string) => ({ ".claude/settings.json": why, ".claude/hooks/guard.sh": why });
  const broken = { ".claude/commands/empty.md": "broken: harness validate" };
  expect(await rows()).toEqual({
    ...{ ".claude/commands/review.md": waits, ".mcp.json": waits, ".harness/aliases.toml": waits },
    ...broken,
    ...hooks(off),
  });
  expect(await rows("--allow-project-hooks")).toMatchObject(hooks(`${waits} --allow-project-hooks`));
  expect(await cli.run("ack")).toMatchObject({ code: 0 });
  const shop = { shop: "it needs your approval. Run: harness mcp approve shop" };
  expect(await rows()).toEqual({ ...shop, ...broken, ...hooks(off) });
  expect(await cli.run("ack", "--allow-project-hooks")).toMatchObject({ code: 0 });
  expect(await rows("--allow-project-hooks")).toEqual({ ...shop, ...broken });
});
