/** `harness attach` on a server that means harm: whatever it says, it does not steer the terminal. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { SessionId } from "#protocol";
import { createCliHome, openCliTerminal } from "../fakes/cli-process.ts";
import { startScriptedServer } from "../fakes/scripted-server.ts";

const ENTER = "\r";
const session = SessionId.from("0".repeat(26));
/** Sets the clipboard, and colours what follows, in the two ways in which a terminal can be told to. */
const steering = (text: string): string => `${text}\u001b]52;c;ZXZpbA==\u0007\u009b31m\u202e`;
const steers = (shown: string): boolean => ["\u001b]52", "\u009b", "\u202e"].some((how) => shown.includes(how));
const call = "call_00000000000000000000000000";
const turn = "turn_00000000000000000000000000";
const text = steering("text");
const content = [{ type: "text", text: steering("said") }];

/** Everything that is shown, with control characters wherever a text can be. */
const payloads: readonly (readonly [kind: string, payload: object])[] = [
  ["TurnStarted", { turn, content }],
  ["TextDelta", { turn, text }],
  ["ToolCallStarted", { turn, call_id: call, name: text, label: steering("Label"), args: { [text]: text, b: [text] } }],
  ["ToolCallProgress", { turn, call_id: "other", text }],
  ["ToolResult", { turn, call_id: call, is_error: true, outcome: text, duration_ms: 2000, content }],
  ["Error", { reason: text, message: text, terminal: true }],
  ["ScriptLogged", { level: "info", message: text }],
  ["HookError", { hook: text, message: text }],
  ["Reprompted", { source: text, text }],
  ["TurnSteered", { content }],
  ["DelegationStarted", { agent: text, task: text, session: text }],
  ["DelegationVerified", { verified: false, attempt: text, reason: text }],
  [
    "DelegationEnded",
    { agent: text, status: text, reason: text, steps: text, tool_calls: text, cut_off: [{ name: text }] },
  ],
  ["ProjectChanged", { in_force: false, files: [text], problems: [text] }],
  ["BudgetLeft", { budgets: [{ scope: text, kind: text, used: 1, limit: 2 }] }],
  ["BudgetWarning", { scope: text, kind: text, used: 1, limit: 2 }],
  ["ModelChanged", { previous: text, model: text }],
  ["WorkspaceRestored", { action: text, by: text, counts: { restored: text, conflicts: 1 } }],
  ["TokenRequested", { code: text, identity_class: text, commands: [text], expires_at: text, confirm_by: text }],
  ["InputQueued", { content }],
];

const questions: readonly (readonly [kind: string, payload: object])[] = [
  [
    "PermissionRequested",
    {
      turn,
      call_id: call,
      label: steering("Label"),
      summary: text,
      reason: text,
      argv_glob: text,
      args: { [text]: text },
      delegate: { agent: text, depth: text, session: text },
    },
  ],
  ["QuestionAsked", { turn, call_id: "q", question: text, options: [text], delegate: { agent: text, depth: text } }],
  ["OrphanedCall", { call_id: "o", name: text, args: { [text]: text }, started_at: text }],
];

async function startHostile(told: readonly (readonly [kind: string, payload: unknown])[]) {
  const events = told.map(([kind, payload], index) =>
    JSON.stringify({ id: index + 1, kind, session, ts: "2026-01-01T00:00:00.000Z", payload }),
  );
  const info = {
    id: session,
    working_dir: steering("/nowhere"),
    profile: text,
    model: steering("model"),
    title: steering("title"),
    state: steering("state"),
    activity: steering("activity"),
    attached: steering("attached"),
    created_at: text,
    updated_at: text,
    pinned: false,
    last_event_id: events.length,
  };
  return startScriptedServer((request, response) => {
    const { url = "", method } = request;
    const after = Number(/after=(\d+)/.exec(url)?.[1] ?? 0);
    if (url.includes("/events")) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const [index, event] of events.entries()) response.write(`id: ${index + 1}\ndata: ${event}\n\n`);
    } else if (url.includes("/log")) response.end(`{"events":[${events.slice(after).join(",")}]}`);
    else if (url.includes("?events=0")) response.end(JSON.stringify(info));
    else if (url.includes("/slash-commands")) {
      const args_schema = { type: "object", properties: { [text]: { type: "string" } }, required: [] };
      const command = { namespace: "evil", name: text, description: steering("command"), args_schema };
      const list = { ...command, namespace: "sessions", name: "list" };
      response.end(JSON.stringify({ slash_commands: [command, list] }));
    } else if (method === "GET") response.end(JSON.stringify({ sessions: [info, info] }));
    else void answerCommand(request, response);
  });
}

/** A slash command is answered with a text; everything else is refused. */
async function answerCommand(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await request.toArray()).toString();
  if (body.includes("RunSlashCommand")) response.end(JSON.stringify({ result: { text: `${text} listed` } }));
  else response.writeHead(409).end(JSON.stringify({ error: { reason: text, message: text } }));
}

async function attachTo(told: Parameters<typeof startHostile>[0], ...args: string[]) {
  const { socket } = await startHostile(told);
  const home = createCliHome();
  home.put("token", "t");
  const flags = ["--connect", `unix:${socket}`, "--token-file", "token"];
  return openCliTerminal(home, ["attach", "--plain", ...flags, ...args]);
}

describe("a server that means harm", () => {
  test("does not steer the terminal with what it lists, tells, asks or refuses with", async () => {
    const terminal = await attachTo([...payloads, ...questions]);
    await terminal.see("[p] pick from the list");
    terminal.type(`p${ENTER}`);
    await terminal.see("number >");
    terminal.type(`1${ENTER}`);
    await terminal.see("wants to run:");
    await terminal.see("[d] deny");
    terminal.type(`d${ENTER}`);
    await terminal.see("1. text");
    terminal.type(`1${ENTER}`);
    await terminal.see("Cut off:");
    await terminal.see("[f] failed");
    terminal.type(`a${ENTER}`);
    await terminal.see("ServerRefused");
    terminal.type(`hello${ENTER}`);
    await terminal.see("ServerRefused");
    terminal.type(`/help${ENTER}`);
    await terminal.see("command⟨U+001B⟩");
    terminal.type(`/sessions:list${ENTER}`);
    const shown = await terminal.see("listed");
    expect(steers(shown)).toBe(false);
    for (const told of ["model", "activity", "title", "Label"]) {
      expect(stripVTControlCharacters(shown)).toContain(`${told}⟨U+001B⟩]52;c;ZXZpbA==⟨U+0007⟩⟨U+009B⟩31m⟨U+202E⟩`);
    }
  });

  test("does not steer it with events as JSON either, which say the same", async () => {
    const terminal = await attachTo(
      [["Error", { reason: "x", message: text, terminal: true }]],
      session,
      "--json",
      "--since",
      "0",
    );
    const shown = await terminal.see("}}");
    expect(steers(shown)).toBe(false);
    const line = shown.replaceAll("\r\n", "");
    expect(JSON.parse(line)).toMatchObject({ payload: { message: text } });
  });

  test("whose events are not what they should be is told so", async () => {
    for (const broken of [null, { content: 7 }, { content: [null] }]) {
      const terminal = await attachTo([["TurnStarted", broken]], session);
      const shown = await terminal.see("ServerGarbled");
      expect(await terminal.exit).not.toBe(0);
      expect(shown).not.toMatch(/TypeError|InternalError/);
    }
  });
});
