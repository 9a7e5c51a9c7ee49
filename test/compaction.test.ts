/** Long sessions in the whole program: what a compaction leaves, when it comes, what it costs, and what stays when it fails. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { TurnId } from "#protocol";
import { loadPortability } from "#stores";
import { createSystemClock } from "#world";
import { record, startReplay } from "./fakes/cassette-rig.ts";
import { createDelegationRig } from "./fakes/delegation-rig.ts";
import type { FakeResponse } from "./fakes/fake-provider.ts";
import { calls, says } from "./fakes/harness-rig.ts";
import {
  type Asked,
  createLongRig,
  isSummary,
  LONG_TEXT,
  SUMMARY,
  textOf,
  WINDOW,
  withContext,
} from "./fakes/long-rig.ts";
import { runLongSession } from "./fakes/long-session.ts";
import type { MockReply } from "./fakes/mock-reply.ts";
import type { ProjectFiles } from "./fakes/project-rig.ts";
import { agentFile, answers, delegates, HARNESS, makes } from "./fakes/roles.ts";
import { createTemporaryWorkspace } from "./fakes/temporary-workspace.ts";
import { append } from "./store-suite.ts";

describe("a request that would be too large", () => {
  test("gets references first, then a summary, and is never refused", async () => {
    const rig = await createLongRig();
    await rig.turns(30);
    const compactions = rig.of("CompactionTriggered");
    expect(compactions[0]).toMatchObject({ strategy: "prune", trigger: "window", summary: "" });
    const written = compactions.filter(({ strategy }) => strategy === "summarize");
    expect(written.length).toBeGreaterThan(0);
    expect(rig.summaries).toHaveLength(written.length);
    for (const { tokens_before = 0, tokens_after = 0 } of compactions) expect(tokens_after).toBeLessThan(tokens_before);
    expect(rig.of("Error")).toEqual([]);
    // What people said is word for word outside of the delimiters; what a model wrote of it is inside.
    const last = textOf(rig.steps.at(-1));
    expect(last).toContain("request number 30.");
    expect(last).toMatch(/<untrusted id=\\"[0-9a-f]+\\" from=\\"summary\\">\\nThe agent reads data.txt/);
    expect(written.at(-1)?.files).toEqual([
      { path: "data.txt", changed: false, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
  });

  test("keeps its beginning from step to step but at a boundary", async () => {
    const rig = await createLongRig();
    await rig.turns(20);
    const changed = rig.steps.filter((body, at) => {
      const before = rig.steps[at - 1]?.messages ?? [];
      return JSON.stringify(body.messages.slice(0, before.length)) !== JSON.stringify(before);
    });
    expect(changed).toHaveLength(rig.of("CompactionTriggered").length);
  });

  test("is compacted without a model where compaction is prune", async () => {
    const rig = await createLongRig({ files: withContext("compaction: prune, max_tokens: 14000"), window: null });
    await rig.turns(25);
    expect(rig.summaries).toEqual([]);
    const compactions = rig.of("CompactionTriggered");
    expect(compactions[0]).toMatchObject({ trigger: "max_tokens" });
    const excerpt = compactions.find(({ strategy }) => strategy === "excerpt");
    expect(excerpt?.summary).toMatch(/- fs\.read .*data\.txt.*: ok, result \d+/);
  });

  test.each<[string, string | undefined, object, object]>([
    ["by the user, without a project", undefined, { maxHistory: 4 }, { trigger: "max_history", strategy: "summarize" }],
    [
      "by the user, where the project says nothing",
      "files: []",
      { maxHistory: 4, compaction: "prune" },
      { strategy: "excerpt" },
    ],
    [
      "by the project before the user",
      "max_history: 4",
      { maxHistory: 90, compaction: "prune" },
      { strategy: "excerpt" },
    ],
  ])("is compacted as set %s", async (_, project, context, made) => {
    const files = project === undefined ? {} : withContext(project);
    const models = [{ model: "openai:mock-model", contextTokens: 1_000_000 }];
    const rig = await createLongRig({ files, rig: { settings: { models, context } } });
    await rig.turns(5);
    expect(rig.of("CompactionTriggered")).toMatchObject([made]);
  });

  test("has the last half of max_history and a summary of the turns before", async () => {
    const rig = await createLongRig({ files: withContext("max_history: 4") });
    await rig.turns(5);
    expect(rig.of("CompactionTriggered")).toMatchObject([{ trigger: "max_history", strategy: "summarize" }]);
    expect(rig.of("CompactionTriggered")[0]?.kept).toHaveLength(3);
  });

  test("is cut to max_history and refused when it is too long, where compaction is off", async () => {
    const rig = await createLongRig({ files: withContext("max_history: 1, compaction: off"), window: 12_000 });
    await rig.turns(3);
    expect(textOf(rig.steps.at(-1))).not.toContain("request number 2.");
    expect(await rig.send("x".repeat(60_000))).toMatchObject({ outcome: "error", reason: "ContextOverflow" });
    expect(rig.of("CompactionTriggered")).toEqual([]);
  });
});

describe("reread", () => {
  test("is there once something was removed, and gives it back as the log has it", async () => {
    let result = 0;
    const rig = await createLongRig({
      step(body) {
        const said = textOf(body);
        const [, event] = /reread \{\\"event\\": (\d+)\}/.exec(said) ?? [];
        if (event === undefined || result > 0 || body.messages.at(-1)?.role === "tool") return undefined;
        result = Number(event);
        return calls(["reread", { event: result }]);
      },
    });
    await rig.turns(12);
    const names = (body: Asked | undefined) => body?.tools?.map((tool) => tool.function.name) ?? [];
    expect(names(rig.steps[0])).not.toContain("reread");
    expect(names(rig.steps.at(-1))).toContain("reread");
    const again = rig.of("ToolResult").find(({ name }) => name === "reread");
    const original = rig.events.find(({ id }) => id === result);
    expect(original).toMatchObject({ kind: "ToolResult", payload: { content: again?.content } });
    expect(again).toMatchObject({ outcome: "ok", content: [{ text: expect.stringContaining("a line of a file") }] });
    expect(rig.of("ToolIntent").some(({ name }) => name === "reread")).toBe(true);
  });

  test("says so for a number that is no result", async () => {
    let asked = false;
    const rig = await createLongRig({
      step(body) {
        if (asked || !textOf(body).includes("was removed to save room")) return undefined;
        asked = true;
        return calls(["reread", { event: 1 }]);
      },
    });
    await rig.turns(12);
    const [result] = rig.of("ToolResult").filter(({ name }) => name === "reread");
    expect(result).toMatchObject({
      is_error: true,
      content: [{ text: expect.stringContaining("1 is not the number") }],
    });
  });
});

describe("the request for a summary", () => {
  test.each<[string, MockReply, RegExp]>([
    ["empty", says(" \n"), /the model wrote nothing/],
    ["larger than what it replaces", says("word ".repeat(60_000)), /larger than what it replaces|too long/],
    ["a call of a tool", calls(["fs_remove", { path: "data.txt" }]), /called tools instead/],
    [
      "refused",
      { type: "http", status: 400, headers: {}, body: '{"error":{"message":"no"}}' },
      /the model failed: ProviderRefused/,
    ],
  ])("that comes back %s leaves an excerpt and the reason", async (_, summary, why) => {
    const rig = await createLongRig({ summary });
    await rig.turns(16);
    const made = rig.of("CompactionTriggered").find(({ strategy }) => strategy === "excerpt");
    expect(made?.why).toMatch(why);
    expect(made?.summary).toContain("No model summarised this part.");
    expect(rig.of("ToolIntent").every(({ name }) => name === "fs.read")).toBe(true);
  });

  test("costs what it costs: in the turn, the session and the log", async () => {
    const rig = await createLongRig();
    await rig.turns(16);
    const requests = rig.steps.length + rig.summaries.length;
    expect(rig.summaries.length).toBeGreaterThan(0);
    expect(rig.of("CostIncremented")).toHaveLength(requests);
    expect(rig.of("TurnEnded").at(-1)?.session_total?.tokens).toBe(requests * 30);
  });

  test("is not made by a model that cannot be asked", async () => {
    const rig = await createLongRig({ files: withContext("compaction_model: 'nobody:knows'") });
    await rig.turns(16);
    const made = rig.of("CompactionTriggered").find(({ strategy }) => strategy !== "prune");
    expect(made).toMatchObject({ strategy: "excerpt", why: expect.stringContaining("nobody") });
  });
});

describe("on demand", () => {
  test("compacts a short conversation, with a focus, in a turn of its own", async () => {
    const rig = await createLongRig({ window: 1_000_000 });
    await rig.turns(5);
    const { done } = await rig.submit({ kind: "CompactSession", focus: "the deadline" });
    expect(await done).toMatchObject({ outcome: "answered" });
    expect(rig.of("CompactionTriggered")).toMatchObject([
      { trigger: "command", strategy: "summarize", focus: "the deadline" },
    ]);
    expect(textOf(rig.summaries[0])).toContain("the deadline");
    await rig.turns(1);
    expect(textOf(rig.steps.at(-1))).toContain('from=\\"summary\\"');
    expect(rig.of("TurnStarted")).toHaveLength(rig.of("TurnEnded").length);
  });

  test("ends with the reason when there is nothing to compact", async () => {
    const rig = await createLongRig();
    const { done } = await rig.submit({ kind: "CompactSession" });
    expect(await done).toMatchObject({ outcome: "error", reason: "NothingToCompact" });
    expect(rig.of("CompactionTriggered")).toEqual([]);
  });

  test("is cancelled in the middle and leaves everything as it was", async () => {
    const never = new Promise<void>(() => undefined);
    const summary: MockReply = { type: "message", blocks: [{ type: "text", text: "late" }], headersAfter: never };
    const rig = await createLongRig({ summary, window: 1_000_000 });
    await rig.turns(5);
    const { done } = await rig.submit({ kind: "CompactSession" });
    await expect.poll(() => rig.summaries.length).toBe(1);
    await rig.submit({ kind: "CancelTurn" });
    expect(await done).toMatchObject({ outcome: "cancelled" });
    expect(rig.of("CompactionTriggered")).toEqual([]);
    await rig.turns(1);
    expect(textOf(rig.steps.at(-1))).toContain("request number 1.");
  });

  test("a hook refuses it, and one that changes the focus is heard", async () => {
    const hook = (script: string): ProjectFiles => ({
      "harness.md": "---\n---\n\nBe brief.\n",
      ".harness/hooks/guard.md": `---\nname: guard\nevent: context.compact\npriority: 1\ntimeout_ms: 60000\nscript: |\n  def handle(event, payload):\n      ${script}\n---\n\nGuards.\n`,
    });
    const refused = await createLongRig({ files: hook('return block("keep it")') });
    await refused.turns(5);
    const { done } = await refused.submit({ kind: "CompactSession" });
    expect(await done).toMatchObject({ reason: "HookBlocked", message: expect.stringContaining("keep it") });
    expect(refused.summaries).toEqual([]);
    const focused = await createLongRig({ files: hook('return modify({"focus": "ports of " + payload["trigger"]})') });
    await focused.turns(5);
    await (await focused.submit({ kind: "CompactSession" })).done;
    expect(textOf(focused.summaries.at(-1))).toContain("ports of manual");
  });
});

describe("a provider that refuses the request as too long", () => {
  const refusal: MockReply = {
    type: "http",
    status: 400,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ error: { message: "maximum context length", code: "context_length_exceeded" } }),
  };

  test("is asked once more with less, also when nobody knew its window", async () => {
    let refused = false;
    const rig = await createLongRig({
      window: null,
      step(_, at) {
        if (at !== 21) return undefined;
        refused = true;
        return refusal;
      },
    });
    await rig.turns(12);
    expect(refused).toBe(true);
    expect(rig.of("CompactionTriggered")[0]).toMatchObject({ trigger: "overflow" });
  });

  test("ends the turn when it refuses again", async () => {
    const rig = await createLongRig({ window: null, step: (_, at) => (at > 20 ? refusal : undefined) });
    await rig.turns(10);
    expect(await rig.send("more")).toMatchObject({ outcome: "error", reason: "ContextOverflow" });
    expect(rig.of("CompactionTriggered")).toHaveLength(1);
  });

  test("an input that is larger than the window alone ends the turn with the sizes", async () => {
    const rig = await createLongRig();
    expect(await rig.send("x ".repeat(60_000))).toMatchObject({
      outcome: "error",
      reason: "ContextOverflow",
      message: expect.stringContaining("20000"),
    });
  });
});

test("two compactions without effect end the turn with the reason", async () => {
  // The prompt alone is above the limit and below the window.
  const files = { "harness.md": `---\n---\n\n${"Be brief. ".repeat(3_200)}\n` };
  const rig = await createLongRig({
    files,
    window: 14_000,
    step: (_, at) =>
      at === 1 ? says(`${"word ".repeat(1_000)}`) : calls(["fs_list", { path: `./${"./".repeat(at)}` }]),
  });
  await rig.turns(1);
  const ended = await rig.send("y ".repeat(3_000));
  expect(ended).toMatchObject({ outcome: "error", reason: "CompactionIneffective" });
  expect(ended.message).toMatch(/compacted twice.*the limit is 11200.*system prompt and the tools/);
  expect(rig.steps.length).toBeLessThan(20);
});

test("a session that is opened again goes on with the same conversation", async () => {
  const rig = await createLongRig();
  await rig.turns(18);
  expect(rig.of("CompactionTriggered").some(({ strategy }) => strategy === "summarize")).toBe(true);
  const before = rig.steps.at(-1)?.messages ?? [];
  await rig.submit({ kind: "EndSession" });
  await rig.client.submit({ kind: "CreateSession", resume: rig.session });
  await rig.turns(1);
  const after = rig.steps.at(-2)?.messages ?? [];
  expect(after.slice(0, before.length)).toEqual(before);
});

test.each(["anthropic", "openai"] as const)(
  "300 steps on the wire of %s: no illegal request, no fact is lost",
  async (vendor) => {
    const report = await runLongSession({ vendor, steps: 300, stepsOfTurn: 25, windowTokens: 24_000, lastSteps: 3 });
    const { steps, illegal, errors, missing } = report;
    expect({ steps, illegal, errors, missing }).toEqual({ steps: 300, illegal: 0, errors: [], missing: [] });
    expect(report.compactions.length).toBeGreaterThan(10);
  },
);

test("a recording with compactions replays byte for byte", async () => {
  const replies = Array.from({ length: 16 }, (_, at) => [
    calls(["fs_read", { path: "data.txt", limit: 1_000 + at }]),
    says(`answer ${at}: ${"word ".repeat(500)}`),
  ]).flat();
  const texts = Array.from({ length: 16 }, (_, at) => `request number ${at}.`);
  let at = 0;
  const recording = await record([], {
    settings: { models: [{ model: "openai:mock-model", contextTokens: WINDOW }] },
    answer: (body) => (isSummary(body) ? SUMMARY : replies[at++]),
    prepare: (workspace) => workspace.put("data.txt", LONG_TEXT),
    async drive({ send }) {
      for (const text of texts) await send(text);
    },
  });
  expect(recording.log.match(/"kind":"CompactionTriggered"/g)?.length).toBeGreaterThan(1);
  const replay = await startReplay(recording);
  for (const text of texts) await replay.send(text);
  await replay.harness.shutdown();
  expect(replay.log()).toBe(recording.log);
});

test("a branch has the boundary, and its own ids are those of the references", async () => {
  const root = join(createTemporaryWorkspace().root, "log");
  const rig = await createLongRig({ rig: { store: { kind: "jsonl", root } } });
  await rig.turns(6);
  expect(rig.of("CompactionTriggered")).toMatchObject([{ strategy: "prune" }]);
  const { openJsonlStore, branchSession } = await loadPortability();
  const store = await openJsonlStore({ root, clock: createSystemClock() });
  const branch = await branchSession(store, rig.session, { now: "2026-01-01T00:00:00.000Z" });
  await store.close();
  const before = rig.steps.at(-1)?.messages ?? [];
  await rig.client.submit({ kind: "CreateSession", resume: branch.session });
  const content = [{ type: "text" as const, text: "instead" }];
  const { done } = await rig.client.submit({ kind: "SendInput", session: branch.session, content });
  expect(await done).toMatchObject({ outcome: "answered" });
  const texts = (messages: readonly { readonly content: unknown }[]) =>
    JSON.stringify(messages.map(({ content: said }) => said));
  const after = rig.steps.at(-2)?.messages ?? [];
  expect(texts(after)).toContain("was removed to save room");
  // Delimiters have the session in their mark; references and what people said do not.
  const unmarked = (text: string) => text.replace(/id=\\"[0-9a-f]+\\"/g, "");
  expect(unmarked(texts(after.slice(0, before.length)))).toBe(unmarked(texts(before)));
});

test("a delegate compacts as its parent where its own context does not say, and rereads without being given the tool by name", async () => {
  const reads = Array.from({ length: 14 }, (_, at) => makes(["fs.read", { path: "data.txt", limit: 1_000 + at }]));
  const offered: string[][] = [];
  const rig = await createDelegationRig(
    {
      "data.txt": LONG_TEXT,
      "harness.md": HARNESS.replace("---\n\n", "context: {compaction: prune, max_tokens: 12000}\n---\n\n"),
      ".harness/agents/scout.md": agentFile("scout", "tools: [fs.read]\ncontext: {max_history: 90}\nmax_turns: 20\n"),
    },
    {
      root: [delegates({ agent: "scout", task: "Read." }), answers("done")],
      scout: reads
        .map(
          (read): FakeResponse =>
            (call) => {
              offered.push(call.request.tools.map(({ name }) => name));
              return read(call);
            },
        )
        .concat(answers("read it all")),
    },
  );
  expect(await rig.send("go")).toMatchObject({ outcome: "answered" });
  const [child] = rig.children();
  const compactions = rig.ofSession(child, "CompactionTriggered");
  expect(compactions.length).toBeGreaterThan(0);
  expect(compactions.map(({ strategy }) => strategy)).not.toContain("summarize");
  expect(rig.of("CompactionTriggered")).toEqual([]);
  expect(offered[0]).toEqual(["fs.read"]);
  expect(offered.at(-1)).toEqual(["fs.read", "reread"]);
});

test("a process that is killed in the middle of a compaction has lost nothing but that turn", async () => {
  const root = join(createTemporaryWorkspace().root, "log");
  const rig = await createLongRig({ rig: { store: { kind: "jsonl", root } }, window: 1_000_000 });
  await rig.turns(3);
  const before = rig.steps.at(-1)?.messages ?? [];
  await rig.submit({ kind: "EndSession" });
  // All that the log has while the summary is written.
  const { openJsonlStore } = await loadPortability();
  const store = await openJsonlStore({ root, clock: createSystemClock() });
  const turn = TurnId.from("0".repeat(26));
  const payload = { turn, content: [], model: "openai:mock-model" };
  await append(store, rig.session, [{ kind: "TurnStarted", ts: new Date().toISOString(), payload }], "");
  await store.close();
  await rig.client.submit({ kind: "CreateSession", resume: rig.session });
  expect(rig.of("TurnEnded").find((ended) => ended.turn === turn)).toMatchObject({ outcome: "error" });
  await rig.turns(1);
  expect(rig.steps.at(-2)?.messages.slice(0, before.length)).toEqual(before);
  expect(rig.of("CompactionTriggered")).toEqual([]);
});
