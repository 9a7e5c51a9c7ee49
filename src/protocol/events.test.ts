import { describe, expect, it } from "vitest";
import { parseEvent } from "./envelope.ts";
import { type EventKind, events } from "./events.ts";

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const turn = `turn_${ULID}`;
const call_id = `call_${ULID}`;
const job = `job_${ULID}`;
const usage = { input_tokens: 1, output_tokens: 2, cache_read_tokens: 3, cache_write_tokens: 4 };
const envelope = { id: 1, session: `sess_${ULID}`, originator: `cli_${ULID}`, ts: "2026-01-01T00:00:00.000Z" };

/** For each kind a right payload with all its fields, and a change to it that must be refused. */
const examples: Record<EventKind, readonly [payload: object, wrong: object]> = {
  TurnStarted: [{ turn, content: [{ type: "text", text: "hi" }], model: "a:b", queued: 3 }, { content: "hi" }],
  InputQueued: [
    {
      content: [{ type: "text", text: "hi" }],
      by: `cli_${ULID}`,
      allowed_by: { ids: [`tok_${ULID}`], until: "2026-01-01T00:00:00.000Z" },
    },
    { allowed_by: { ids: [], until: "2026-01-01T00:00:00.000Z" } },
  ],
  TurnLost: [{ turn, reason: "StoreFailed", message: "full" }, { message: 1 }],
  InputRefused: [{ queued: 3, by: `cli_${ULID}`, reason: "TokenRevoked", message: "gone" }, { queued: 0 }],
  TurnSteered: [{ turn, step: 1, content: [{ type: "text", text: "hi" }], by: `cli_${ULID}` }, { step: 0 }],
  ContextAdded: [
    { origin: "hook", what: "x (config.toml:1)", content: [{ type: "text", text: "hi" }] },
    { origin: "web" },
  ],
  TextDelta: [{ turn, step: 1, block: 0, text: "a" }, { step: 0 }],
  ThinkingDelta: [{ turn, step: 1, block: 0, text: "a", provider: "p", data: { sig: "s" } }, { block: -1 }],
  ModelWaiting: [{ turn, step: 1, waited_ms: 10_000, left_ms: 290_000 }, { waited_ms: -1 }],
  ToolCallStarted: [
    {
      turn,
      step: 1,
      block: 0,
      call_id,
      name: "fs.read",
      label: "Read",
      args: { path: "a" },
      class: "read_only",
      parent: call_id,
    },
    { class: "harmless" },
  ],
  WorkspaceRestored: [
    {
      action: "undo",
      by: "harness undo",
      turns: [turn],
      calls: [call_id],
      restored: [{ path: "a", what: "restored" }],
      conflicts: [{ path: "b", why: "is gone now" }],
      failed: [],
      counts: { restored: 1, conflicts: 1, failed: 0 },
    },
    { action: "forget" },
  ],
  ToolCallProgress: [{ turn, call_id, text: "…" }, { text: 1 }],
  ToolResult: [
    {
      turn,
      step: 1,
      call_id,
      name: "fs.read",
      content: [{ type: "image", media_type: "image/png", data: "AA==" }],
      is_error: false,
      outcome: "ok",
      reason: "ToolFailed",
      duration_ms: 0.5,
      memoized: true,
      parent: call_id,
      attrs: { "tool.policy": "allowed" },
      judged_on: {
        paths: { a: "", b: null },
        looks: { "git 0011223344556677": null },
        labels: ["private"],
        plan_mode: true,
        repeated: true,
        rules_changed: 1,
        args: { path: "a" },
        subject: "a",
        unsettled: true,
        allowed_by: { by: "quiet preset", source: "built-in" },
      },
    },
    { outcome: "fine" },
  ],
  ToolIntent: [
    {
      turn,
      step: 1,
      call_id,
      name: "exec",
      class: "mutating",
      args_hash: "a".repeat(64),
      allowed_by: { effect: "allow", by: "rule x", source: "s", why: "w", trail: [] },
      policy_version: "v1",
    },
    { args_hash: "xyz" },
  ],
  ToolOutcome: [
    {
      turn,
      call_id,
      outcome: "ok",
      result_hash: "0".repeat(64),
      effects: [{ port: "write", target: "a.txt" }],
      more_effects: 3,
    },
    { effects: [{ port: "teleport", target: "a" }] },
  ],
  OrphanedCall: [{ turn, call_id, name: "exec", args: {}, started_at: "2026-01-01T00:00:00.000Z" }, { started_at: 5 }],
  OrphanResolved: [{ turn, call_id, resolution: "failed", by: "cli_x", note: "n" }, { resolution: "perhaps" }],
  TurnEnded: [
    {
      turn,
      outcome: "answered",
      reason: "StepLimit",
      steps: 0,
      usage,
      cost_usd: 0,
      duration_ms: 1,
      session_total: { cost_usd: 1, tokens: 2, steps: 3, calls: 4 },
      tree_total: { cost_usd: 2, tokens: 4, steps: 6, calls: 8 },
    },
    { usage: { ...usage, input_tokens: -1 } },
  ],
  TurnTiming: [
    {
      turn,
      total_ms: 5,
      request_middleware_ms: 1,
      provider_ttfb_ms: 1,
      provider_total_ms: 1,
      store_write_ms: 1,
      tools: [{ call_id, name: "exec", duration_ms: 1 }],
    },
    { tools: [{ name: "exec" }] },
  ],
  CompactionTriggered: [{ turn, boundary: 5, summary: "s", strategy: "excerpt" }, { boundary: 1.5 }],
  CostIncremented: [{ turn, step: 1, provider: "p", model: "m", usage, cost_usd: 0.1 }, { cost_usd: -1 }],
  PermissionRequested: [
    {
      ...{
        turn,
        call_id,
        name: "exec",
        label: "Bash",
        args: {},
        summary: "ls",
        reason: "default",
        argv_glob: "Bash(ls)",
      },
      ...{ request_id: call_id, action: "exec", scope: "folder:.", class: "sensitive" },
      expires_at: "2026-01-01T00:00:00.000Z",
    },
    { class: "grave" },
  ],
  AnswerTooLate: [{ turn, call_id, decision: "deny", by: `cli_${ULID}` }, { by: "somebody" }],
  PermissionAnswered: [
    {
      turn,
      call_id,
      decision: "deny",
      by: `cli_${ULID}`,
      rule: "Bash(ls)",
      reason: "no",
      approval: { id: `appr_${ULID}`, scope: "call", expires_at: "2026-01-01T00:00:00.000Z", bound_to: "0".repeat(64) },
    },
    { decision: "no" },
  ],
  HookIntent: [
    { turn, step: 1, call_id, event: "tool.pre", hook: "guard", source: "a.md:1", port: "connect", target: "a.test" },
    { port: "write" },
  ],
  LookupIntent: [
    {
      by: "cli_01ARZ3NDEKTSV4RRFFQ69G5FAV",
      name: "fs.glob",
      port: "process",
      target: "rg (9 arguments)",
      policy_version: "v1",
      allowed_by: { effect: "allow", by: "person", source: "cli_x", why: "w", trail: [] },
    },
    { port: "write" },
  ],
  HooksAsked: [
    {
      turn,
      step: 1,
      call_id,
      event: "tool.pre",
      depth: 0,
      decisions: [{ hook: "guard", source: "a.md:1", action: "block", reason: "no", duration_ms: 0.1 }],
      blocked: true,
      attrs: { n: 1, s: "x", b: true },
    },
    { attrs: { deep: {} } },
  ],
  CallJudged: [
    {
      turn,
      step: 1,
      call_id,
      name: "exec",
      judged: {
        effect: "deny",
        by: "rule Bash(rm *)",
        source: "config.toml:3",
        why: "w",
        trail: [{ stage: "rule", name: "Bash(rm *)", source: "config.toml:3", effect: "deny" }],
      },
    },
    { judged: { effect: "perhaps" } },
  ],
  NetworkJudged: [{ turn, call_id, host: "a.example", port: 443, policy: "denied", reason: "r" }, { policy: "maybe" }],
  RuleChanged: [
    { rule: "Bash(ls *)", change: "promoted", by: `cli_${ULID}`, source: "config.toml" },
    { change: "framed" },
  ],
  BudgetLeft: [
    { turn, budgets: [{ scope: "session", kind: "cost_usd", used: 0.1, limit: 1 }] },
    { budgets: [{ scope: "week", kind: "tokens", used: 0, limit: 1 }] },
  ],
  BudgetWarning: [{ turn, scope: "turn", kind: "tokens", used: 90, limit: 100 }, { kind: "patience" }],
  ProjectChanged: [
    { version: "a".repeat(64), files: ["harness.md"], in_force: false, problems: ["p"] },
    { in_force: "yes" },
  ],
  SkillRegistryChanged: [{ skills: ["release"] }, { skills: "release" }],
  Reprompted: [{ turn, step: 1, text: "go on", source: "a.md:1" }, { step: 0 }],
  ScriptLogged: [{ turn, call_id, source: "a.md:1", level: "warn", message: "m" }, { level: "loud" }],
  MetricsCounted: [{ turn, counters: { "audit.tool.pre": 2 } }, { counters: { a: "x" } }],
  ContextSet: [{ values: { mode: "review" } }, { values: 5 }],
  QuestionAnswered: [{ turn, call_id, answer: "the first", by: `cli_${ULID}` }, { answer: 1 }],
  QuestionAsked: [{ turn, call_id, question: "which?", options: ["a", "b"] }, { options: [1] }],
  AckRequested: [
    {
      ...{
        turn,
        call_id,
        file: "AGENTS.md",
        class: "instructions",
        name: "context file",
        power: "text for the prompt",
      },
      ...{ change: "changed", sha256: "0".repeat(64), bytes: 2, lines: 1, is_optional: true },
      acked: { sha256: "1".repeat(64), at: "2026-01-01T00:00:00.000Z" },
      ...{ denied_at: "2026-01-01T00:00:00.000Z", change_class: "prose", parts: ["the text"] },
    },
    { change: "moved" },
  ],
  AckSettled: [
    { turn, call_id, file: "AGENTS.md", sha256: "0".repeat(64), outcome: "accepted", by: `cli_${ULID}` },
    { outcome: "maybe" },
  ],
  ModelChanged: [{ model: "a:b", previous: "c:d" }, { model: null }],
  ScheduleChanged: [
    { name: "triage", change: "added", by: `cli_${ULID}`, folder: "/w", next_at: "2026-01-01T06:00:00.000Z" },
    { change: "paused" },
  ],
  PlanModeChanged: [{ active: true }, { active: "yes" }],
  ModeChanged: [{ mode: "plan", previous: "ask", by: `cli_${ULID}` }, { mode: "auto" }],
  PlanChanged: [{ state: "agreed", plan: "1. look", edited: true, call_id, by: `cli_${ULID}` }, { state: "kept" }],
  TodosChanged: [{ turn, call_id, todos: [{ text: "look", state: "active" }] }, { todos: [{ text: "look" }] }],
  JobStarted: [{ turn, call_id, job, command: "npm test", confinement: "workspace", timeout_ms: 1000 }, { job: "1" }],
  JobOutput: [{ call_id, job, text: "ok" }, { text: 1 }],
  JobKept: [{ job, by: `cli_${ULID}` }, { by: "me" }],
  JobEnded: [
    { call_id, job, turn, step: 1, status: "exited", exit_code: 0, duration_ms: 5, printed_bytes: 2 },
    { status: "gone" },
  ],
  Cancelled: [{ turn, by: `cli_${ULID}`, reason: "user" }, { reason: "bored" }],
  Error: [
    { turn, step: 1, call_id, reason: "RateLimited", message: "wait", terminal: false, retry_after_ms: 10 },
    { terminal: undefined },
  ],
  TokenRequested: [
    {
      token: `tok_${"0".repeat(26)}`,
      code: "012345",
      commands: ["SendInput"],
      identity_class: "agent",
      can_mint: false,
      expires_at: "2026-01-02T00:00:00.000Z",
      confirm_by: "2026-01-01T00:01:00.000Z",
    },
    { code: "12345" },
  ],
  StreamGap: [{ from: 0, to: 5, reason: "ttl" }, { reason: "lost" }],
  TokenExpiring: [{ token: `tok_${ULID}`, expires_at: "2026-01-01T00:00:00Z" }, { token: "secret" }],
  HookTimeout: [{ turn, hook: "h", event: "tool.pre", timeout_ms: 100 }, { timeout_ms: -1 }],
  HookError: [{ turn, hook: "h", event: "tool.pre", message: "m", exit_code: 1 }, { exit_code: 0.5 }],
  ResourceUpdated: [{ turn, server: "n", uri: "n://1" }, { uri: 1 }],
  MCPToolsChanged: [{ name: "n", tools: ["a"] }, { tools: [1] }],
  MCPServerDown: [{ name: "n", reason: "r", attempts: 3 }, { attempts: "3" }],
  SessionStarted: [
    { working_dir: "/w", root: "/v", profile: "p", model: "m", parent: `sess_${ULID}` },
    { parent: "root" },
  ],
  SessionEnded: [{ reason: "idle" }, { reason: "tired" }],
  DelegationStarted: [
    {
      turn,
      call_id,
      session: `sess_${ULID}`,
      agent: "scout",
      task: "look",
      mode: "sync",
      depth: 1,
      model: "a:b",
      tools: ["fs.read"],
      max_steps: 10,
      timeout_ms: 300_000,
    },
    { mode: "later" },
  ],
  DelegationVerified: [
    { turn, call_id, session: `sess_${ULID}`, attempt: 1, verified: false, reason: "no file", broken: true },
    { attempt: 0 },
  ],
  DelegationEnded: [
    {
      turn,
      call_id,
      session: `sess_${ULID}`,
      agent: "scout",
      mode: "async",
      status: "failed",
      reason: "KindVerificationFailed",
      steps: 2,
      tool_calls: 1,
      usage,
      cost_usd: 0.1,
      duration_ms: 5,
      tree_total: { cost_usd: 2, tokens: 4, steps: 6, calls: 8 },
      cut_off: [{ session: `sess_${ULID}`, call_id, name: "exec" }],
      attrs: { "delegation.verify_attempts": 3 },
    },
    { status: "done" },
  ],
  SandboxStatus: [
    { mode: "auto", active: true, backend: "bubblewrap", network: "listed", domains: ["example.com"], detail: "d" },
    { network: "some" },
  ],
  NetworkConnection: [
    {
      connection: 1,
      host: "example.com",
      port: 443,
      state: "closed",
      why: "w",
      bytes_sent: 1,
      bytes_received: 2,
      duration_ms: 3,
    },
    { port: 0 },
  ],
  CustomEvent: [{ namespace: "n", kind: "k", payload: [{ deep: true }] }, { kind: 1 }],
};

describe.each(Object.entries(examples))("%s", (kind, [payload, wrong]) => {
  const raw = { ...envelope, kind, payload };

  it("is parsed as it is", () => {
    expect(parseEvent(raw)).toEqual(raw);
  });

  it("loses unknown fields and keeps extensions, outside and inside", () => {
    const extended = { ...raw, extra: 1, x_a: 1, payload: { ...payload, extra: 1, x_b: { c: 2 } } };
    expect(parseEvent(extended)).toEqual({ ...raw, x_a: 1, payload: { ...payload, x_b: { c: 2 } } });
  });

  it("is refused with a wrong payload", () => {
    expect(() => parseEvent({ ...raw, payload: { ...payload, ...wrong } })).toThrow(Object.keys(wrong)[0] ?? "");
  });
});

it("has an example for every kind", () => {
  expect(Object.keys(examples).sort()).toEqual(Object.keys(events).sort());
});

describe("an envelope", () => {
  const right = { ...envelope, kind: "PlanModeChanged", payload: { active: true } };

  it("needs no originator", () => {
    const { originator: _, ...rest } = right;
    expect(parseEvent(rest)).toEqual(rest);
  });

  it.each([
    ["an id of 0", { id: 0 }],
    ["an id that is no whole number", { id: 1.5 }],
    ["an unknown kind", { kind: "Nope" }],
    ["the name of an object's own method as kind", { kind: "toString" }],
    ["a session of another form", { session: ULID }],
    ["an originator of another form", { originator: "me" }],
    ["a time that is none", { ts: "yesterday" }],
    ["no payload", { payload: undefined }],
  ])("is refused with %s", (_, change) => {
    expect(() => parseEvent({ ...right, ...change })).toThrow();
  });
});
