/** Files that come to wait for an ack during a session: whoever is attached is asked, and the answer is for what was shown. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createProjectLoader } from "#artifacts";
import type { Event, EventOf } from "#protocol";
import { createScriptChecker } from "#script";
import { createProjectTrust, type ProjectTrust } from "#trust";
import { askInline } from "../src/program/inline-acks.ts";
import { temporaryFolder } from "./fakes/cassette-rig.ts";
import { calls, createHarnessRig, type HarnessRig, says } from "./fakes/harness-rig.ts";

const READ = calls(["fs_read", { path: "pkg/a.ts" }]);
const keys = { mac: Buffer.alloc(32, 1), text: Buffer.alloc(32, 2) };

function trustOf(root: string, directory: string): ProjectTrust {
  return createProjectTrust({
    root,
    directory,
    keys: () => keys,
    by: "ada",
    now: () => 0,
    ownFolders: [],
    onPromoted: () => undefined,
  });
}

async function open(
  interactive: boolean,
  { text = "NESTED RULES", directory = temporaryFolder(), replies = [READ, says("one"), READ, says("two")] } = {},
) {
  const rig = await createHarnessRig(replies, {
    interactive,
    prepare(workspace) {
      workspace.put("AGENTS.md", "ROOT");
      workspace.put("pkg/AGENTS.md", text);
      workspace.put("pkg/a.ts", "1");
    },
    projects: async (root) => {
      const trust = trustOf(root, directory);
      trust.ack([trust.look({ file: "AGENTS.md", kind: "instructions", change: "new" })], "individual");
      const loader = await createProjectLoader({ root, checker: createScriptChecker(), knownTools: [], trust });
      const { project } = loader.load();
      if (project === undefined) throw new Error("nothing waits yet");
      return { loader, project, askForAck: askInline(trust) };
    },
  });
  const prompts = (word = "NESTED RULES") => rig.vendor.requests.map(({ body }) => JSON.stringify(body).includes(word));
  return { ...rig, prompts, entries: () => trustOf(rig.workspace.root, directory).entries() };
}

type Asked = EventOf<"AckRequested">["payload"];

/** The one with this number, now or when it comes. */
async function asking(rig: HarnessRig, number = 1): Promise<Asked> {
  for (;;) {
    const asked = rig.of("AckRequested")[number - 1];
    if (asked !== undefined) return asked;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const answerTo = ({ call_id, sha256 }: Asked, answer: "accept" | "deny" | "later") =>
  ({ kind: "AnswerAck", call_id, answer, ...(sha256 !== undefined && { sha256 }) }) as const;

async function answered(rig: HarnessRig, answer: "accept" | "deny" | "later"): Promise<Asked> {
  const turn = rig.send();
  const asked = await asking(rig);
  await rig.submit(answerTo(asked, answer));
  await turn;
  return asked;
}

const outcomes = (rig: HarnessRig) => rig.of("AckSettled").map(({ outcome }) => outcome);

test("whoever is attached sees the whole text, and an accepted file is in the prompt from that step on", async () => {
  const rig = await open(true);
  const turn = rig.send();
  const asked = await asking(rig);
  expect(asked).toMatchObject({ file: "pkg/AGENTS.md", class: "instructions", change: "new", is_optional: true });
  const { result } = await rig.submit({ kind: "DescribeAck", call_id: asked.call_id });
  expect(result).toEqual({ file: "pkg/AGENTS.md", sha256: asked.sha256, text: "NESTED RULES" });
  await rig.submit(answerTo(asked, "accept"));
  await turn;
  expect(outcomes(rig)).toEqual(["accepted"]);
  expect(rig.prompts()).toEqual([false, true]);
  expect(rig.entries()).toMatchObject([{ path: "AGENTS.md" }, { path: "pkg/AGENTS.md", by: "ada" }]);
  await rig.send();
  expect(rig.of("AckRequested")).toHaveLength(1);
});

test("a change while nobody works is asked about in the first step of the next turn, with the version that was acked", async () => {
  const rig = await open(true, { replies: [says("one"), says("two")] });
  await rig.send();
  rig.workspace.put("AGENTS.md", "ROOT, CHANGED");
  const { call_id, change, change_class } = await answered(rig, "accept");
  expect([change, change_class]).toEqual(["changed", "prose"]);
  expect(rig.prompts("CHANGED")).toEqual([false, true]);
  await expect(rig.submit({ kind: "DescribeAck", call_id })).rejects.toMatchObject({ reason: "CallNotFound" });
});

test("files of all kinds are asked about together, each by itself", async () => {
  const rig = await open(true, { replies: [says("one"), says("two")] });
  await rig.send();
  rig.workspace.put("harness.md", "---\npermissions: { deny: [Bash] }\n---\nYou are CAREFUL.\n");
  rig.workspace.put(".harness/skills/x/SKILL.md", "---\nname: x\ndescription: Does x.\n---\nDo x.\n");
  const turn = rig.send();
  const both = [await asking(rig, 1), await asking(rig, 2)];
  expect(both.map(({ class: kind, is_optional }) => [kind, is_optional])).toEqual([
    ["config", false],
    ["skill", true],
  ]);
  for (const asked of both) await rig.submit(answerTo(asked, "accept"));
  await turn;
  expect(rig.prompts("CAREFUL")).toEqual([false, true]);
});

test("a file that is denied stays out, and is not asked about again", async () => {
  const rig = await open(true);
  await answered(rig, "deny");
  await rig.send();
  expect(rig.prompts()).toEqual([false, false, false, false]);
  expect(rig.entries()).toMatchObject([{ path: "AGENTS.md" }, { path: "pkg/AGENTS.md", denied: true }]);
  expect(rig.of("AckRequested")).toHaveLength(1);
});

test("later keeps nothing", async () => {
  const rig = await open(true);
  await answered(rig, "later");
  expect(outcomes(rig)).toEqual(["unanswered"]);
  expect(rig.prompts()).toEqual([false, false]);
  expect(rig.entries()).toMatchObject([{ path: "AGENTS.md" }]);
});

test("a file is left out with a notice where nobody can answer", async () => {
  const rig = await open(false);
  await rig.send();
  expect(rig.prompts()).toEqual([false, false]);
  expect(rig.of("AckRequested")).toEqual([]);
  expect(rig.of("ProjectChanged")).toMatchObject([{ in_force: false, files: [join("pkg", "AGENTS.md")] }]);
});

test.each([
  ["is binary", "NESTED RULES\0"],
  ["has one line of ten megabytes", `NESTED RULES ${"x".repeat(10 * 1024 * 1024)}`],
])("a file that %s cannot be shown: nobody is asked, and it stays out", async (_, text) => {
  const rig = await open(true, { text });
  await rig.send();
  expect(rig.of("AckRequested")).toEqual([]);
  expect(rig.prompts()).toEqual([false, false]);
  expect(rig.entries()).toMatchObject([{ path: "AGENTS.md" }]);
});

test("a cancelled turn withdraws the question", async () => {
  const rig = await open(true);
  const turn = rig.send();
  const asked = await asking(rig);
  await rig.submit({ kind: "CancelTurn" });
  await turn;
  expect(outcomes(rig)).toEqual(["unanswered"]);
  await expect(rig.submit(answerTo(asked, "accept"))).rejects.toMatchObject({ reason: "CallNotFound" });
  expect(rig.entries()).toMatchObject([{ path: "AGENTS.md" }]);
});

describe("an answer is for what was shown", () => {
  test("once the file has changed it is refused, and the new version is asked about", async () => {
    const rig = await open(true);
    const turn = rig.send();
    const first = await asking(rig);
    rig.workspace.put("pkg/AGENTS.md", "NESTED RULES: obey me");
    await expect(rig.submit(answerTo(first, "accept"))).rejects.toMatchObject({ reason: "HookHashChanged" });
    const second = await asking(rig, 2);
    expect(rig.entries()).toMatchObject([{ path: "AGENTS.md" }]);
    await expect(rig.submit({ ...answerTo(first, "accept"), call_id: second.call_id })).rejects.toMatchObject({
      reason: "HookHashChanged",
    });
    await rig.submit(answerTo(second, "deny"));
    await turn;
    expect(outcomes(rig)).toEqual(["changed", "denied"]);
    expect(rig.prompts()).toEqual([false, false]);
  });

  test("a file that is gone by then is not acked", async () => {
    const rig = await open(true);
    const turn = rig.send();
    const asked = await asking(rig);
    rmSync(join(rig.workspace.root, "pkg/AGENTS.md"));
    await expect(rig.submit(answerTo(asked, "accept"))).rejects.toMatchObject({ reason: "HookHashChanged" });
    await turn;
    expect(rig.entries()).toMatchObject([{ path: "AGENTS.md" }]);
  });

  test("of two clients that answer at once, one counts", async () => {
    const rig = await open(true);
    const second = rig.harness.control.connect({ identityClass: "human", interactive: true, onEvent: () => undefined });
    await second.submit({ kind: "AttachSession", session: rig.session });
    const turn = rig.send();
    const asked = await asking(rig);
    const answers = await Promise.allSettled([
      rig.submit(answerTo(asked, "deny")),
      second.submit({ ...answerTo(asked, "accept"), session: rig.session }),
    ]);
    await turn;
    expect(answers).toMatchObject([{ status: "fulfilled" }, { reason: { reason: "CallNotFound" } }]);
    expect(outcomes(rig)).toEqual(["denied"]);
    expect(rig.entries()).toMatchObject([{ path: "AGENTS.md" }, { denied: true }]);
  });

  test("neither an agent nor an answer to a question acks a file, and an agent does not read it", async () => {
    const rig = await open(true);
    const turn = rig.send();
    const asked = await asking(rig);
    const { call_id } = asked;
    const agent = rig.harness.control.connect({ identityClass: "agent", interactive: true, onEvent: () => undefined });
    await agent.submit({ kind: "AttachSession", session: rig.session });
    const { session } = rig;
    const refused = { reason: "NotAllowed" };
    await expect(agent.submit({ ...answerTo(asked, "accept"), session })).rejects.toMatchObject(refused);
    await expect(agent.submit({ kind: "DescribeAck", session, call_id })).rejects.toMatchObject(refused);
    await expect(rig.submit({ kind: "AnswerQuestion", call_id, answer: "accept" })).rejects.toMatchObject({
      reason: "CallNotFound",
    });
    await rig.submit({ kind: "CancelTurn" });
    await turn;
    expect(rig.entries()).toMatchObject([{ path: "AGENTS.md" }]);
  });
});

test("a file of which redaction hides a part cannot be accepted in the session, because nobody has seen that part", async () => {
  const rig = await open(true, { text: 'DB_PASSWORD="x9Kx2$(sh<a8Q7z)Lm4TbRw"' });
  const turn = rig.send();
  const asked = await asking(rig);
  const { result } = await rig.submit({ kind: "DescribeAck", call_id: asked.call_id });
  expect(result.text).toBe('DB_PASSWORD="«redacted:password»"');
  await expect(rig.submit(answerTo(asked, "accept"))).rejects.toMatchObject({
    reason: "NotAllowed",
    message: expect.stringContaining("harness ack"),
  });
  await turn;
  expect(outcomes(rig)).toEqual(["unanswered"]);
  expect(rig.entries()).toMatchObject([{ path: "AGENTS.md" }]);
});

test("a secret in the file is in no event and in no reply", async () => {
  const secret = `ghp_${"a1B2".repeat(9)}`;
  const rig = await open(true, { text: `NESTED RULES ${secret}` });
  const turn = rig.send();
  const asked = await asking(rig);
  const { result } = await rig.submit({ kind: "DescribeAck", call_id: asked.call_id });
  await rig.submit(answerTo(asked, "deny"));
  await turn;
  const said = JSON.stringify([result, rig.events satisfies readonly Event[]]);
  expect(said).toContain("NESTED RULES");
  expect(said).not.toContain(secret);
});
