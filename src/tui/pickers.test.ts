/** The screens of the pickers and of the status line, as committed text, and what is done with what is picked. */
import { expect, test } from "vitest";
import type { ClientSession, Event, SessionInfo } from "#client";
import { expectGolden, playScene, type Scene, sceneEvent } from "../../test/fakes/golden-screens.ts";
import { KEYS } from "../../test/fakes/screen-terminal.ts";

const facts = {
  branch: "feature/pickers",
  mode: "ask",
  sandbox: "auto",
  queued: [],
  todos: [],
  context_tokens: 200_000,
  models: [
    { model: "anthropic:claude-sonnet-5-5", context_tokens: 200_000, usd_per_million: { input: 3, output: 15 } },
    { model: "ollama:qwen3" },
    { model: "test:model", context_tokens: 32_000, usd_per_million: { input: 0.1, output: 0.4 } },
  ],
  servers: [
    { name: "notes", state: "ready", tools: 4 },
    { name: "tickets", state: "down", tools: 0, last_error: "it ended with 1" },
  ],
  hooks: [{ event: "PreToolUse", command: "./check.sh", source: "config.toml:12" }],
  jobs: [
    {
      job: "job_1",
      command: "npm run build",
      started_at: "2026-01-01T10:00:00.000Z",
      kept: false,
      ended: "exit code 0",
    },
    { job: "job_2", command: "npm run dev -- --port 8080", started_at: "2026-01-01T10:01:00.000Z", kept: true },
  ],
};

const report = {
  restored: [
    { path: "src/parse.ts", what: "restored" },
    { path: "src/new.ts", what: "removed" },
  ],
  conflicts: [{ path: "README.md", why: "somebody else changed it", call: "call_1" }],
  uncovered: [],
  leftOut: [],
};

const rules = [
  { effect: "deny", rule: "Bash(rm *)", source: "config.toml:3" },
  { effect: "allow", rule: "Bash(npm test *)", source: "an answer in this session" },
];

const schedules = [
  {
    name: "digest",
    times: "0 6 * * 1-5 (Europe/Berlin)",
    folder: "/work/here",
    model: "test:model",
    max_cost_usd: 0.5,
    next_at: "2026-01-02T05:00:00.000Z",
    totals: { claimed: 3, missed: 2, lost: 0 },
    ticks: [
      { at: "2026-01-01T09:00:00.000Z", state: "done", manual: true, session: "sess_01ARZ3NDEKTSV4RRFFQ69G5FA1" },
      { at: "2026-01-01T05:00:00.000Z", state: "missed", count: 2, message: "no daemon ran" },
    ],
  },
  {
    name: "hello",
    times: "every 6h",
    folder: "/work/other",
    problem: "its file was altered",
    totals: { claimed: 0, missed: 0, lost: 0 },
    ticks: [],
  },
];

const output = { text: "listening on 8080\nGET / 200" };
const answers = {
  DescribeSession: facts,
  UndoTurn: report,
  ListRules: rules,
  RunSlashCommand: output,
  ListSchedules: schedules,
};

const turns: readonly Event[] = [
  ["TurnStarted", { turn: "turn_1", content: [{ type: "text", text: "rename the parser" }] }],
  ["TurnEnded", { turn: "turn_1", outcome: "answered" }],
  ["TurnStarted", { turn: "turn_2", content: [{ type: "text", text: "write tests for it" }] }],
  ["TurnEnded", { turn: "turn_2", outcome: "cancelled" }],
].map(([kind, payload], at) => sceneEvent(at + 1, String(kind), payload));

const withLog: Partial<ClientSession> = {
  async *log() {
    yield* turns;
  },
  info: async () => ({ working_dir: "/work/here" }) as SessionInfo, // only what the list reads
};

function stored(id: string, title: string, more: Partial<SessionInfo> = {}): SessionInfo {
  const working_dir = "/work/here";
  return {
    id,
    title,
    model: "test:model",
    state: "active",
    working_dir,
    updated_at: "2026-01-01T10:00:00Z",
    ...more,
  } as SessionInfo;
}

const cost = (provider: string, cost_usd: number) => ({
  turn: "turn_1",
  step: 1,
  provider,
  model: "m",
  usage: { input_tokens: 60_000, output_tokens: 2_000, cache_read_tokens: 0, cache_write_tokens: 0 },
  cost_usd,
});

const spending: Scene["events"] = [
  ["TurnStarted", { turn: "turn_1", content: [{ type: "text", text: "hello" }], model: "test:model" }],
  ["CostIncremented", cost("zai", 0.02)],
  ["CostIncremented", cost("openrouter", 0.05)],
  ["SandboxStatus", { mode: "auto", active: true, network: "open", detail: "" }],
];

test("the status line says what a turn of two providers cost, and drops parts where it is narrow", () =>
  expectGolden("status-line", { answers, events: spending }));

test("the models with their prices", () => expectGolden("models", { answers, keys: ["/model", KEYS.enter] }));

test("undo shows what it would change before it does anything", () =>
  expectGolden("undo", { answers, session: withLog, keys: ["/undo", KEYS.enter] }));

test("a branch begins after a turn that is picked", () =>
  expectGolden("branch", { answers, session: withLog, keys: ["/branch", KEYS.enter] }));

test("the rules, with those of answers first", () => expectGolden("rules", { answers, keys: ["/rules", KEYS.enter] }));

test("the servers and their states", () => expectGolden("servers", { answers, keys: ["/mcp", KEYS.enter] }));

test("the background commands, with what the selected one printed last", () =>
  expectGolden("jobs", { answers, keys: ["/jobs", KEYS.enter] }));

test("the schedules, with what became of their runs", () =>
  expectGolden("schedules", { answers, keys: ["/schedule", KEYS.enter, "\u0018"] }));

test("the side panel lists what has a list", () => expectGolden("panel", { answers, keys: ["/panel", KEYS.enter] }));

test("the sessions, with branches below what they came from", () =>
  expectGolden("sessions", {
    answers,
    session: withLog,
    parts: {
      client: {
        session: () => ({ log: withLog.log }) as unknown as ClientSession, // only its beginning is read
        sessions: async () => [
          stored("sess_2", "a branch of it", { parent: "sess_1" }),
          stored("sess_3", "another one", { activity: "running" }),
          stored("sess_1", "rename the parser", { state: "ended" }),
        ],
      },
    },
    keys: ["/sessions", KEYS.enter],
  }));

test("a theme that is picked paints everything anew", () =>
  expectGolden("theme", { answers, keys: ["/theme", KEYS.enter, "high", KEYS.enter] }));

/** What is submitted and typed for these keys. */
async function done(keys: readonly string[]): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  const session: Partial<ClientSession> = {
    ...withLog,
    submit: (async (command: { kind: keyof typeof answers }) => {
      if (!["DescribeSession", "ListRules", "RunSlashCommand", "ListSchedules"].includes(command.kind))
        seen.push(command);
      return { result: answers[command.kind] };
    }) as ClientSession["submit"],
  };
  await playScene({
    session,
    keys,
    parts: {
      slash: async (line) => {
        seen.push(line);
        return undefined;
      },
    },
  });
  return seen;
}

test.each([
  [["/model", KEYS.enter, "qwen", KEYS.enter], [{ kind: "SetModel", model: "ollama:qwen3" }]],
  [["/branch", KEYS.enter, KEYS.down, KEYS.enter], ["/sessions:branch sess_01GOLDEN at 1"]],
  [["/rules", KEYS.enter, "\u0018"], [{ kind: "RevokeRule", rule: "Bash(npm test *)" }]],
  // Alt and a letter, as terminals without the protocol for keys send it.
  [["\u001bp", "\u0018"], [{ kind: "RevokeRule", rule: "Bash(npm test *)" }]],
  [["\u001bn", KEYS.down, KEYS.enter], ["/sessions:branch sess_01GOLDEN at 1"]],
  [["/mcp", KEYS.enter, KEYS.enter], ["/mcp:notes status"]],
  [["/mcp", KEYS.enter, "\u0018"], ["/mcp:notes restart"]],
  [["/jobs", KEYS.enter, "\u0018"], ["/jobs:stop job_2"]],
  [["/jobs", KEYS.enter, KEYS.down, "\u0018"], []],
  [["/schedule", KEYS.enter, KEYS.ctrlR], [{ kind: "RunSchedule", name: "digest" }]],
  [["/schedule", KEYS.enter, "\u0018"], []],
  [["/schedule", KEYS.enter, "\u0018", KEYS.down, "\u0018"], []],
  [["/schedule", KEYS.enter, KEYS.down, "\u0018", "\u0018"], [{ kind: "RemoveSchedule", name: "hello" }]],
  [["/panel", KEYS.enter, "policy", KEYS.enter, "\u0018"], [{ kind: "RevokeRule", rule: "Bash(npm test *)" }]],
  [
    ["/undo", KEYS.enter, KEYS.enter],
    [
      { kind: "UndoTurn", turn: "turn_2", dry_run: true },
      { kind: "UndoTurn", turn: "turn_2" },
    ],
  ],
])("%j", async (keys, expected) => {
  expect(await done(keys)).toEqual(expected);
});
