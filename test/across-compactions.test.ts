/** What reaches over the boundary of a compaction: undo, exports, branches, plans, and the tool that reads removed results again. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SessionId } from "#protocol";
import { loadPortability } from "#stores";
import { createSystemClock } from "#world";
import { calls, says } from "./fakes/harness-rig.ts";
import { createLongRig, type LongRig, textOf, withContext } from "./fakes/long-rig.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";

const NOW = "2026-01-01T00:00:00.000Z";
const WIDE = 1_000_000;
const PLAN = "1. Read data.txt\n2. Count its lines";
const UNDONE = /The user reverted changes that your earlier calls had made[^}]*made\.txt/;
const jsonl = () => ({ kind: "jsonl", root: join(createTemporaryWorkspace().root, "log") }) as const;

async function portability(root: string) {
  const parts = await loadPortability();
  return { ...parts, store: await parts.openJsonlStore({ root, clock: createSystemClock() }) };
}

async function compact(rig: LongRig): Promise<void> {
  expect(await (await rig.submit({ kind: "CompactSession" })).done).toMatchObject({ outcome: "answered" });
}

/** What the next request of a session has, without the marks of delimiters, which have the session in them. */
async function nextRequest(rig: LongRig, session: SessionId): Promise<string> {
  await rig.client.submit({ kind: "CreateSession", resume: session });
  const content = [{ type: "text" as const, text: "instead" }];
  const { done } = await rig.client.submit({ kind: "SendInput", session, content });
  expect(await done).toMatchObject({ outcome: "answered" });
  return said(rig.steps.at(-2)?.messages);
}

const said = (messages: LongRig["steps"][number]["messages"] = []): string =>
  JSON.stringify(messages.slice(1).map(({ content }) => content)).replace(/id=\\"[0-9a-f]+\\"/g, "");

describe("undo", () => {
  const writing = async (context = "compaction: summarize"): Promise<LongRig> => {
    const undo = { directory: join(createTemporaryWorkspace().outside, "undo"), key: Buffer.alloc(32, 1) };
    const permissions = [{ effect: "allow", rule: "Write", source: "test" }] as const;
    const models = [{ model: "openai:mock-model", contextTokens: WIDE }];
    const rig = await createLongRig({
      files: withContext(context),
      rig: { undo, settings: { permissions, models } },
      step: (_, at) => (at === 1 ? calls(["fs_write", { path: "made.txt", content: "x" }]) : undefined),
    });
    await rig.turns(6);
    return rig;
  };

  test("takes back and makes again what a turn before the boundary changed, and the model reads that", async () => {
    const rig = await writing();
    const turn = rig.of("TurnStarted")[0]?.turn;
    const isThere = (): boolean => existsSync(join(rig.workspace.root, "made.txt"));
    await compact(rig);
    expect(rig.of("CompactionTriggered")[0]?.files).toContainEqual(
      expect.objectContaining({ path: "made.txt", changed: true }),
    );
    expect(isThere()).toBe(true);
    await rig.submit({ kind: "UndoTurn", ...(turn === undefined ? {} : { turn }) });
    expect(isThere()).toBe(false);
    await rig.turns(1);
    expect(textOf(rig.steps.at(-1))).toMatch(UNDONE);
    await rig.submit({ kind: "Redo" });
    expect(isThere()).toBe(true);
  });

  test.each([
    ["a summary", "summarize"],
    ["an excerpt", "prune"],
  ])("before a compaction is not forgotten by %s", async (_, compaction) => {
    const rig = await writing(`compaction: ${compaction}`);
    const turn = rig.of("TurnStarted")[0]?.turn;
    await rig.submit({ kind: "UndoTurn", ...(turn === undefined ? {} : { turn }) });
    await compact(rig);
    await rig.turns(1);
    const { files } = rig.of("CompactionTriggered")[0] ?? {};
    expect(files?.find(({ path }) => path === "made.txt")).not.toHaveProperty("sha256");
    expect(textOf(rig.steps.at(-1))).toMatch(UNDONE);
  });
});

describe("an export", () => {
  test("is imported elsewhere with its compactions: the conversation is the same", async () => {
    const [from, to] = [jsonl(), jsonl()];
    const rig = await createLongRig({ rig: { store: from } });
    await rig.turns(18);
    expect(rig.of("CompactionTriggered").some(({ strategy }) => strategy === "summarize")).toBe(true);
    await rig.submit({ kind: "EndSession" });
    const before = rig.steps.at(-1)?.messages;
    const source = await portability(from.root);
    const meta = await source.store.get(rig.session);
    if (meta === undefined) throw new Error("the session is gone");
    const lines = await Array.fromAsync(source.exportLines(meta, source.store.readEvidence(rig.session), "0.1.0"));
    await source.store.close();
    const target = await portability(to.root);
    const { session } = await target.importSession(target.store, { lines: () => lines, name: "it", now: NOW });
    await target.store.close();
    const elsewhere = await createLongRig({ rig: { store: to } });
    expect((await nextRequest(elsewhere, session)).startsWith(said(before).slice(0, -1))).toBe(true);
  });
});

describe("a branch", () => {
  test("from before the boundary has what was said before it, and no summary", async () => {
    const store = jsonl();
    const rig = await createLongRig({ window: WIDE, rig: { store } });
    await rig.turns(4);
    const cut = rig.events.findLast(({ kind }) => kind === "TurnEnded")?.id ?? 0;
    const before = said(rig.steps.at(-1)?.messages);
    await compact(rig);
    await rig.turns(1);
    expect(textOf(rig.steps.at(-1))).toContain('from=\\"summary\\"');
    const log = await portability(store.root);
    const branch = await log.branchSession(log.store, rig.session, { at: cut, now: NOW });
    await log.store.close();
    expect((await nextRequest(rig, branch.session)).startsWith(before.slice(0, -1))).toBe(true);
  });

  test("has the plan that was agreed before its cut, also behind a boundary, and no later one", async () => {
    const store = jsonl();
    const rig = await createLongRig({ window: WIDE, rig: { store } });
    await rig.turns(4);
    const unplanned = rig.events.at(-1)?.id ?? 0;
    await rig.submit({ kind: "ExitPlanMode", approve: true, plan: PLAN });
    await rig.turns(1);
    await compact(rig);
    await rig.turns(1);
    const log = await portability(store.root);
    const branch = async (at?: number) => {
      const { session } = await log.branchSession(log.store, rig.session, { now: NOW, ...(at && { at }) });
      return nextRequest(rig, session);
    };
    expect(await branch()).toContain("Count its lines");
    expect(await branch(unplanned)).not.toContain("Count its lines");
    await log.store.close();
  });
});

test("a skill with allowed-tools hides reread until the turn ends, and a call of it says why", async () => {
  const skill = "---\nname: look\ndescription: Looks.\nallowed-tools: Read\n---\n\nLook.\n";
  let [isLimited, event] = [false, 0];
  const rig = await createLongRig({
    files: { ".harness/skills/look/SKILL.md": skill },
    step(body, at) {
      const removed = Number(/reread \{\\"event\\": (\d+)\}/.exec(textOf(body))?.[1] ?? 0);
      if (event === 0 && removed > 0 && body.messages.at(-1)?.role !== "tool") {
        [isLimited, event] = [true, removed];
        return calls(["skill", { name: "look" }]);
      }
      if (!isLimited) return undefined;
      if (rig.of("ToolResult").some(({ name }) => name === "reread")) {
        isLimited = false;
        return says(`no: ${at}`);
      }
      return calls(["reread", { event }]);
    },
  });
  const offered = () => rig.steps.at(-1)?.tools?.map((tool) => tool.function.name) ?? [];
  while (event === 0) await rig.turns(1);
  expect(offered()).toEqual(["fs_read", "skill"]);
  expect(rig.of("ToolResult").find(({ name }) => name === "reread")).toMatchObject({ outcome: "denied" });
  expect(JSON.stringify(rig.of("CallJudged"))).toContain("skill look");
  await rig.turns(1);
  expect(offered()).toContain("reread");
});
