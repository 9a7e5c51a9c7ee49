/** What only JSON-RPC on pipes has: its methods, items, error codes, and lines that are nothing else. */
import { jsonIn } from "#base";
import type { Connection, LinePeer } from "../driver.ts";
import { type Scenario, scenario } from "../scenario.ts";
import { fieldOf, numberField, textField } from "../sighting.ts";
import { decide, ended, eventsOf, hold, turn } from "./steps.ts";

const CAPABILITIES = ["threads", "turns", "approvals", "streaming", "persistence"];
const ITEM_TYPES = ["user_message", "assistant_message", "tool_exec", "approval", "artifact"];

export const rpcScenarios: readonly Scenario[] = [
  scenario("the first message", ["rpc"], ["rpc:initialize"]).runs(async (trial) => {
    const lines = linesOf(await trial.connect());
    const { body } = await lines.request("initialize");
    trial.check(
      "rpc:initialize",
      textField(body, "version") === "1.0.0",
      `the version is ${textField(body, "version")}`,
    );
    const lacking = CAPABILITIES.filter((name) => fieldOf(body, "capabilities", name) !== true);
    trial.check("rpc:initialize", lacking.length === 0, `the capabilities lack ${lacking.join(", ")}`);
  }),
  scenario("items of a turn", ["rpc"], ["rpc:items", "rpc:pristine", "rpc:exit"]).onStage(async (at, trial) => {
    const { callId } = await hold(at);
    await decide(at.connection, at.session, callId, "allow_once");
    await ended(at.feed);
    const lines = linesOf(at.connection);
    const check = (): void => {
      const odd = lines.output.find((line) => !isMessage(line));
      trial.check("rpc:pristine", odd === undefined, `standard output contains ${JSON.stringify(odd?.slice(0, 100))}`);
    };
    check();
    const messages = lines.output.map((line) => JSON.parse(line) as unknown);
    const items = (method: string): readonly unknown[] =>
      messages.filter((one) => fieldOf(one, "method") === method).map((one) => fieldOf(one, "params", "item"));
    const begun = items("item.started");
    const types = new Set(begun.map((item) => textField(item, "type")));
    const lacking = ITEM_TYPES.filter((type) => !types.has(type));
    trial.check("rpc:items", lacking.length === 0, `no item of type ${lacking.join(", ")}`);
    const completed = items("item.completed").map((item) => textField(item, "itemId"));
    const open = begun.find((item) => !completed.includes(textField(item, "itemId") ?? ""));
    trial.check("rpc:items", open === undefined, `these items never complete: ${JSON.stringify(open)}`);
    const ids = begun.map((item) => textField(item, "itemId") ?? "");
    trial.check(
      "rpc:items",
      new Set(ids).size === ids.length && ids.every((id) => /^item_/.test(id)),
      "two items have the same id",
    );
    await at.connection.submit(at.session, { kind: "UndoTurn" });
    const code = await lines.end();
    trial.check("rpc:exit", code === 0, `the program exited with ${code}`);
    check();
  }),
  scenario(
    "invalid requests",
    ["rpc"],
    ["rpc:method", "rpc:turn-not-found", "rpc:notification", "rpc:framing"],
  ).onStage(async (at, { check }) => {
    const lines = linesOf(at.connection);
    const unknown = await lines.request("no.such.method");
    check("rpc:method", unknown.status === -32601, `an unknown method gives ${unknown.status}`);
    const wrong = await lines.request("turn.start", { threadId: 7 });
    check("rpc:method", wrong.status === -32602, `wrong parameters give ${wrong.status}`);
    const id = "not a request";
    lines.write(`${JSON.stringify({ id, method: "initialize" })}\n`);
    const old = await lines.until((message) => message.id === id, "the answer to an invalid request");
    check(
      "rpc:method",
      numberField(old, "error", "code") === -32600,
      `an invalid request gives ${numberField(old, "error", "code")}`,
    );
    const unreadable = await at.connection.raw?.(at.session, Buffer.from("}{"));
    check("rpc:method", unreadable?.status === -32700, `an unreadable line gives ${unreadable?.status}`);
    const cancelled = await at.connection.cancel(at.session);
    check("rpc:turn-not-found", cancelled.status === -32003, `cancelling an unknown turn gives ${cancelled.status}`);
    const before = lines.output.length;
    lines.write(`${JSON.stringify({ jsonrpc: "2.0", method: "no.such.notification" })}\n`);
    const next = await lines.request("thread.list");
    check("rpc:notification", next.ok, `the server refused the next request: ${next.reason}`);
    check("rpc:notification", lines.output.length === before + 1, "the server answered the notification");
    // A line separator inside a text ends no line; JSON may hold it as it is.
    const input = "repeat one\u2028two\u2029three\u0085four";
    lines.write(
      `{"jsonrpc":"2.0","id":"framed","method":"turn.start","params":{"threadId":"${at.session}","input":[{"type":"text","text":"${input}"}]}}\n`,
    );
    const framed = await lines.until((message) => message.id === "framed", "the answer to a line with separators");
    check("rpc:framing", framed.error === undefined, `the server refused it: ${JSON.stringify(framed.error)}`);
    await ended(at.feed);
    const [started] = eventsOf(await at.connection.log(at.session), "TurnStarted");
    const kept = started?.payload.content[0];
    check("rpc:framing", kept?.type === "text" && kept.text === input, "the text arrived changed");
    await turn(at, "say hello", 2);
  }),
];

function linesOf({ lines }: Connection): LinePeer {
  if (lines === undefined) throw new Error("JSON-RPC has lines");
  return lines;
}

/** A message, or a batch of them, of JSON-RPC 2.0. */
function isMessage(line: string): boolean {
  const value = jsonIn(line);
  if (value === undefined) return false;
  return (Array.isArray(value) ? value : [value]).every((one) => fieldOf(one, "jsonrpc") === "2.0");
}
