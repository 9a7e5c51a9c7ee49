/** Context files that come up during a session without a terminal of its own: asked of whoever is attached, and the answer is kept. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { createProjectLoader } from "#artifacts";
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
  const prompts = () => rig.vendor.requests.map(({ body }) => JSON.stringify(body).includes("NESTED RULES"));
  return { ...rig, prompts, entries: () => trustOf(rig.workspace.root, directory).entries() };
}

async function answered(rig: HarnessRig, answer: string) {
  const turn = rig.send();
  const { call_id, question, options } = await rig.next("QuestionAsked");
  await rig.submit({ kind: "AnswerQuestion", call_id, answer });
  await turn;
  return { question, options };
}

test("whoever is attached sees the whole text, and an allowed file is in the prompt from the next step on", async () => {
  const rig = await open(true);
  const { question, options } = await answered(rig, "allow");
  expect(question).toContain("The context file pkg/AGENTS.md is new.");
  expect(question).toContain("NESTED RULES");
  expect(options).toEqual(["allow", "leave out"]);
  expect(rig.of("QuestionAsked")).toMatchObject([{ file: "pkg/AGENTS.md" }]);
  expect(rig.prompts()).toEqual([false, true]);
  expect(rig.entries()).toMatchObject([{ path: "AGENTS.md" }, { path: "pkg/AGENTS.md", by: "ada" }]);
  await rig.send();
  expect(rig.of("QuestionAsked")).toHaveLength(1);
});

test("a file that is left out stays out, and is not asked about again", async () => {
  const rig = await open(true);
  await answered(rig, "leave out");
  await rig.send();
  expect(rig.prompts()).toEqual([false, false, false, false]);
  expect(rig.entries()).toMatchObject([{ path: "AGENTS.md" }, { path: "pkg/AGENTS.md", denied: true }]);
  expect(rig.of("QuestionAsked")).toHaveLength(1);
});

test("an answer that is neither keeps nothing", async () => {
  const rig = await open(true);
  await answered(rig, "maybe");
  expect(rig.prompts()).toEqual([false, false]);
  expect(rig.entries()).toMatchObject([{ path: "AGENTS.md" }]);
});

test.each([
  ["nobody can answer", false, "NESTED RULES"],
  ["the text is too long to be judged in a question", true, `NESTED RULES${"x".repeat(33 * 1024)}`],
])("a file is left out with a notice where %s", async (_, interactive, text) => {
  const rig = await open(interactive, { text });
  await rig.send();
  expect(rig.prompts()).toEqual([false, false]);
  expect(rig.of("QuestionAsked")).toEqual([]);
  expect(rig.of("ProjectChanged")).toMatchObject([{ in_force: false, files: [join("pkg", "AGENTS.md")] }]);
});

test("an agent that is attached cannot answer", async () => {
  const rig = await open(true);
  const turn = rig.send();
  const { call_id } = await rig.next("QuestionAsked");
  const agent = rig.harness.control.connect({ identityClass: "agent", interactive: true, onEvent: () => undefined });
  await agent.submit({ kind: "AttachSession", session: rig.session });
  const answer = { kind: "AnswerQuestion", session: rig.session, call_id, answer: "allow" } as const;
  await expect(agent.submit(answer)).rejects.toMatchObject({ reason: "NotAllowed" });
  await rig.submit({ kind: "CancelTurn" });
  await turn;
  expect(rig.entries()).toMatchObject([{ path: "AGENTS.md" }]);
});
