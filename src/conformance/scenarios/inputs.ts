/** Bad input: the server refuses it with the right reason and keeps serving everybody else. */
import type { Answer, Connection, Wire } from "../driver.ts";
import type { RequirementId } from "../requirements.ts";
import { type Scenario, scenario } from "../scenario.ts";
import { fieldOf } from "../sighting.ts";
import type { Trial } from "../trial.ts";
import { eventsOf, turn } from "./steps.ts";

const SHAKEN = ["rest", "ws", "rpc"] as const;
const BYTES = ["rest", "ws", "plain", "rpc"] as const;
const NO_SESSION = "sess_00000000000000000000000000";
/** Larger than any message limit of a server of this protocol. */
const HUGE_BYTES = 24 * 1024 * 1024;

export const inputScenarios: readonly Scenario[] = [
  scenario("fields from the future", SHAKEN, ["input:unknown-fields"]).onStage(async (at, trial) => {
    const content = [{ type: "text", text: "say hello", from_the_future: true }];
    const sent = await at.connection.submit(at.session, { kind: "SendInput", content, from_the_future: { a: [1] } });
    trial.check("input:unknown-fields", sent.ok, `the command was refused: ${sent.reason}`);
    await at.feed.until(({ kind }) => kind === "TurnEnded", "TurnEnded");
    const log = await at.connection.log(at.session);
    const kept = JSON.stringify(eventsOf(log, "TurnStarted")).includes("from_the_future");
    trial.check("input:unknown-fields", !kept, "an unknown field is in the log");
  }),
  scenario("an unknown command", SHAKEN, ["input:unknown-verb"]).onStage(async ({ connection, session }, trial) => {
    const { ok, reason } = await connection.submit(session, { kind: "FlyToTheMoon" });
    trial.check("input:unknown-verb", !ok && reason === "InvalidCommand", `the server answered ${reason ?? "success"}`);
  }),
  scenario("malformed messages", BYTES, [
    "input:wrong-type",
    "input:malformed",
    "input:utf8",
    "input:survives",
  ]).onStage(async (at, trial) => {
    const { wire } = trial.target;
    refused(trial, "input:wrong-type", await wrongType(at.connection, wire, at.session), {
      plain: 400,
      rest: 400,
      rpc: -32602,
    });
    const malformed = await at.connection.raw?.(at.session, Buffer.from('{"content": [{"type": "te'));
    refused(trial, "input:malformed", malformed, { plain: 400, rest: 400, rpc: -32700 });
    const latin = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]);
    refused(trial, "input:utf8", await at.connection.raw?.(at.session, latin), {
      plain: 400,
      rest: 400,
      rpc: -32700,
    });
    await turn(at, "say hello");
    const started = eventsOf(await at.connection.log(at.session), "TurnStarted").length;
    trial.check("input:survives", started === 1, `one valid input started ${started} turns`);
  }),
  scenario("a message that is too large", BYTES, ["input:too-large", "input:survives"]).onStage(async (at, trial) => {
    const huge = Buffer.alloc(HUGE_BYTES, 0x20);
    const answer = await at.connection.raw?.(at.session, huge).catch((error: unknown): Answer => {
      // A server may cut the connection before everything was sent.
      return { ok: false, reason: error instanceof Error ? error.message : "", body: undefined };
    });
    trial.check("input:too-large", answer !== undefined && !answer.ok, "the server accepted it");
    await turn(at, "say hello");
    const other = await trial.connect();
    const { ok, reason } = await other.create();
    trial.check("input:survives", ok, `the server then refused another client: ${reason}`);
  }),
  scenario("an unknown session", ["in-process", "rest", "ws", "plain", "rpc"], ["input:unknown-session"]).runs(
    async (trial) => {
      const connection = await trial.connect();
      const { ok, reason, status } = await connection.send(NO_SESSION, "say hello");
      trial.check(
        "input:unknown-session",
        !ok && reason === "SessionNotFound",
        `the server answered ${reason ?? "success"}`,
      );
      const codes: Readonly<Record<string, number>> = { rest: 404, plain: 404, rpc: -32001 };
      const code = codes[trial.target.wire];
      trial.check("input:unknown-session", code === undefined || status === code, `the code is ${status}`);
    },
  ),
  scenario("an unclaimed namespace", ["in-process", "rest", "ws", "rpc"], ["input:unknown-namespace"]).onStage(
    async ({ connection, session }, trial) => {
      const command = { kind: "CustomCommand", namespace: "nobody-has-this", verb: "go", payload: {} };
      const { ok, reason } = await connection.submit(session, command);
      trial.check(
        "input:unknown-namespace",
        !ok && reason === "UnknownNamespace",
        `the server answered ${reason ?? "success"}`,
      );
    },
  ),
  scenario(
    "repeated frames and frames of an unknown kind",
    ["ws"],
    ["input:repeated-frame", "input:unknown-frame"],
  ).onStage(async (at, trial) => {
    const content = [{ type: "text", text: "say hello" }];
    const body = { kind: "QueueInput", session: at.session, content };
    const frame = { frame: "command", id: "once", body };
    const talk = await at.connection.frames?.converse(
      [
        { frame: "handshake", body: {} },
        frame,
        frame,
        { frame: "postcard", id: "odd", body: {} },
        { frame: "handshake", id: "still there", body: {} },
      ],
      (received) => received.some((one) => fieldOf(one, "id") === "still there"),
    );
    const answers = talk?.received ?? [];
    const errors = answers.filter((one) => fieldOf(one, "frame") === "error");
    const about = (id: string): unknown => errors.find((one) => fieldOf(one, "id") === id);
    const repeated = fieldOf(about("once"), "body", "reason");
    trial.check(
      "input:repeated-frame",
      repeated === "FrameRepeated",
      `the server answered the repeated frame with ${String(repeated)}`,
    );
    await at.feed.until(({ kind }) => kind === "TurnEnded", "TurnEnded");
    const started = eventsOf(await at.connection.log(at.session), "InputQueued").length;
    trial.check("input:repeated-frame", started === 1, `the server executed the command ${started} times`);
    const odd = fieldOf(about("odd"), "body", "reason");
    trial.check("input:unknown-frame", odd === "InvalidCommand", `the server answered ${String(odd)}`);
    const isThere = answers.some((one) => fieldOf(one, "id") === "still there");
    trial.check("input:unknown-frame", isThere, `the server closed the socket with code ${talk?.closed}`);
  }),
];

function wrongType(connection: Connection, wire: Wire, session: string): Promise<Answer> | undefined {
  if (wire === "plain") return connection.raw?.(session, Buffer.from('{"content": 7}'));
  return connection.submit(session, { kind: "SendInput", content: 7 });
}

/** Refused, with the code of the wire where it has one; web sockets tell a reason or close. */
function refused(
  trial: Trial,
  id: RequirementId,
  answer: Answer | undefined,
  codes: { readonly [Key in Wire]?: number },
): void {
  trial.check(id, answer !== undefined && !answer.ok, "the server accepted it");
  const code = codes[trial.target.wire];
  trial.check(id, code === undefined || answer?.status === code, `the code is ${answer?.status}`);
  trial.check(id, answer?.reason !== undefined || answer?.status !== undefined, "the answer has no reason");
}
