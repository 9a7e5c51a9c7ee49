/** Each assertion holds where it should and fails where it should, and says why and where. */

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Assertion } from "#artifacts";
import { defined } from "#base";
import type { Event, SessionId } from "#protocol";
import { createWorkspaceFiles } from "#world";
import { grade } from "./grade.ts";
import type { Judged } from "./result.ts";
import { createRunLog } from "./run-log.ts";

const session = "sess_01M7HAP5DKR0Y4FNKN8C21ZCMD" as SessionId;
const child = "sess_01M7HAP5DKR0Y4FNKN8C21ZCME" as SessionId;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "harness-grade-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Told = readonly [kind: string, payload: object, of?: SessionId];

/** The events get the ids 1, 2, 3, …; only what the graders read is in them. */
function judge(assertion: Assertion, ...told: readonly Told[]): Promise<Judged> {
  const events = told.map(([kind, payload, of = session], index) => {
    return { id: index + 1, kind, session: of, ts: "2026-01-01T00:00:00.000Z", payload };
  });
  const log = createRunLog(events as unknown as Event[], session);
  return grade(assertion, {
    log,
    files: createWorkspaceFiles(folder),
    redact: (text) => text.replace("ghp_1", "«redacted:key»"),
  });
}

const text = (words: string, step = 1): Told => ["TextDelta", { step, block: 0, text: words }];
const called = (name: string, label = name): Told => ["ToolCallStarted", { step: 1, name, label, args: {} }];
const ended: Told = ["TurnEnded", { outcome: "answered", duration_ms: 900 }];
const used = (input: number, output: number, cost?: number, of = session): Told => [
  "CostIncremented",
  {
    model: "openai:mock",
    usage: { input_tokens: input, output_tokens: output, cache_read_tokens: 0, cache_write_tokens: 0 },
    ...defined({ cost_usd: cost }),
  },
  of,
];
const asked = (action: string, blocked = action === "block"): Told => [
  "HooksAsked",
  { event: "tool.pre", depth: 0, decisions: [{ hook: "guard", action, reason: "no way" }], blocked },
];
const delegated = (agent: string, depth: number): Told => ["DelegationStarted", { session: child, agent, depth }];
const verified = (yes: boolean): Told => [
  "DelegationVerified",
  { session: child, attempt: 1, verified: yes, ...(yes ? {} : { reason: "there is no such file" }) },
];

describe("response_contains and response_not_contains", () => {
  test("look for a secret where the log has put a marker", async () => {
    const answer = text("use «redacted:key» here");
    expect(await judge({ type: "response_not_contains", value: "ghp_1" }, answer, ended)).toMatchObject({
      passed: false,
    });
    expect(await judge({ type: "response_contains", value: "use ghp_1" }, answer, ended)).toMatchObject({
      passed: true,
    });
    expect(await judge({ type: "response_not_contains", value: "ghp_1" }, text("use none"), ended)).toMatchObject({
      passed: true,
    });
  });

  const answer = [text("I look first. "), called("fs.read"), text("The answer is 42.", 2), ended];

  test("look at the last response alone, and name its end", async () => {
    expect(await judge({ type: "response_contains", value: "is 42" }, ...answer)).toEqual({
      passed: true,
      reason: "the response contains it",
      at: { session, event: 4 },
    });
    expect(await judge({ type: "response_contains", value: "look first" }, ...answer)).toEqual({
      passed: false,
      reason: 'the response does not contain it: "The answer is 42."',
      at: { session, event: 4 },
    });
    expect(await judge({ type: "response_not_contains", value: "look first" }, ...answer)).toMatchObject({
      passed: true,
    });
    expect(await judge({ type: "response_not_contains", value: "42" }, ...answer)).toEqual({
      passed: false,
      reason: 'the response contains it: "The answer is 42."',
      at: { session, event: 4 },
    });
  });

  test("what a delegate says is not the response", async () => {
    const told: Told[] = [text("Done."), ["TextDelta", { step: 1, block: 0, text: "secret" }, child]];
    expect(await judge({ type: "response_contains", value: "secret" }, ...told)).toMatchObject({ passed: false });
  });

  test("no response at all has nothing in it", async () => {
    expect(await judge({ type: "response_contains", value: "x" })).toEqual({
      passed: false,
      reason: "the response does not contain it: it is empty",
    });
  });
});

describe("tool_called and tool_not_called", () => {
  test("count every try, by either name", async () => {
    const told = [called("exec", "Bash"), called("exec", "Bash"), called("fs.read")];
    expect(await judge({ type: "tool_called", tool: "exec" }, ...told)).toEqual({
      passed: true,
      reason: "called 2 times",
      at: { session, event: 1 },
    });
    expect(await judge({ type: "tool_called", tool: "Bash" }, ...told)).toMatchObject({ passed: true });
    expect(await judge({ type: "tool_called", tool: "fs.write" }, ...told)).toEqual({
      passed: false,
      reason: "was not called; the agent called: exec, fs.read",
    });
    expect(await judge({ type: "tool_not_called", tool: "fs.write" }, ...told)).toEqual({
      passed: true,
      reason: "never called",
    });
    expect(await judge({ type: "tool_not_called", tool: "fs.read" }, ...told)).toEqual({
      passed: false,
      reason: "called once",
      at: { session, event: 3 },
    });
  });
});

describe("hook_blocked and hook_not_blocked", () => {
  const blocks = { type: "hook_blocked", hook: "guard" } as const;
  const lets = { type: "hook_not_blocked", hook: "guard" } as const;

  test("a block is the answer of the hook itself", async () => {
    const place = { reason: "block at tool.pre: no way", at: { session, event: 2 } };
    expect(await judge(blocks, asked("allow"), asked("block"))).toEqual({ passed: true, ...place });
    expect(await judge(lets, asked("allow"), asked("block"))).toEqual({ passed: false, ...place });
  });

  test("one that was asked and never blocked, and one that was never asked", async () => {
    expect(await judge(blocks, asked("allow"))).toEqual({ passed: false, reason: "it ran once and never blocked" });
    expect(await judge(lets, asked("allow"))).toMatchObject({ passed: true });
    expect(await judge(blocks)).toEqual({ passed: false, reason: "it never ran" });
    expect(await judge(lets)).toEqual({ passed: true, reason: "it never ran" });
  });

  test("a hook that failed has not answered, and still blocked where failing blocks", async () => {
    expect(await judge(blocks, asked("failed", true))).toMatchObject({ passed: false, at: { session, event: 1 } });
    expect(await judge(lets, asked("failed", true))).toMatchObject({ passed: false, at: { session, event: 1 } });
    expect(await judge(lets, asked("failed", false))).toMatchObject({ passed: true });
  });
});

describe("no_errors", () => {
  const noErrors = { type: "no_errors" } as const;
  const result = (is_error: boolean, reason?: string): Told => [
    "ToolResult",
    { name: "exec", is_error, outcome: "error", reason },
  ];

  test.each<[string, Told]>([
    ["exec ended with ToolFailed", result(true, "ToolFailed")],
    ["exec ended with error", result(true)],
    ['ProviderUnavailable: "gone"', ["Error", { reason: "ProviderUnavailable", message: "gone", terminal: true }]],
    ["a turn ended with StepLimit", ["TurnEnded", { outcome: "step_limit", reason: "StepLimit", duration_ms: 1 }]],
  ])("%s", async (reason, told) => {
    expect(await judge(noErrors, result(false), told)).toEqual({ passed: false, reason, at: { session, event: 2 } });
  });

  test("what was tried again and worked is none", async () => {
    const retried: Told = ["Error", { reason: "RateLimited", message: "later", terminal: false }];
    expect(await judge(noErrors, retried, result(false), ended)).toEqual({ passed: true, reason: "no error" });
  });
});

describe("limits", () => {
  test("completed_within: all turns of the case together", async () => {
    expect(await judge({ type: "completed_within", withinMs: 2000 }, ended, ended)).toEqual({
      passed: true,
      reason: "it took 1.8 s; the limit is 2.0 s",
      at: { session, event: 2 },
    });
    expect(await judge({ type: "completed_within", withinMs: 1000 }, ended, ended)).toMatchObject({ passed: false });
  });

  test("tokens_under: delegates count, and the call that crossed is named", async () => {
    const told = [used(60, 20), used(15, 5, undefined, child)];
    expect(await judge({ type: "tokens_under", tokens: 101 }, ...told)).toEqual({
      passed: true,
      reason: "100 tokens; the limit is 101",
    });
    expect(await judge({ type: "tokens_under", tokens: 100 }, ...told)).toEqual({
      passed: false,
      reason: "100 tokens; the limit is 100",
      at: { session: child, event: 2 },
    });
  });

  test("cost_under: what has no price does not cost nothing", async () => {
    const cheap = { type: "cost_under", usd: 0.05 } as const;
    expect(await judge(cheap, used(1, 1, 0.02), used(1, 1, 0.02))).toEqual({
      passed: true,
      reason: "$0.0400; the limit is $0.05",
    });
    expect(await judge(cheap, used(1, 1, 0.05))).toMatchObject({ passed: false });
    expect(await judge(cheap, used(1, 1, 0.01), used(1, 1))).toEqual({
      passed: false,
      reason: "no price is known for openai:mock",
      at: { session, event: 2 },
    });
  });

  test("delegation_depth", async () => {
    const two = { type: "delegation_depth", depth: 2 } as const;
    expect(await judge(two)).toEqual({ passed: true, reason: "no task was delegated" });
    expect(await judge(two, delegated("scout", 1), delegated("scout", 2))).toMatchObject({ passed: true });
    expect(await judge(two, delegated("scout", 1), delegated("scout", 3))).toEqual({
      passed: false,
      reason: "the deepest delegate was at depth 3",
      at: { session, event: 2 },
    });
  });
});

describe("event_emitted", () => {
  const custom: Told = [
    "CustomEvent",
    { namespace: "custom", kind: "custom.deployed", payload: { to: "staging", n: [1] } },
  ];

  test("an event of the protocol, or one of a script, with the fields that are asked for", async () => {
    const emitted = (event: string, payload: Record<string, unknown> = {}): Promise<Judged> =>
      judge({ type: "event_emitted", event, payload }, ended, custom);
    expect(await emitted("TurnEnded", { outcome: "answered" })).toMatchObject({
      passed: true,
      at: { session, event: 1 },
    });
    expect(await emitted("custom.deployed", { n: [1] })).toMatchObject({ passed: true, at: { session, event: 2 } });
    expect(await emitted("custom.deployed", { to: "production" })).toEqual({
      passed: false,
      reason: 'emitted once, never with these fields; the first was "{\\"to\\":\\"staging\\",\\"n\\":[1]}"',
      at: { session, event: 2 },
    });
    expect(await emitted("custom.undone")).toEqual({ passed: false, reason: "not in the log" });
  });
});

describe("files", () => {
  beforeEach(() => writeFileSync(join(folder, "notes.txt"), "call Ada"));

  test("file_exists", async () => {
    expect(await judge({ type: "file_exists", path: "notes.txt" })).toEqual({ passed: true, reason: "8 bytes" });
    expect(await judge({ type: "file_exists", path: "other.txt" })).toEqual({
      passed: false,
      reason: "the workspace does not contain this file",
    });
  });

  test("file_contains", async () => {
    expect(await judge({ type: "file_contains", path: "notes.txt", value: "Ada" })).toMatchObject({ passed: true });
    expect(await judge({ type: "file_contains", path: "notes.txt", value: "Bob" })).toEqual({
      passed: false,
      reason: "the file does not contain it (8 characters)",
    });
    expect(await judge({ type: "file_contains", path: "other.txt", value: "Ada" })).toMatchObject({ passed: false });
  });

  test("a link that leads out of the workspace proves nothing", async () => {
    symlinkSync("/etc/hostname", join(folder, "link"));
    const judged = await judge({ type: "file_exists", path: "link" });
    expect(judged).toMatchObject({ passed: false, reason: expect.stringContaining("could not check it") });
  });
});

describe("json_schema", () => {
  const schema = { type: "object", required: ["total"], properties: { total: { type: "integer" } } };

  test("the response, in a fence or not", async () => {
    expect(await judge({ type: "json_schema", schema }, text('{"total": 3}'), ended)).toMatchObject({ passed: true });
    const fenced = text('```json\n{"total": 3}\n```');
    expect(await judge({ type: "json_schema", schema }, fenced, ended)).toMatchObject({ passed: true });
  });

  test("what is not JSON, and what does not match", async () => {
    expect(await judge({ type: "json_schema", schema }, text("three"), ended)).toMatchObject({
      passed: false,
      reason: expect.stringContaining("the response is not JSON"),
      at: { session, event: 2 },
    });
    expect(await judge({ type: "json_schema", schema }, text('{"total": "x"}'), ended)).toMatchObject({
      passed: false,
      reason: expect.stringContaining("#/total"),
    });
  });
});

describe("verified", () => {
  test("every delegate was accepted in the end", async () => {
    expect(await judge({ type: "verified" }, delegated("scout", 1), verified(false), verified(true))).toEqual({
      passed: true,
      reason: "verified once",
    });
    expect(await judge({ type: "verified", agent: "scout" }, delegated("scout", 1), verified(true))).toMatchObject({
      passed: true,
    });
  });

  test("a claim that was not accepted, one that nobody checked, and nothing at all", async () => {
    expect(await judge({ type: "verified" }, delegated("scout", 1), verified(false))).toEqual({
      passed: false,
      reason: "the verifiers did not accept the work of scout: there is no such file",
      at: { session, event: 2 },
    });
    expect(await judge({ type: "verified" }, delegated("scout", 1))).toEqual({
      passed: false,
      reason: "no verifier checked the work of scout",
      at: { session, event: 1 },
    });
    expect(await judge({ type: "verified" })).toEqual({ passed: false, reason: "no task was delegated" });
    expect(await judge({ type: "verified", agent: "writer" }, delegated("scout", 1), verified(true))).toEqual({
      passed: false,
      reason: "no task was delegated to writer",
    });
  });
});
