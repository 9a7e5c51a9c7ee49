/** Inputs, their turns, and what can be done to a turn that runs. */
import { type Scenario, scenario } from "../scenario.ts";
import { fieldOf } from "../sighting.ts";
import { nth } from "../trial.ts";
import { decide, difference, ended, eventsOf, fileName, HELLO, hold, stage, textIn, turn } from "./steps.ts";

const TURNS_IN_A_ROW = 10;
const EVERY = ["in-process", "rest", "ws", "plain", "rpc"] as const;
const COMMANDS = ["in-process", "rest", "ws", "rpc"] as const;

export const turnScenarios: readonly Scenario[] = [
  scenario(
    "one turn",
    EVERY,
    ["turn:brackets", "turn:answer", "turn:originator", "stream:order", "stream:durable"],
    async (trial) => {
      const { check } = trial;
      const at = await stage(trial);
      const { turn: id } = await turn(at, "say hello");
      const log = await at.connection.log(at.session);
      const about = log.filter(({ payload }) => fieldOf(payload, "turn") === id);
      const kinds = about.map(({ kind }) => kind);
      check(
        "turn:brackets",
        kinds[0] === "TurnStarted" &&
          kinds.at(-1) === "TurnEnded" &&
          kinds.filter((kind) => kind === "TurnStarted" || kind === "TurnEnded").length === 2,
        `the events of the turn are ${kinds.join(" ")}`,
      );
      check("turn:answer", textIn(log) === HELLO, `the log says ${JSON.stringify(textIn(log))}`);
      const heard = at.feed.seen.map(({ text }) => text ?? "").join("");
      check("turn:answer", heard === HELLO, `the stream says ${JSON.stringify(heard)}`);
      const originators = new Set(about.map(({ originator }) => originator));
      const [originator] = originators;
      check(
        "turn:originator",
        originators.size === 1 && /^cli_[0-9A-Z]{26}$/.test(String(originator)),
        `originators of the turn: ${[...originators].join(", ")}`,
      );
      const missing = at.feed.seen.find((seen) => seen.id !== undefined && !log.some((event) => event.id === seen.id));
      check("stream:durable", missing === undefined, `event ${missing?.id} was seen and is not in the log`);
      const other = difference(at.feed, log);
      check("stream:order", other === undefined, other ?? "");
    },
  ),
  scenario("two attachments with one token", ["in-process", "rest", "ws"], ["turn:attachment"], async (trial) => {
    const { check } = trial;
    const at = await stage(trial);
    const other = await trial.connect();
    await turn(at, "say hello");
    await turn(at, "say hello", 2);
    await turn({ ...at, connection: other }, "say hello", 3);
    const log = await at.connection.log(at.session);
    const [first, second, third] = eventsOf(log, "TurnStarted").map(({ originator }) => originator);
    check("turn:attachment", first === second, `one attachment was ${first} and then ${second}`);
    check("turn:attachment", first !== third, `two attachments are both ${first}`);
    const { body } = await other.handshake();
    const told = fieldOf(body, "client");
    check("turn:attachment", told === undefined || told === third, `it was told that it is ${String(told)}`);
  }),
  scenario("a second input while a turn runs", EVERY, ["turn:accepted", "turn:one-at-a-time"], async (trial) => {
    const at = await stage(trial);
    const { sent, callId } = await hold(at);
    trial.check("turn:accepted", /^turn_[0-9A-Z]{26}$/.test(sent.turn ?? ""), `the turn is ${sent.turn}`);
    const second = await at.connection.send(at.session, "say hello");
    trial.check(
      "turn:one-at-a-time",
      !second.ok && second.reason === "TurnInProgress",
      `the second input was answered with ${second.reason ?? "yes"}`,
    );
    await decide(at.connection, at.session, callId, "deny");
    await ended(at.feed);
    await turn(at, "say hello", 2);
    const started = eventsOf(await at.connection.log(at.session), "TurnStarted").length;
    trial.check("turn:one-at-a-time", started === 2, `${started} turns were started by two accepted inputs`);
  }),
  scenario("turns one after the other", EVERY, ["turn:next"], async (trial) => {
    const at = await stage(trial);
    for (let n = 1; n <= TURNS_IN_A_ROW; n++) {
      const sent = await at.connection.send(at.session, "say hello");
      trial.check("turn:next", sent.ok, `input ${n} was refused: ${sent.reason}`);
      await ended(at.feed, n);
    }
  }),
  scenario("a cancel in the middle of an answer", EVERY, ["turn:cancel"], async (trial) => {
    const at = await stage(trial);
    await at.connection.send(at.session, "wait");
    await nth(at.feed, "TextDelta", 1);
    const cancelled = await at.connection.cancel(at.session);
    trial.check("turn:cancel", cancelled.ok, `the cancel was refused: ${cancelled.reason}`);
    await ended(at.feed);
    const log = await at.connection.log(at.session);
    const outcome = eventsOf(log, "TurnEnded").map(({ payload }) => payload.outcome);
    trial.check("turn:cancel", outcome.join() === "cancelled", `the turn ended as ${outcome.join(", ")}`);
    trial.check("turn:cancel", eventsOf(log, "Cancelled").length === 1, "the log has no Cancelled");
    trial.check("turn:cancel", !textIn(log).includes("Nobody has stopped me"), "the model went on");
  }),
  scenario("a cancel while it asks", EVERY, ["turn:cancel"], async (trial) => {
    const at = await stage(trial);
    await hold(at);
    await at.connection.cancel(at.session);
    await ended(at.feed);
    const log = await at.connection.log(at.session);
    const outcome = eventsOf(log, "TurnEnded").map(({ payload }) => payload.outcome);
    trial.check("turn:cancel", outcome.join() === "cancelled", `the turn ended as ${outcome.join(", ")}`);
    const ran = eventsOf(log, "ToolIntent").length;
    trial.check("turn:cancel", ran === 0, "the call ran although nobody had allowed it");
  }),
  scenario(
    "a cancel while nothing runs",
    ["in-process", "rest", "ws", "plain"],
    ["turn:cancel-idle"],
    async (trial) => {
      const at = await stage(trial);
      const { ok, reason } = await at.connection.cancel(at.session);
      trial.check("turn:cancel-idle", ok, `it was refused: ${reason}`);
      await turn(at, "say hello");
      const outcome = eventsOf(await at.connection.log(at.session), "TurnEnded").map(({ payload }) => payload.outcome);
      trial.check("turn:cancel-idle", outcome.join() === "answered", `the next turn ended as ${outcome.join(", ")}`);
    },
  ),
  scenario("waiting for the turn in the request", ["rest"], ["turn:wait"], async (trial) => {
    const { connection, session } = await stage(trial);
    const body = { content: [{ type: "text", text: "say hello" }] };
    const reply = await connection.http?.ask("POST", `/v1/sessions/${session}/input?wait=turn`, { body });
    const { status, json } = reply ?? { status: 0, json: undefined };
    trial.check("turn:wait", status === 200, `the status is ${status}`);
    trial.check("turn:wait", fieldOf(json, "answer") === HELLO, `the answer is ${String(fieldOf(json, "answer"))}`);
    const summary = fieldOf(json, "summary");
    for (const name of ["cost", "turns", "tools_used"]) {
      trial.check("turn:wait", fieldOf(summary, name) !== undefined, `the summary has no ${name}`);
    }
    const log = await connection.log(session);
    trial.check("turn:wait", eventsOf(log, "TurnEnded").length === 1, "it was answered before the turn had ended");
  }),
  scenario(
    "a client that goes away in the middle of a turn",
    ["in-process", "rest", "ws", "plain"],
    ["turn:detached"],
    async (trial) => {
      const at = await stage(trial);
      const { callId } = await hold(at);
      await at.feed.stop();
      await at.connection.close();
      const other = await trial.connect();
      const feed = await other.watch(at.session, 0);
      await decide(other, at.session, callId, "deny");
      await ended(feed);
      const outcome = eventsOf(await other.log(at.session), "TurnEnded").map(({ payload }) => payload.outcome);
      trial.check("turn:detached", outcome.join() === "answered", `the turn ended as ${outcome.join(", ")}`);
    },
  ),
  scenario("an input that is queued", COMMANDS, ["turn:queue"], async (trial) => {
    const at = await stage(trial);
    const { callId } = await hold(at);
    const content = [{ type: "text", text: "say hello" }];
    const queued = await at.connection.submit(at.session, { kind: "QueueInput", content });
    trial.check("turn:queue", queued.ok, `it was refused: ${queued.reason}`);
    await decide(at.connection, at.session, callId, "deny");
    await ended(at.feed, 2);
    const log = await at.connection.log(at.session);
    const [waiting] = eventsOf(log, "InputQueued");
    const delivered = eventsOf(log, "TurnStarted").filter(({ payload }) => payload.queued === waiting?.id);
    trial.check(
      "turn:queue",
      waiting !== undefined && delivered.length === 1,
      `${delivered.length} turns delivered it`,
    );
    const [first] = eventsOf(log, "TurnEnded");
    trial.check("turn:queue", (delivered[0]?.id ?? 0) > (first?.id ?? 0), "it began before the running turn had ended");
  }),
  scenario("a word to the running turn", COMMANDS, ["turn:steer", "turn:steer-idle"], async (trial) => {
    const at = await stage(trial);
    const content = [{ type: "text", text: "steer: look left" }];
    const idle = await at.connection.submit(at.session, { kind: "SteerTurn", content });
    trial.check(
      "turn:steer-idle",
      !idle.ok && idle.reason === "NoTurnRunning",
      `it was answered with ${idle.reason ?? "yes"}`,
    );
    const { callId } = await hold(at);
    const steered = await at.connection.submit(at.session, { kind: "SteerTurn", content });
    trial.check("turn:steer", steered.ok, `it was refused: ${steered.reason}`);
    await decide(at.connection, at.session, callId, "deny");
    await ended(at.feed);
    const log = await at.connection.log(at.session);
    trial.check("turn:steer", eventsOf(log, "TurnSteered").length === 1, "the log has no TurnSteered");
    trial.check("turn:steer", textIn(log).includes("I was told: look left"), `the model said ${textIn(log)}`);
  }),
  scenario("plan mode", COMMANDS, ["turn:plan-mode"], async (trial) => {
    const at = await stage(trial);
    const entered = await at.connection.submit(at.session, { kind: "EnterPlanMode" });
    trial.check("turn:plan-mode", entered.ok, `it was refused: ${entered.reason}`);
    await turn(at, `write ${fileName(at.session)}`);
    const planned = await at.connection.log(at.session);
    trial.check("turn:plan-mode", eventsOf(planned, "ToolIntent").length === 0, "a call ran in plan mode");
    const left = await at.connection.submit(at.session, { kind: "ExitPlanMode", approve: true });
    trial.check("turn:plan-mode", left.ok, `the plan could not be approved: ${left.reason}`);
    const { callId } = await hold(at);
    await decide(at.connection, at.session, callId, "deny");
    await ended(at.feed, 2);
  }),
];
