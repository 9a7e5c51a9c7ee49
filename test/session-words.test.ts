/** Slash commands about sessions and agents: what leaves as text, which files a session changed, which sessions are listed. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultSettings } from "#artifacts";
import { createOutwardRedactor } from "#program";
import { createSystemClock } from "#world";
import { createDelegationRig } from "./fakes/delegation-rig.ts";
import { calls, createHarnessRig, type HarnessRig, says } from "./fakes/harness-rig.ts";
import { createProjectRig } from "./fakes/project-rig.ts";
import { agentFile, answers, delegates } from "./fakes/roles.ts";

async function textOf(rig: Pick<HarnessRig, "submit">, name: string, args = {}): Promise<string> {
  return (await rig.submit({ kind: "RunSlashCommand", namespace: "sessions", name, args })).result.text ?? "";
}

test("/sessions:diff lists what the calls of a session left changed in its folder", async () => {
  const undo = { directory: join(mkdtempSync(join(tmpdir(), "harness-diff-")), "undo"), key: Buffer.alloc(32, 1) };
  const rig = await createHarnessRig(
    [
      calls(["fs.write", { path: "new.txt", content: "a" }], ["fs.write", { path: "brief.txt", content: "b" }]),
      calls(["fs.write", { path: "old.txt", content: "after" }], ["fs.remove", { path: "brief.txt" }]),
      calls(["fs.remove", { path: "gone.txt" }]),
      says("done"),
    ],
    {
      undo,
      autoApprove: true,
      prepare(workspace) {
        workspace.put("old.txt", "before");
        workspace.put("gone.txt", "x");
      },
    },
  );
  expect(await textOf(rig, "diff")).toBe(`${rig.session} has changed no files in ${rig.workspace.root}.`);
  await rig.send();
  expect((await textOf(rig, "diff", { session: rig.session })).split("\n")).toEqual([
    `${rig.session} in ${rig.workspace.root}:`,
    "removed  gone.txt",
    "added    new.txt",
    "changed  old.txt",
  ]);
  const changes = async (query: object) => (await rig.submit({ kind: "DescribeChanges", ...query })).result;
  expect(await changes({ path: "old.txt" })).toEqual({
    changes: [
      { path: "gone.txt", what: "removed" },
      { path: "new.txt", what: "added" },
      { path: "old.txt", what: "changed" },
    ],
    more: 0,
    unknown: [],
    interrupted: [],
    file: { path: "old.txt", what: "changed", before: "before", after: "after" },
  });
  expect((await changes({ path: "new.txt" })).file).toEqual({ path: "new.txt", what: "added", after: "a" });
  await rig.submit({ kind: "UndoTurn" });
  expect(await textOf(rig, "diff")).toContain("has changed no files");
});

test("/sessions:diff says when nothing was recorded", async () => {
  expect(await textOf(await createHarnessRig([]), "diff")).toContain("Undo is off");
});

test("/sessions:export prints a session without what counts as a secret now, as JSON lines or Markdown", async () => {
  const secret = "TOKEN-that-is-a-secret-by-now-4711";
  const env = { LATE_API_KEY: secret };
  const outward = () => createOutwardRedactor({ settings: defaultSettings, env, clock: createSystemClock() });
  const rig = await createHarnessRig([says(`It is ${secret}.`)], { outward });
  await rig.send("What is it?");
  const markdown = await textOf(rig, "export", { format: "markdown" });
  expect(markdown).toContain("What is it?");
  expect(markdown).not.toContain(secret);
  // As a line is read: what stands first is the session, whatever it is.
  for (const args of [{}, { session: rig.session }, { session: "--format", format: "jsonl" }]) {
    const lines = (await textOf(rig, "export", args)).split("\n").map((line) => JSON.parse(line) as object);
    expect(lines.length).toBeGreaterThan(3);
    expect(JSON.stringify(lines)).not.toContain(secret);
  }
  expect(await textOf(rig, "export", { session: rig.session, format: "--format=markdown" })).toBe(markdown);
  for (const args of [{ session: "--format" }, { session: "--all" }, { session: rig.session, format: "x y" }]) {
    await expect(textOf(rig, "export", args)).rejects.toThrow("Usage: /sessions:export");
  }
  await expect(textOf(rig, "export", { session: "nope" })).rejects.toThrow("there is no session nope");
});

test("/sessions:export refuses what is too long for one reply, with the way out; without redaction it is not there", async () => {
  const outward = () => createOutwardRedactor({ settings: defaultSettings, env: {}, clock: createSystemClock() });
  const rig = await createHarnessRig([says("x".repeat(1_100_000))], { outward });
  await rig.send();
  await expect(textOf(rig, "export")).rejects.toThrow(`harness sessions export ${rig.session} --format jsonl --output`);
  await expect(textOf(await createHarnessRig([]), "export")).rejects.toThrow("there is no /sessions:export");
});

test("/agents:NAME asks the model to delegate, so that the call is judged like any other", async () => {
  const rig = await createProjectRig({
    "harness.md": "---\n---\n\nBe brief.\n",
    ".harness/agents/scout.md": "---\ndescription: Looks around.\ntools: []\n---\n\nLook.\n",
  });
  expect(rig.harness.slashCommands(rig.session)).toContainEqual(
    expect.objectContaining({ namespace: "agents", name: "scout", description: "Looks around." }),
  );
  const run = (args: Record<string, string>) =>
    rig.submit({ kind: "RunSlashCommand", namespace: "agents", name: "scout", args });
  expect(await run({ task: "Find the door." })).toMatchObject({
    result: {
      input: "Delegate this task to the agent scout with the tool delegate, and report its result: Find the door.",
    },
  });
  await expect(run({})).rejects.toThrow("Usage: /agents:scout TASK");
});

test("/sessions:list has no sessions of delegates", async () => {
  const rig = await createDelegationRig(
    { ".harness/agents/scout.md": agentFile("scout", "tools: []\n") },
    { root: [delegates({ agent: "scout", task: "Look." }), answers("done")], scout: [answers("seen")] },
  );
  await rig.send("go");
  const [child = ""] = rig.children();
  expect(child).toMatch(/^sess_/);
  const listed = await textOf(rig, "list");
  expect(listed).toContain(rig.session);
  expect(listed).not.toContain(child);
});

test("/cost says what each model of each provider was sent, what that costs, and its rate", async () => {
  const prices = { "openai:mock-model": { input: 1, output: 2 } };
  const rig = await createHarnessRig([says("done")], { settings: { prices } });
  await rig.send();
  const { text = "" } = (await rig.submit({ kind: "RunSlashCommand", namespace: "", name: "cost", args: {} })).result;
  const [head = "", row = ""] = text.split("\n");
  expect(head).toMatch(/^model +calls +input tokens +output tokens +cached tokens +USD per million in\/out +cost$/);
  expect(row).toMatch(/^openai:mock-model +1 +\d+ +\d+ +\d+ +1\/2 +\$0\.\d{4}$/);
});
