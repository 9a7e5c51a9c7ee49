/** Sessions outlive the program: what was in the log is there again, and nothing happens twice. */
import { type Scenario, scenario } from "../scenario.ts";
import { difference, ended, eventsOf, hold, turn } from "./steps.ts";

const WIRES = ["in-process", "rest", "ws", "rpc"] as const;

export const restartScenarios: readonly Scenario[] = [
  scenario("a restart between two turns", WIRES, ["stream:restart"], ["restart"]).onStage(async (at, trial) => {
    await turn(at, "say hello");
    const before = await at.connection.log(at.session);
    await at.connection.close();
    await trial.target.restart?.();
    const connection = await trial.connect();
    const opened = await connection.create({ resume: at.session });
    trial.check("stream:restart", opened.ok, `the server refused to reopen the session: ${opened.reason}`);
    const feed = await connection.watch(at.session, 0);
    await turn({ connection, session: at.session, feed }, "say hello", 2);
    const after = await connection.log(at.session);
    const isKept = before.every((event, index) => JSON.stringify(event) === JSON.stringify(after[index]));
    trial.check("stream:restart", isKept, "events from before the restart have changed");
    const isCounted = after.every(({ id }, index) => id === index + 1);
    trial.check("stream:restart", isCounted, "event ids do not continue from the log");
    const other = difference(feed, after);
    trial.check("stream:restart", other === undefined, other ?? "");
  }),
  scenario("a kill during a turn", WIRES, ["stream:cut-off", "turn:queue-restart"], ["restart"]).onStage(
    async (at, trial) => {
      await hold(at);
      const content = [{ type: "text", text: "say hello" }];
      const queued = await at.connection.submit(at.session, { kind: "QueueInput", content });
      trial.check("turn:queue-restart", queued.ok, `the server refused the queued input: ${queued.reason}`);
      await trial.target.restart?.();
      const connection = await trial.connect();
      await connection.create({ resume: at.session });
      // Opens it on wires that open sessions when they are used.
      await connection.submit(at.session, { kind: "ListRules" });
      const feed = await connection.watch(at.session, 0);
      await ended(feed, 2);
      const log = await connection.log(at.session);
      trial.check("stream:cut-off", eventsOf(log, "ToolIntent").length === 0, "the call ran although nobody answered");
      const [started] = eventsOf(log, "TurnStarted");
      const end = eventsOf(log, "TurnEnded").find(({ payload }) => payload.turn === started?.payload.turn);
      trial.check(
        "stream:cut-off",
        end !== undefined && end.payload.outcome !== "answered",
        `the outcome of the turn is ${end?.payload.outcome}`,
      );
      const [waiting] = eventsOf(log, "InputQueued");
      const delivered = eventsOf(log, "TurnStarted").filter(({ payload }) => payload.queued === waiting?.id);
      trial.check("turn:queue-restart", delivered.length === 1, `${delivered.length} turns delivered the queued input`);
    },
  ),
];
