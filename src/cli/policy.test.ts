import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createInProcessCli, type InProcessCli } from "../../test/fakes/in-process-cli.ts";

const MODEL = `name: calls
rules:
  - when: { tool_result: "" }
    reply: [{ text: "Done." }]
  - when: { input: '/^write (.+)$/' }
    reply: [{ tool: fs.write, args: { path: "{{input.1}}", content: "x" } }]
  - when: { input: '/^read (.+)$/' }
    reply: [{ tool: fs.read, args: { path: "{{input.1}}" } }]
`;

const project = (permissions: string): string => `---\npermissions:\n${permissions}---\n\nBe brief.\n`;
const STRICT = project("  deny:\n    - Write(src/**)\n");
const LOOSE = project("  allow:\n    - Write(src/*)\n  ask:\n    - Read(notes.txt)\n");

/** Two sessions on the record: what was written and what was read, without a policy. */
async function recordedCalls(): Promise<InProcessCli> {
  const cli = createInProcessCli();
  cli.put("model.yaml", MODEL);
  cli.put("notes.txt", "notes\n");
  for (const prompt of ["write src/a.ts", "read notes.txt"]) {
    const ran = await cli.run(
      "run",
      "--no-project",
      "--auto-approve",
      "--model",
      "scripted:model.yaml",
      "--undo",
      "off",
      prompt,
    );
    expect(ran.code).toBe(0);
  }
  return cli;
}

test("policy diff names what is loosened and tightened, with rule and place", async () => {
  const cli = await recordedCalls();
  cli.put("old/harness.md", STRICT);
  cli.put("new/harness.md", LOOSE);
  const { code, out } = await cli.run("policy", "diff", "old", "new");
  expect(code).toBe(0);
  const shown = out.replace(/call_\w+/g, "call_…");
  expect(
    shown,
  ).toBe(`2 calls in 2 sessions: 1 loosened, 1 tightened, 0 cannot be decided again, 0 with the same effect by another rule, 0 the same, 0 without a recorded decision.

deny → allow  loosened, 1 call
  before: deny by rule Write(src/**) (harness.md:4)
  after:  allow by rule Write(src/*) (harness.md:4)
  call_…  fs.write  src/a.ts

allow → ask  tightened, 1 call
  before: allow by quiet preset: it reads inside the workspace
  after:  ask by rule Read(notes.txt) (harness.md:6)
  call_…  fs.read  notes.txt
`);
  expect((await cli.run("policy", "diff", "old", "new", "--fail-on", "loosened")).code).toBe(1);
  expect((await cli.run("policy", "diff", "old", "old", "--fail-on", "loosened", "--fail-on", "tightened")).code).toBe(
    0,
  );
  const { changes, ...summary } = (await cli.json("policy", "diff", "old", "new", "--sessions", "all")) as {
    readonly changes: readonly { readonly change: string }[];
  };
  expect(summary).toMatchObject({
    counts: { loosened: 1, tightened: 1, undecided: 0, moved: 0, same: 0, unjudged: 0 },
    may_be_loosened: 0,
    changed_hooks: [],
    calls_with_inner_effects: 0,
  });
  // Sessions of one millisecond come in any order.
  expect(changes.toSorted((a, b) => (a.change < b.change ? -1 : 1))).toMatchObject([
    {
      change: "loosened",
      before: { effect: "deny", source: "harness.md:4" },
      answer: { decision: "allow_once", by: "--auto-approve" },
    },
    {
      change: "tightened",
      name: "fs.read",
      args: { path: "notes.txt" },
      after: { effect: "ask", source: "harness.md:6" },
    },
  ]);
});

test("a policy is a folder, a file, a configuration, one of the machine, or one of a commit", async () => {
  const cli = await recordedCalls();
  cli.put("old/harness.md", STRICT);
  cli.put("config.toml", '[permissions]\nallow = ["Write(src/*)"]\nask = ["Read(notes.txt)"]\n');
  cli.put("policy.md", STRICT.replace("Be brief.\n", ""));
  const git = (...args: string[]): void =>
    void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      cwd: cli.workspace,
      stdio: "ignore",
    });
  git("init");
  git("add", "old");
  git("commit", "-m", "a policy");
  cli.put("old/harness.md", LOOSE);
  const counts = async (before: string, after: string): Promise<unknown> =>
    ((await cli.json("policy", "diff", before, after)) as { counts: Record<string, number> }).counts;
  expect(await counts("HEAD:old", "old")).toMatchObject({ loosened: 1, tightened: 1 });
  expect(await counts("HEAD:old/harness.md", "old/harness.md")).toMatchObject({ loosened: 1, tightened: 1 });
  expect(await counts("HEAD:old", "admin:policy.md")).toMatchObject({ same: 2 });
  expect(await counts("admin:policy.md", "config.toml")).toMatchObject({ loosened: 1, tightened: 1 });
  expect(await counts("recorded", "config.toml")).toMatchObject({ loosened: 1, tightened: 1 });
  expect(await cli.run("policy", "diff", "nothing", "old")).toMatchObject({
    code: 2,
    err: expect.stringContaining("is not a policy"),
  });
  expect(await cli.run("policy", "diff", "NOWHERE:old", "old")).toMatchObject({ code: 2 });
  expect(await cli.run("policy", "diff", "old", "old", "--fail-on", "anything")).toMatchObject({ code: 2 });
  cli.put("old/harness.md", "---\npermissions: { allow: 7 }\n---\n");
  expect(await cli.run("policy", "diff", "HEAD:old", "old")).toMatchObject({
    code: 2,
    err: expect.stringContaining("harness.md:2"),
  });
});

test("policy suggest prints a diff that can be applied, with the evidence for each rule", async () => {
  const cli = await recordedCalls();
  const file = cli.put("harness.md", project("  ask:\n    - Read(notes.txt)\n"));
  const { out } = await cli.run("policy", "suggest");
  expect(
    out.replace(/call_\w+/g, "call_…"),
  ).toBe(`# 2 calls ran: 0 allowed by harness.md as it is, 1 covered by the rules below, 1 not.
#
# Write(src/a.ts): 1 call in 1 session
#   call_…  fs.write  src/a.ts
#
# Not covered:
#   call_…  fs.read  notes.txt
#     ask by rule Read(notes.txt) (harness.md:4): the rule 'ask Read(notes.txt)' (harness.md:4) asks

--- harness.md
+++ harness.md
@@ -1,5 +1,7 @@
 ---
 permissions:
+  allow:
+    - "Write(src/a.ts)"
   ask:
     - Read(notes.txt)
 ---
`);
  execFileSync("sh", ["-c", "patch -p0"], { cwd: cli.workspace, input: out });
  expect(readFileSync(file, "utf8")).toBe(
    project('  allow:\n    - "Write(src/a.ts)"\n  ask:\n    - Read(notes.txt)\n'),
  );
  expect(await cli.json("policy", "suggest")).toMatchObject({ file, rules: [], already_covered: 1, diff: "" });
  const config = cli.put("config.toml", "max_steps = 5\n");
  expect(await cli.json("policy", "suggest", "--for", "config.toml", "--sessions", "all")).toMatchObject({
    file: config,
    rules: [],
  });
});

test("without a project the user's configuration is meant, and a folder without sessions is told", async () => {
  const cli = await recordedCalls();
  const found = await cli.json("policy", "suggest");
  expect(found).toMatchObject({
    file: join(cli.env.HOME ?? "", ".config/harness/config.toml"),
    rules: [{ rule: "Write(src/a.ts)", calls: [expect.any(String)], sessions: [expect.any(String)] }],
    diff: expect.stringContaining('+allow = ["Write(src/a.ts)"]'),
  });
  const empty = createInProcessCli();
  expect(await empty.run("policy", "suggest")).toMatchObject({
    code: 2,
    err: expect.stringContaining("the log has no session"),
  });
});

test("policy diff names what it does not decide: a network that was opened is no call that was loosened", async () => {
  const cli = createInProcessCli({ PATH: process.env.PATH ?? "" });
  cli.put("model.yaml", "name: x\nrules: []\notherwise: [{ text: Done. }]\n");
  cli.put("old/harness.md", "---\nnetwork: { allowed_domains: [example.com] }\n---\nBe brief.\n");
  cli.put("new/harness.md", "---\nnetwork: { allowed_domains: [example.com, elsewhere.example] }\n---\nBe brief.\n");
  await cli.run("run", "-m", "scripted:model.yaml", "Hi");
  const told = expect.stringContaining("These also differ, but are not compared here: network.");
  expect(await cli.run("policy", "diff", "old", "new", "--fail-on", "loosened")).toMatchObject({ code: 0, out: told });
  expect(await cli.run("policy", "diff", "old", "new", "--fail-on", "undecided")).toMatchObject({ code: 1 });
  expect(await cli.run("policy", "diff", "old", "old", "--fail-on", "undecided")).toMatchObject({ code: 0 });
});
