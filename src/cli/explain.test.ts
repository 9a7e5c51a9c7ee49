import { beforeEach, expect, test } from "vitest";
import { defined } from "#base";
import type { EventDraft } from "#engine";
import { type EventPayload, JobId, SessionId } from "#protocol";
import { createInProcessCli, type InProcessCli } from "../../test/fakes/in-process-cli.ts";
import {
  CLIENT,
  callDrafts,
  callId,
  draft,
  sessionStarted,
  turnDrafts,
  turnId,
} from "../../test/fakes/session-drafts.ts";

const FIRST = SessionId.from("01ARZ3NDEKTSV4RRFFQ69G5FA1");
const SECOND = SessionId.from("01ARZ3NDEKTSV4RRFFQ69G5FA2");

let cli: InProcessCli;
beforeEach(() => {
  cli = createInProcessCli();
});

const started = (n: number, name: string, args: unknown): EventDraft =>
  draft("ToolCallStarted", { turn: turnId(n), step: 1, block: 0, call_id: callId(n), name, label: name, args });

const result = (n: number, name: string, outcome: "ok" | "denied" | "error", reason?: string): EventDraft =>
  draft("ToolResult", {
    turn: turnId(n),
    step: 1,
    call_id: callId(n),
    name,
    content: [{ type: "text", text: `text of ${outcome}` }],
    is_error: outcome !== "ok",
    outcome,
    ...defined({ reason }),
    duration_ms: 3,
  });

const turn = (n: number, ...calls: EventDraft[]): EventDraft[] => turnDrafts(n, "go", "done", calls);

test("a call that a hook blocked: who was asked, in order, and who decided", async () => {
  const decisions = [
    { hook: "audit", source: ".harness/hooks/audit.md:2", action: "allow", duration_ms: 0.25 },
    {
      hook: "path_guard",
      source: ".harness/hooks/path_guard.md:2",
      action: "block",
      reason: "absolute path",
      duration_ms: 1,
    },
  ] as const;
  await cli.putSession(FIRST, [
    sessionStarted(),
    ...turn(
      1,
      started(1, "fs.read", { path: "/etc/passwd" }),
      draft("HooksAsked", {
        turn: turnId(1),
        step: 1,
        call_id: callId(1),
        event: "tool.pre",
        depth: 0,
        decisions: [...decisions],
        blocked: true,
      }),
      result(1, "fs.read", "denied", "HookBlocked"),
    ),
  ]);
  expect(await cli.json("explain", callId(1))).toEqual({
    call_id: callId(1),
    session: FIRST,
    turn: turnId(1),
    step: 1,
    name: "fs.read",
    args: { path: "/etc/passwd" },
    asked_at: "2026-01-01T00:00:00.000Z",
    consulted: [
      {
        stage: "tool.pre",
        name: "audit",
        source: ".harness/hooks/audit.md:2",
        effect: "allow",
        duration_ms: 0.25,
        event: 4,
      },
      {
        stage: "tool.pre",
        name: "path_guard",
        source: ".harness/hooks/path_guard.md:2",
        effect: "block",
        reason: "absolute path",
        duration_ms: 1,
        event: 4,
      },
    ],
    decided: { effect: "deny", by: "hook path_guard", source: ".harness/hooks/path_guard.md:2", why: "absolute path" },
    ran: false,
    outcome: "denied",
    reason: "HookBlocked",
    duration_ms: 3,
  });
  const { code, out } = await cli.run("explain", callId(1).toLowerCase().slice(5, 31));
  expect(code).toBe(0);
  expect(out).toMatch(/1 {2}tool\.pre {2}audit .*allow .*\n2 {2}tool\.pre {2}path_guard .*block .*absolute path\n/);
  expect(out).toContain("decided: deny by hook path_guard (.harness/hooks/path_guard.md:2): absolute path\n");
  expect(out).toContain("outcome: denied (HookBlocked), 3.0 ms\n");
});

test("what a rule allowed, what a person allowed, what nobody could be asked about, and what nothing judged", async () => {
  const rule = { stage: "rule", name: "Read(src/**)", source: "harness.md:9", effect: "allow" };
  const byRule = {
    effect: "allow",
    by: "rule Read(src/**)",
    source: "harness.md:9",
    why: "it allows it",
    trail: [rule],
  } as const;
  const preset = { stage: "preset", name: "quiet preset", source: "built-in", effect: "ask" };
  const asks = { effect: "ask", by: "quiet preset", why: "it changes files", trail: [preset] } as const;
  const intent = (n: number, allowed_by: object): EventDraft =>
    draft("ToolIntent", {
      turn: turnId(n),
      step: 1,
      call_id: callId(n),
      name: "x",
      class: "mutating",
      args_hash: "0".repeat(64),
      ...allowed_by,
    });
  const judged = (n: number): EventDraft =>
    draft("CallJudged", {
      turn: turnId(n),
      step: 1,
      call_id: callId(n),
      name: "x",
      judged: { ...asks, trail: [preset] },
    });
  const answered = { effect: "allow", by: "person", source: CLIENT, why: "they allowed it", trail: [preset] };
  await cli.putSession(FIRST, [
    sessionStarted(),
    ...turn(
      1,
      started(1, "fs.read", {}),
      intent(1, { allowed_by: { ...byRule, trail: [rule] } }),
      result(1, "x", "ok"),
    ),
    ...turn(
      2,
      started(2, "exec", { command: "make" }),
      judged(2),
      ...callDrafts(2, { command: "make" }, "ok").slice(1, 3),
      intent(2, { allowed_by: answered }),
      draft("NetworkJudged", {
        call_id: callId(2),
        host: "example.com",
        port: 443,
        policy: "denied",
        reason: "not listed",
      }),
      result(2, "exec", "ok"),
    ),
    ...turn(3, started(3, "exec", {}), judged(3), result(3, "exec", "denied", "PermissionDenied")),
    ...turn(4, started(4, "nope", {}), result(4, "nope", "error", "UnknownTool")),
    ...turn(5, started(5, "exec", {})),
  ]);
  expect(await cli.json("explain", callId(1))).toMatchObject({
    consulted: [{ stage: "rule", name: "Read(src/**)", source: "harness.md:9", effect: "allow" }],
    decided: { effect: "allow", by: "rule Read(src/**)", source: "harness.md:9" },
    ran: true,
    outcome: "ok",
  });
  const asked = (await cli.json("explain", callId(2))) as { consulted: { stage: string }[] };
  expect(asked.consulted.map(({ stage }) => stage)).toEqual(["preset", "question", "answer", "network"]);
  expect(asked).toMatchObject({ decided: { effect: "allow", by: "person" }, ran: true });
  expect(await cli.json("explain", callId(3))).toMatchObject({
    decided: { effect: "deny", by: "quiet preset", why: "it changes files, and nobody was there to answer" },
    ran: false,
  });
  expect(await cli.json("explain", callId(4))).toMatchObject({
    consulted: [],
    decided: { effect: "deny", by: "UnknownTool", why: "text of error" },
  });
  expect((await cli.run("explain", callId(5))).out).toMatch(/decided: the log does not say\noutcome: none recorded\n$/);
});

test("a command in the background: how it ended, whenever that was", async () => {
  const job = JobId.from("0".repeat(26));
  const begun = (n: number): EventDraft[] => [
    started(n, "exec", { command: "sleep 9", background: true }),
    draft("JobStarted", { turn: turnId(n), call_id: callId(n), job, command: "sleep 9", timeout_ms: 10_000 }),
    result(n, "exec", "ok"),
  ];
  const ended = (n: number, how: Pick<EventPayload<"JobEnded">, "status" | "exit_code" | "detail">): EventDraft =>
    draft("JobEnded", { call_id: callId(n), job, ...how, duration_ms: 3_100, printed_bytes: 0 });
  await cli.putSession(FIRST, [
    sessionStarted(),
    ...turn(1, ...begun(1)),
    ended(1, { status: "exited", exit_code: 3 }),
    ...turn(2, ...begun(2)),
    ended(2, { status: "lost" }),
    ...turn(3, ...begun(3)),
  ]);
  const told = async (n: number): Promise<string | undefined> =>
    (await cli.run("explain", callId(n))).out.trimEnd().split("\n").at(-1);
  expect(await Promise.all([1, 2, 3].map(told))).toEqual([
    `background: ${job} ended after 3.1 s: exit code 3`,
    `background: ${job} was interrupted when the program stopped`,
    `background: ${job} has not ended`,
  ]);
  expect(await cli.json("explain", callId(1))).toMatchObject({ background: { job, end: { exit_code: 3 } } });
});

test("a call is named by the beginning of its id when only one begins so, in the session that is named", async () => {
  await cli.putSession(FIRST, [sessionStarted(), ...turn(1, started(1, "a", {})), ...turn(2, started(2, "b", {}))]);
  await cli.putSession(SECOND, [sessionStarted(), ...turn(3, started(3, "c", {}))]);
  expect(await cli.json("explain", "CC", "--session", SECOND)).toMatchObject({ name: "c", session: SECOND });
  expect(await cli.run("explain", "call_CC", "--json")).toMatchObject({
    code: 2,
    out: expect.stringContaining('"reason":"UsageInvalid"'),
    err: expect.stringContaining("3 call ids begin with 'call_CC'"),
  });
  const none = await cli.run("explain", "call_ZZ");
  expect(none).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringContaining("no call id begins with 'call_ZZ' in the latest 2"),
  });
  expect(await cli.run("explain", "call_")).toMatchObject({ code: 2 });
  expect(await cli.run("explain", callId(3), "--session", FIRST)).toMatchObject({ code: 2 });
  expect(await cli.run("explain")).toMatchObject({
    code: 2,
    err: expect.stringContaining("missing required argument"),
  });
});

test("audit network counts hosts of the latest session here, of one session, or of all", async () => {
  const host = (name: string, policy: "allowed" | "denied", reason?: string): EventDraft =>
    draft("NetworkJudged", { host: name, port: 443, policy, ...defined({ reason }) });
  await cli.putSession(FIRST, [
    sessionStarted(),
    ...turn(1, host("a.example", "allowed"), host("a.example", "allowed"), host("b.example", "denied", "not listed")),
  ]);
  await cli.putSession(SECOND, [sessionStarted(), ...turn(2, host("a.example", "denied", "gone"))], "/elsewhere");
  const row = { host: "a.example", ports: [443], last: "2026-01-01T00:00:00.000Z" };
  expect(await cli.json("audit", "network")).toEqual({
    sessions: [FIRST],
    sessions_left_out: false,
    hosts: [
      { ...row, reached: 2, refused: 0, reasons: [] },
      { ...row, host: "b.example", reached: 0, refused: 1, reasons: ["not listed"] },
    ],
  });
  expect(await cli.json("audit", "network", "--session", SECOND)).toMatchObject({
    hosts: [{ refused: 1, reached: 0 }],
  });
  expect(await cli.json("audit", "network", "--all")).toMatchObject({
    hosts: [{ host: "a.example", reached: 2, refused: 1 }, {}],
  });
  const { out } = await cli.run("audit", "network", "--all");
  expect(out).toMatch(/^HOST +REACHED +REFUSED .*\na\.example:443 +2 +1 .*gone\nb\.example:443 +0 +1 .*not listed\n$/);
  expect(await cli.run("audit", "network", "--all", "--session", FIRST)).toMatchObject({ code: 2 });
});

test("audit network counts what the proxy of a sandbox let through and refused", async () => {
  const asked = (connection: number, host: string, state: "opened" | "refused" | "closed", why?: string): EventDraft =>
    draft("NetworkConnection", { connection, host, port: 443, state, ...defined({ why }) });
  await cli.putSession(FIRST, [
    sessionStarted(),
    ...turn(
      1,
      asked(1, "a.example", "opened"),
      asked(1, "a.example", "closed"),
      asked(2, "b.example", "refused", "not on the list"),
    ),
  ]);
  expect(await cli.json("audit", "network")).toMatchObject({
    hosts: [
      { host: "a.example", ports: [443], reached: 1, refused: 0 },
      { host: "b.example", ports: [443], reached: 0, refused: 1, reasons: ["not on the list"] },
    ],
  });
});

test("without a session there is nothing to look at, and that is said", async () => {
  const { code, err } = await cli.run("audit", "network");
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringContaining(`the log has no session of ${cli.workspace}`),
  });
  expect(await cli.json("audit", "network", "--all")).toEqual({ sessions: [], sessions_left_out: false, hosts: [] });
});
