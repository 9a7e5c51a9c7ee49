/** Inputs, their turns, and what can be done to a turn that runs. */
import { type Scenario, scenario } from "../scenario.ts";
import { fieldOf } from "../sighting.ts";
import { nth } from "../trial.ts";
import { decide, difference, ended, eventsOf, fileName, HELLO, hold, textIn, turn } from "./steps.ts";

const TURNS_IN_A_ROW = 10;
const EVERY = ["in-process", "rest", "ws", "plain", "rpc"] as const;
const COMMANDS = ["in-process", "rest", "ws", "rpc"] as const;

export const turnScenarios: readonly Scenario[] = [
  scenario("one turn", EVERY, [
    "turn:brackets",
    "turn:answer",
    "turn:originator",
    "stream:order",
    "stream:durable",
  ]).onStage(async (at, { check }) => {
    const { turn: id } = await turn(at, "say hello");
    const log = await at.connection.log(at.session);
    const about = log.filter(({ payload }) => fieldOf(payload, "turn") === id);
    const kinds = about.map(({ kind }) => kind);
    check(
      "turn:brackets",
      kinds[0] === "TurnStarted" &&
        kinds.at(-1) === "TurnEnded" &&
        kinds.filter((kind) => kind === "TurnStarted" || kind === "TurnEnded").length === 2,
      `the turn consists of ${kinds.join(" ")}`,
    );
    check("turn:answer", textIn(log) === HELLO, `the answer in the log is ${JSON.stringify(textIn(log))}`);
    const heard = at.feed.seen.map(({ text }) => text ?? "").join("");
    check("turn:answer", heard === HELLO, `the answer on the stream is ${JSON.stringify(heard)}`);
    const originators = new Set(about.map(({ originator }) => originator));
    const [originator] = originators;
    check(
      "turn:originator",
      originators.size === 1 && /^cli_[0-9A-Z]{26}$/.test(String(originator)),
      `the events of the turn name these originators: ${[...originators].join(", ")}`,
    );
    const missing = at.feed.seen.find((seen) => seen.id !== undefined && !log.some((event) => event.id === seen.id));
    check("stream:durable", missing === undefined, `event ${missing?.id} is on the stream but not in the log`);
    const other = difference(at.feed, log);
    check("stream:order", other === undefined, other ?? "");
  }),
  scenario("two attachments that share a token", ["in-process", "rest", "ws"], ["turn:attachment"]).onStage(
    async (at, trial) => {
      const { check } = trial;
      const other = await trial.connect();
      await turn(at, "say hello");
      await turn(at, "say hello", 2);
      await turn({ ...at, connection: other }, "say hello", 3);
      const log = await at.connection.log(at.session);
      const [first, second, third] = eventsOf(log, "TurnStarted").map(({ originator }) => originator);
      check("turn:attachment", first === second, `one attachment is first ${first}, then ${second}`);
      check("turn:attachment", first !== third, `two attachments are both ${first}`);
      const { body } = await other.handshake();
      const told = fieldOf(body, "client");
      check(
        "turn:attachment",
        told === undefined || told === third,
        `the server reports the client id ${String(told)}`,
      );
    },
  ),
  scenario("a second input during a turn", EVERY, ["turn:accepted", "turn:one-at-a-time"]).onStage(
    async (at, trial) => {
      const { sent, callId } = await hold(at);
      trial.check("turn:accepted", /^turn_[0-9A-Z]{26}$/.test(sent.turn ?? ""), `the turn id is ${sent.turn}`);
      const second = await at.connection.send(at.session, "say hello");
      trial.check(
        "turn:one-at-a-time",
        !second.ok && second.reason === "TurnInProgress",
        `the server answered the second input with ${second.reason ?? "success"}`,
      );
      await decide(at.connection, at.session, callId, "deny");
      await ended(at.feed);
      await turn(at, "say hello", 2);
      const started = eventsOf(await at.connection.log(at.session), "TurnStarted").length;
      trial.check("turn:one-at-a-time", started === 2, `two accepted inputs started ${started} turns`);
    },
  ),
  scenario("turns in sequence", EVERY, ["turn:next"]).onStage(async (at, trial) => {
    for (let n = 1; n <= TURNS_IN_A_ROW; n++) {
      const sent = await at.connection.send(at.session, "say hello");
      trial.check("turn:next", sent.ok, `the server refused input ${n}: ${sent.reason}`);
      await ended(at.feed, n);
    }
  }),
  scenario("a cancel during an answer", EVERY, ["turn:cancel"]).onStage(async (at, trial) => {
    await at.connection.send(at.session, "wait");
    await nth(at.feed, "TextDelta", 1);
    const cancelled = await at.connection.cancel(at.session);
    trial.check("turn:cancel", cancelled.ok, `the server refused the cancel: ${cancelled.reason}`);
    await ended(at.feed);
    const log = await at.connection.log(at.session);
    const outcome = eventsOf(log, "TurnEnded").map(({ payload }) => payload.outcome);
    trial.check("turn:cancel", outcome.join() === "cancelled", `the outcome of the turn is ${outcome.join(", ")}`);
    trial.check("turn:cancel", eventsOf(log, "Cancelled").length === 1, "the log has no Cancelled event");
    trial.check("turn:cancel", !textIn(log).includes("Nobody has stopped me"), "the model continued");
  }),
  scenario("a cancel during a permission request", EVERY, ["turn:cancel"]).onStage(async (at, trial) => {
    await hold(at);
    await at.connection.cancel(at.session);
    await ended(at.feed);
    const log = await at.connection.log(at.session);
    const outcome = eventsOf(log, "TurnEnded").map(({ payload }) => payload.outcome);
    trial.check("turn:cancel", outcome.join() === "cancelled", `the outcome of the turn is ${outcome.join(", ")}`);
    const ran = eventsOf(log, "ToolIntent").length;
    trial.check("turn:cancel", ran === 0, "the call ran although nobody allowed it");
  }),
  scenario("a cancel while no turn runs", ["in-process", "rest", "ws", "plain"], ["turn:cancel-idle"]).onStage(
    async (at, trial) => {
      const { ok, reason } = await at.connection.cancel(at.session);
      trial.check("turn:cancel-idle", ok, `the server refused the cancel: ${reason}`);
      await turn(at, "say hello");
      const outcome = eventsOf(await at.connection.log(at.session), "TurnEnded").map(({ payload }) => payload.outcome);
      trial.check(
        "turn:cancel-idle",
        outcome.join() === "answered",
        `the outcome of the next turn is ${outcome.join(", ")}`,
      );
    },
  ),
  scenario("a request that waits for its turn", ["rest"], ["turn:wait"]).onStage(
    async ({ connection, session }, trial) => {
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
      trial.check("turn:wait", eventsOf(log, "TurnEnded").length === 1, "the response arrived before the turn ended");
    },
  ),
  scenario("a client that disconnects during a turn", ["in-process", "rest", "ws", "plain"], ["turn:detached"]).onStage(
    async (at, trial) => {
      const { callId } = await hold(at);
      await at.feed.stop();
      await at.connection.close();
      const other = await trial.connect();
      const feed = await other.watch(at.session, 0);
      await decide(other, at.session, callId, "deny");
      await ended(feed);
      const outcome = eventsOf(await other.log(at.session), "TurnEnded").map(({ payload }) => payload.outcome);
      trial.check("turn:detached", outcome.join() === "answered", `the outcome of the turn is ${outcome.join(", ")}`);
    },
  ),
  scenario("a queued input", COMMANDS, ["turn:queue"]).onStage(async (at, trial) => {
    const { callId } = await hold(at);
    const content = [{ type: "text", text: "say hello" }];
    const queued = await at.connection.submit(at.session, { kind: "QueueInput", content });
    trial.check("turn:queue", queued.ok, `the server refused the queued input: ${queued.reason}`);
    await decide(at.connection, at.session, callId, "deny");
    await ended(at.feed, 2);
    const log = await at.connection.log(at.session);
    const [waiting] = eventsOf(log, "InputQueued");
    const delivered = eventsOf(log, "TurnStarted").filter(({ payload }) => payload.queued === waiting?.id);
    trial.check(
      "turn:queue",
      waiting !== undefined && delivered.length === 1,
      `${delivered.length} turns delivered the queued input`,
    );
    const [first] = eventsOf(log, "TurnEnded");
    trial.check(
      "turn:queue",
      (delivered[0]?.id ?? 0) > (first?.id ?? 0),
      "the queued turn started before the running turn ended",
    );
  }),
  scenario("text for the running turn", COMMANDS, ["turn:steer", "turn:steer-idle"]).onStage(async (at, trial) => {
    const content = [{ type: "text", text: "steer: look left" }];
    const idle = await at.connection.submit(at.session, { kind: "SteerTurn", content });
    trial.check(
      "turn:steer-idle",
      !idle.ok && idle.reason === "NoTurnRunning",
      `with no turn running, the server answered ${idle.reason ?? "success"}`,
    );
    const { callId } = await hold(at);
    const steered = await at.connection.submit(at.session, { kind: "SteerTurn", content });
    trial.check("turn:steer", steered.ok, `the server refused the text: ${steered.reason}`);
    await decide(at.connection, at.session, callId, "deny");
    await ended(at.feed);
    const log = await at.connection.log(at.session);
    trial.check("turn:steer", eventsOf(log, "TurnSteered").length === 1, "the log has no TurnSteered event");
    trial.check("turn:steer", textIn(log).includes("I was told: look left"), `the model said ${textIn(log)}`);
  }),
  scenario("plan mode", COMMANDS, ["turn:plan-mode"]).onStage(async (at, trial) => {
    const entered = await at.connection.submit(at.session, { kind: "EnterPlanMode" });
    trial.check("turn:plan-mode", entered.ok, `the server refused plan mode: ${entered.reason}`);
    await turn(at, `write ${fileName(at.session)}`);
    const planned = await at.connection.log(at.session);
    trial.check("turn:plan-mode", eventsOf(planned, "ToolIntent").length === 0, "a call ran in plan mode");
    const left = await at.connection.submit(at.session, { kind: "ExitPlanMode", approve: true });
    trial.check("turn:plan-mode", left.ok, `the server refused to approve the plan: ${left.reason}`);
    const { callId } = await hold(at);
    await decide(at.connection, at.session, callId, "deny");
    await ended(at.feed, 2);
  }),
];
