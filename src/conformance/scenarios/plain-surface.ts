/** The small surface: three routes, their events, no handshake. */
import { type Scenario, scenario } from "../scenario.ts";
import { fieldOf } from "../sighting.ts";
import { decide, ended, eventsOf, hold, turn } from "./steps.ts";

export const plainScenarios: readonly Scenario[] = [
  scenario("events of the small surface", ["plain"], ["plain:events"]).onStage(async (at, trial) => {
    await turn(at, "think");
    const { callId } = await hold(at);
    await decide(at.connection, at.session, callId, "deny");
    await ended(at.feed, 2);
    const fields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      user: { content: "string", timestamp: "number" },
      text: { content: "string", timestamp: "number" },
      reasoning: { content: "string", timestamp: "number" },
      tool_call: { id: "string", name: "string", input: "object", timestamp: "number" },
      tool_result: { id: "string", result: "string", isError: "boolean", timestamp: "number" },
      status: { state: "string", message: "string" },
    };
    const events = at.feed.seen.map(({ raw }) => raw);
    for (const [type, wanted] of Object.entries(fields)) {
      const own = events.filter((event) => fieldOf(event, "type") === type);
      trial.check("plain:events", own.length > 0, `the stream has no ${type} event`);
      for (const [name, kind] of Object.entries(wanted)) {
        const odd = own.find((event) => typeof fieldOf(event, name) !== kind);
        trial.check("plain:events", odd === undefined, `${name} of ${JSON.stringify(odd)} is not a ${kind}`);
      }
    }
    const unknown = events.find((event) => !Object.hasOwn(fields, String(fieldOf(event, "type"))));
    trial.check("plain:events", unknown === undefined, `${JSON.stringify(unknown)} has an unknown type`);
  }),
  scenario("a prompt without a session and without a handshake", ["plain"], ["handshake:exempt", "plain:default"]).runs(
    async (trial) => {
      // Somebody that no other scenario has shaken hands for, where there is one.
      const as = trial.target.lacks("other human") === undefined ? "other human" : "human";
      const { http } = await trial.target.connect(as);
      if (http === undefined) throw new Error("HTTP has requests");
      const sent = await http.ask("POST", "/prompt", { body: { content: "say hello" } });
      trial.check(
        "handshake:exempt",
        sent.status === 202,
        `the server answers ${sent.status} ${sent.text.slice(0, 100)}`,
      );
      const turnId = fieldOf(sent.json, "turn");
      trial.check("plain:default", /^turn_/.test(String(turnId)), `the turn id is ${String(turnId)}`);
      const connection = await trial.connect();
      const sessions = fieldOf((await http.ask("GET", "/v1/sessions")).json, "sessions");
      const ids = Array.isArray(sessions) ? sessions.map((one) => String(fieldOf(one, "id"))) : [];
      let owners = 0;
      for (const id of ids) {
        const started = eventsOf(await connection.log(id), "TurnStarted");
        owners += started.filter(({ payload }) => payload.turn === turnId).length;
      }
      trial.check("plain:default", owners === 1, `${owners} sessions contain the turn`);
    },
  ),
];
