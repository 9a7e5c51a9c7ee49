import { describe, expect, it } from "vitest";
import { type CommandKind, commandKinds, commandRows, mcpToolOf, orderKey } from "./command-rows.ts";
import { commands } from "./commands.ts";
import { parseCommand } from "./schemas.ts";

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const session = `sess_${ULID}`;
const call_id = `call_${ULID}`;

/** For each kind a right body, and changes to it that must be refused, by the field they name. */
const examples: Record<CommandKind, { body: object; wrong: Record<string, object> }> = {
  SendInput: {
    body: { session, content: [{ type: "text", text: "hi" }] },
    wrong: { session: { session: "sess_1" }, content: { content: [] } },
  },
  CompactSession: { body: { session, focus: "the API" }, wrong: { focus: { focus: "x".repeat(2001) } } },
  CancelTurn: { body: { session }, wrong: { session: { session: call_id } } },
  AnswerPermission: {
    body: { session, call_id, decision: "allow_once", reason: "fine", args: { path: "a" } },
    wrong: {
      call_id: { call_id: session },
      decision: { decision: "yes" },
      reason: { reason: "x".repeat(2001) },
      args: { args: "path" },
    },
  },
  CreateSession: {
    body: {
      profile: "default",
      resume: session,
      working_dir: "/w",
      model: "scripted:demo",
      context: { mode: "review" },
    },
    wrong: { resume: { resume: "last" }, working_dir: { working_dir: 7 } },
  },
  AttachSession: { body: { session, since: 0 }, wrong: { since: { since: -1 }, session: { session: null } } },
  DetachSession: { body: { session }, wrong: { session: { session: undefined } } },
  RunShellCommand: {
    body: { session, command: "npm test" },
    wrong: { command: { command: "x".repeat(32_001) }, session: { session: 1 } },
  },
  SetModel: { body: { session, model: "a:b" }, wrong: { model: { model: "" } } },
  EnterPlanMode: { body: { session }, wrong: { session: { session: 1 } } },
  ExitPlanMode: {
    body: { session, call_id, approve: true, plan: "1. look", reason: "more detail" },
    wrong: {
      call_id: { call_id: ULID },
      approve: { approve: "true" },
      plan: { plan: "x".repeat(32_001) },
      reason: { reason: 1 },
    },
  },
  ClosePlan: { body: { session, as: "done" }, wrong: { as: { as: "kept" } } },
  SetMode: { body: { session, mode: "accept-edits" }, wrong: { mode: { mode: "auto" } } },
  AnswerQuestion: {
    body: { session, call_id, answer: "" },
    wrong: { answer: { answer: "x".repeat(100_001) }, call_id: { call_id: ULID } },
  },
  DescribeAck: { body: { session, call_id }, wrong: { call_id: { call_id: ULID } } },
  AnswerAck: {
    body: { session, call_id, sha256: "0".repeat(64), answer: "accept" },
    wrong: { sha256: { sha256: "0" }, answer: { answer: "yes" }, call_id: { call_id: ULID } },
  },
  ResolveOrphan: {
    body: { session, call_id, resolution: "succeeded", note: "checked" },
    wrong: { resolution: { resolution: "maybe" }, call_id: { call_id: ULID } },
  },
  QueueInput: {
    body: { session, content: [{ type: "text", text: "hi" }], skill: "review" },
    wrong: { content: { content: [] }, session: { session: 1 }, skill: { skill: "" } },
  },
  WithdrawInput: { body: { session, queued: 7 }, wrong: { queued: { queued: 0 }, session: { session: 1 } } },
  SteerTurn: {
    body: { session, content: [{ type: "text", text: "hi" }] },
    wrong: { content: { content: "hi" }, session: { session: "" } },
  },
  ListRules: { body: { session }, wrong: { session: { session: 1 } } },
  RevokeRule: { body: { session, rule: "Bash(ls *)" }, wrong: { rule: { rule: "" } } },
  PromoteRule: { body: { session, rule: "Bash(ls *)" }, wrong: { rule: { rule: "x".repeat(1001) } } },
  SetContext: {
    body: { session, values: { mode: "review", n: 1, on: true, off: null } },
    wrong: { values: { values: { deep: {} } }, session: { session: 1 } },
  },
  UndoTurn: {
    body: { session, turn: `turn_${ULID}`, skip_conflicts: true, dry_run: true },
    wrong: { turn: { turn: call_id }, dry_run: { dry_run: 1 }, skip_conflicts: { skip_conflicts: "yes" } },
  },
  UndoCall: { body: { session, call_id, skip_conflicts: false }, wrong: { call_id: { call_id: undefined } } },
  Redo: { body: { session, turn: `turn_${ULID}`, call_id }, wrong: { call_id: { call_id: ULID }, turn: { turn: 1 } } },
  ListSchedules: { body: { session }, wrong: { session: { session: 1 } } },
  AddSchedule: {
    body: {
      ...{ session, name: "triage", prompt: "Triage.", cron: "0 6 * * 1-5", timezone: "Europe/Berlin" },
      ...{ model: "a:b", profile: "quiet", plan: true, max_cost_usd: 0.5, max_steps: 9 },
    },
    wrong: {
      name: { name: "" },
      prompt: { prompt: "" },
      every: { every: 6 },
      max_steps: { max_steps: 0 },
      max_cost_usd: { max_cost_usd: -1 },
    },
  },
  RemoveSchedule: { body: { session, name: "triage" }, wrong: { name: { name: "x".repeat(65) } } },
  RunSchedule: { body: { session, name: "triage" }, wrong: { name: { name: 1 } } },
  EndSession: { body: { session }, wrong: { session: { session: [] } } },
  DescribeSession: { body: { session }, wrong: { session: { session: 1 } } },
  DescribeChanges: { body: { session, path: "a.txt" }, wrong: { path: { path: 1 }, turn: { turn: "1" } } },
  RunSlashCommand: {
    body: { session, namespace: "skills", name: "review", args: { text: "all of it" } },
    wrong: { name: { name: "" }, args: { args: { text: 7 } } },
  },
  CompleteInput: { body: { session, text: "/mc" }, wrong: { text: { text: 7 } } },
  CustomCommand: {
    body: { session, namespace: "git-tools", verb: "sync", payload: { deep: [1] } },
    wrong: { namespace: { namespace: "Git" }, verb: { verb: "" } },
  },
};

describe.each(Object.entries(examples))("%s", (kind, { body, wrong }) => {
  it("is parsed as it is", () => {
    expect(parseCommand({ kind, ...body })).toEqual({ kind, ...body });
  });

  it("loses unknown fields and keeps extensions", () => {
    const raw = { kind, ...body, surprise: 1, x_trace: { id: 7 } };
    expect(parseCommand(raw)).toEqual({ kind, ...body, x_trace: { id: 7 } });
  });

  it.each(Object.entries(wrong))("is refused with a wrong %s, which is named", (field, change) => {
    const refused = { reason: "InvalidCommand", message: expect.stringContaining(field) };
    expect(() => parseCommand({ kind, ...body, ...change })).toThrow(expect.objectContaining(refused));
  });
});

it.each([
  ["rpc", (kind: CommandKind) => commandRows[kind].rpc ?? []],
  ["mcpTool", mcpToolOf],
])("has a name of its own on each wire: %s", (_wire, nameOf) => {
  const names = commandKinds.flatMap(nameOf);
  expect(new Set(names).size).toBe(names.length);
});

it("waits for the commands before it, unless others may wait for it", () => {
  expect(orderKey("SetModel", session)).toBe(session);
  expect(orderKey("CreateSession", undefined)).toBe("program");
  expect(orderKey("CreateSession", session)).toBe(session);
  expect(orderKey("AnswerPermission", session)).toBeUndefined();
});

it("has an example for every kind", () => {
  expect(Object.keys(examples).sort()).toEqual(Object.keys(commands).sort());
});

it.each([undefined, null, 7, "SendInput", [], {}, { kind: "Nope" }, { kind: "toString", session }])(
  "refuses %j in one line",
  (raw) => {
    expect(() => parseCommand(raw)).toThrow(
      expect.objectContaining({ reason: "InvalidCommand", message: expect.stringMatching(/^[^\n]+$/) }),
    );
  },
);

it("takes a block without a type as text", () => {
  expect(parseCommand({ kind: "SendInput", session, content: [{ text: "hi" }] })).toMatchObject({
    content: [{ type: "text", text: "hi" }],
  });
});

it("takes optional fields as optional", () => {
  expect(parseCommand({ kind: "CreateSession" })).toEqual({ kind: "CreateSession" });
  expect(parseCommand({ kind: "AttachSession", session })).toEqual({ kind: "AttachSession", session });
});
