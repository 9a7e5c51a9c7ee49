/** Who may say yes to a call, and what a yes is good for. */
import type { Connection } from "../driver.ts";
import { type Scenario, scenario } from "../scenario.ts";
import { nth, type Trial } from "../trial.ts";
import { decide, ended, eventsOf, fileName, hold, type Stage } from "./steps.ts";

const COMMANDS = ["in-process", "rest", "ws", "rpc"] as const;
/** How long a question waits. */
const ANSWER_MS = 60_000;
const NO_CALL = "call_00000000000000000000000000";

async function outcomes({ connection, session }: Stage): Promise<readonly string[]> {
  return eventsOf(await connection.log(session), "ToolResult").map(({ payload }) => payload.outcome);
}

/** A call that waits for an answer, and has not run meanwhile. */
async function holdUnrun(trial: Trial, at: Stage): Promise<string> {
  const { callId } = await hold(at);
  const ran = eventsOf(await at.connection.log(at.session), "ToolIntent").length;
  trial.check("permission:asked", ran === 0, "the call ran before it was allowed");
  return callId;
}

export const permissionScenarios: readonly Scenario[] = [
  scenario("a person allows a call", COMMANDS, ["permission:asked", "permission:allow", "session:undo"]).onStage(
    async (at, trial) => {
      const callId = await holdUnrun(trial, at);
      const answer = await decide(at.connection, at.session, callId, "allow_once");
      trial.check("permission:allow", answer.ok, `the answer was refused: ${answer.reason}`);
      await ended(at.feed);
      const [outcome] = await outcomes(at);
      trial.check("permission:allow", outcome === "ok", `the outcome of the call is ${outcome}`);
      await takeBack(trial, at);
    },
  ),
  scenario("a call that waits, on the small surface", ["plain"], ["permission:asked"]).onStage(async (at, trial) => {
    const callId = await holdUnrun(trial, at);
    await decide(at.connection, at.session, callId, "deny");
    await ended(at.feed);
  }),
  scenario("a person denies a call", COMMANDS, ["permission:deny"]).onStage(async (at, trial) => {
    const { callId } = await hold(at);
    const answer = await decide(at.connection, at.session, callId, "deny");
    trial.check("permission:deny", answer.ok, `the answer was refused: ${answer.reason}`);
    await ended(at.feed);
    const log = await at.connection.log(at.session);
    const [outcome] = await outcomes(at);
    trial.check("permission:deny", outcome === "denied", `the outcome of the call is ${outcome}`);
    trial.check("permission:deny", eventsOf(log, "ToolIntent").length === 0, "the call ran");
    const how = eventsOf(log, "TurnEnded").map(({ payload }) => payload.outcome);
    trial.check("permission:deny", how.join() === "answered", `the outcome of the turn is ${how.join(", ")}`);
  }),
  scenario("approval for one call, and for a tool", COMMANDS, ["permission:once", "permission:always"]).onStage(
    async (at, trial) => {
      const name = fileName(at.session).replace(".txt", "");
      const { callId } = await hold(at, 1, `write twice ${name}`);
      await decide(at.connection, at.session, callId, "allow_once");
      const second = await nth(at.feed, "PermissionRequested", 2);
      trial.check("permission:once", second.callId !== callId, "the same call asked twice");
      await decide(at.connection, at.session, second.callId ?? "", "allow_tool");
      await ended(at.feed);
      await at.connection.send(at.session, `write twice ${name}`);
      await ended(at.feed, 2);
      const log = await at.connection.log(at.session);
      const asked = eventsOf(log, "PermissionRequested").length;
      trial.check("permission:always", asked === 2, `the server sent ${asked} permission requests`);
      await takeBackAll(at, 2);
    },
  ),
  scenario("two people answer", COMMANDS, ["permission:first-human"]).onStage(async (at, trial) => {
    const other = await secondPerson(trial, at);
    const { callId } = await hold(at);
    const first = await decide(other, at.session, callId, "deny");
    trial.check("permission:first-human", first.ok, `the first answer was refused: ${first.reason}`);
    await decide(at.connection, at.session, callId, "allow_once");
    await ended(at.feed);
    const answers = eventsOf(await at.connection.log(at.session), "PermissionAnswered");
    const decisions = answers.map(({ payload }) => payload.decision);
    trial.check("permission:first-human", decisions.join() === "deny", `the log records ${decisions.join(", ")}`);
    const [outcome] = await outcomes(at);
    trial.check("permission:first-human", outcome === "denied", `the outcome of the call is ${outcome}`);
  }),
  scenario("an agent answers for its own turn", ["in-process", "rest", "ws"], ["permission:agent"], ["agent"]).onStage(
    async (human, trial) => {
      const agent = await trial.connect("agent");
      const { callId } = await hold({ ...human, connection: agent });
      const own = await decide(agent, human.session, callId, "allow_once");
      trial.check(
        "permission:agent",
        !own.ok && own.reason === "NotAllowed",
        `the server answered ${own.reason ?? "success"}`,
      );
      const answer = await decide(human.connection, human.session, callId, "deny");
      trial.check("permission:agent", answer.ok, `the server refused the person's answer: ${answer.reason}`);
      await ended(human.feed);
    },
  ),
  scenario("an agent without a person", ["rpc"], ["permission:agent"], ["agent"]).runs(async (trial) => {
    const connection = await trial.connect("agent");
    const session = await trial.session(connection);
    const feed = await connection.watch(session);
    await connection.send(session, `write ${fileName(session)}`);
    const call = await nth(feed, "ToolCallStarted", 1);
    const own = await decide(connection, session, call.callId ?? "", "allow_once");
    trial.check("permission:agent", !own.ok, "the server accepted the agent's answer");
    await ended(feed);
    const ran = eventsOf(await connection.log(session), "ToolIntent").length;
    trial.check("permission:agent", ran === 0, "the call ran");
  }),
  scenario("an agent tries to change its own rules", COMMANDS, ["permission:agent-steers"], ["agent"]).runs(
    async (trial) => {
      const connection = await trial.connect("agent");
      const session = await trial.session(connection);
      for (const command of [
        { kind: "SetContext", values: { mode: "fast" } },
        { kind: "RevokeRule", rule: "fs.write" },
        { kind: "PromoteRule", rule: "fs.write" },
      ]) {
        const { ok, reason } = await connection.submit(session, command);
        const isRefused = !ok && reason === "NotAllowed";
        trial.check(
          "permission:agent-steers",
          isRefused,
          `the server answered ${command.kind} with ${reason ?? "success"}`,
        );
      }
    },
  ),
  scenario(
    "a permission request that nobody answers",
    ["in-process", "rest", "ws", "plain"],
    ["permission:timeout"],
    ["time"],
  ).onStage(async (at, trial) => {
    await hold(at);
    await trial.target.passTime?.(ANSWER_MS + 1000);
    await ended(at.feed);
    const log = await at.connection.log(at.session);
    const results = eventsOf(log, "ToolResult").map(({ payload }) => payload.reason);
    trial.check(
      "permission:timeout",
      results.join() === "PermissionTimeout",
      `the call ended with ${results.join(", ")}`,
    );
    const how = eventsOf(log, "TurnEnded").map(({ payload }) => payload.outcome);
    trial.check("permission:timeout", how.join() === "answered", `the outcome of the turn is ${how.join(", ")}`);
  }),
  scenario("an answer to an unknown permission request", COMMANDS, ["permission:unknown"]).onStage(
    async ({ connection, session }, trial) => {
      const { ok, reason, status } = await decide(connection, session, NO_CALL, "allow_once");
      trial.check("permission:unknown", !ok && reason === "CallNotFound", `the server answered ${reason ?? "success"}`);
      const codes: Readonly<Record<string, number>> = { rest: 404, rpc: -32004 };
      const code = codes[trial.target.wire];
      trial.check("permission:unknown", code === undefined || status === code, `the code is ${status}`);
    },
  ),
];

/** On a wire with one client for each process it is the same one who answers twice. */
async function secondPerson(trial: Trial, { connection, session }: Stage): Promise<Connection> {
  if (trial.target.wire === "rpc") return connection;
  const other = await trial.connect(trial.target.lacks("other human") === undefined ? "other human" : "human");
  await other.watch(session);
  return other;
}

async function takeBack(trial: Trial, { connection, session }: Stage): Promise<void> {
  const undone = await connection.submit(session, { kind: "UndoTurn" });
  trial.check("session:undo", undone.ok, `the server refused the undo: ${undone.reason}`);
  const restored = eventsOf(await connection.log(session), "WorkspaceRestored");
  const counts = restored.map(({ payload }) => payload.counts.restored);
  trial.check("session:undo", counts.join() === "1", `restored paths: ${counts.join(", ") || "none"}`);
  const again = await connection.submit(session, { kind: "UndoTurn" });
  trial.check(
    "session:undo",
    !again.ok && again.reason === "NothingToUndo",
    `the server answered a second undo with ${again.reason ?? "success"}`,
  );
}

async function takeBackAll({ connection, session }: Stage, turns: number): Promise<void> {
  for (let n = 0; n < turns; n++) await connection.submit(session, { kind: "UndoTurn" });
}
