/** Sessions as resources: list, end, reopen, read, export and branch; and what the server reports about itself. */
import { parseEvent } from "#protocol/schemas";
import type { HttpPeer } from "../driver.ts";
import { type Scenario, scenario } from "../scenario.ts";
import { fieldOf, textField } from "../sighting.ts";
import { isKind } from "../trial.ts";
import { difference, eventsOf, turn } from "./steps.ts";

const LISTS = {
  "/v1/tools": "tools",
  "/v1/providers": "providers",
  "/v1/profiles": "profiles",
  "/v1/skills": "skills",
  "/v1/mcp/servers": "servers",
  "/v1/slash-commands": "slash_commands",
};

export const sessionScenarios: readonly Scenario[] = [
  scenario("the list of sessions", ["rest"], ["session:listed"]).onStage(async ({ connection, session }, trial) => {
    const { json } = await requests(connection.http).ask("GET", "/v1/sessions?limit=1000");
    const listed = fieldOf(json, "sessions");
    const own = Array.isArray(listed) ? listed.find((one) => fieldOf(one, "id") === session) : undefined;
    trial.check("session:listed", own !== undefined, "the list does not contain the session");
    trial.check(
      "session:listed",
      (textField(own, "working_dir") ?? "") !== "",
      "the list does not show its working folder",
    );
  }),
  scenario("the list of threads", ["rpc"], ["session:listed", "rpc:threads", "rpc:created"]).onStage(
    async ({ connection, session }, trial) => {
      const { lines } = connection;
      if (lines === undefined) throw new Error("JSON-RPC has lines");
      const announced = await lines.until(
        ({ method, params }) => method === "thread.created" && fieldOf(params, "thread", "threadId") === session,
        "thread.created",
      );
      trial.check("rpc:created", isThread(fieldOf(announced, "params", "thread")), "thread.created has no thread");
      const made = await lines.request("thread.create", { title: "Conformance" });
      const thread = fieldOf(made.body, "thread");
      trial.check(
        "rpc:threads",
        isThread(thread) && fieldOf(thread, "title") === "Conformance",
        `thread.create gave ${JSON.stringify(made.body)}`,
      );
      const list = fieldOf((await lines.request("thread.list")).body, "threads");
      const own = Array.isArray(list) ? list.find((one) => fieldOf(one, "threadId") === session) : undefined;
      trial.check("session:listed", isThread(own), "the thread is not in the list");
      const got = await lines.request("thread.get", { threadId: session });
      trial.check("rpc:threads", isThread(fieldOf(got.body, "thread")), "thread.get gave no thread");
      trial.check("rpc:threads", Array.isArray(fieldOf(got.body, "events")), "thread.get gave no events");
    },
  ),
  scenario(
    "a session that ends and is reopened",
    ["in-process", "rest", "ws"],
    ["session:end", "session:reopen"],
  ).onStage(async (at, trial) => {
    await turn(at, "say hello");
    const done = await at.connection.submit(at.session, { kind: "EndSession" });
    trial.check("session:end", done.ok, `the server refused EndSession: ${done.reason}`);
    await at.feed.until(isKind("SessionEnded"), "SessionEnded");
    const log = await at.connection.log(at.session);
    trial.check("session:end", log.at(-1)?.kind === "SessionEnded", "the log does not end with SessionEnded");
    const refused = await at.connection.send(at.session, "say hello");
    trial.check("session:end", !refused.ok, "the server accepted an input to a session that has ended");
    const opened = await at.connection.create({ resume: at.session });
    trial.check("session:reopen", opened.ok, `the server refused to reopen the session: ${opened.reason}`);
    const feed = await at.connection.watch(at.session, log.length);
    await turn({ ...at, feed }, "say hello");
    const after = await at.connection.log(at.session);
    trial.check(
      "session:reopen",
      after[log.length]?.id === log.length + 1,
      "the session did not continue in the same log",
    );
  }),
  scenario("the log, an export and a branch", ["rest"], ["session:log", "session:export", "session:branch"]).onStage(
    async (at, trial) => {
      await turn(at, "say hello");
      await turn(at, "think", 2);
      const http = requests(at.connection.http);
      const whole = await at.connection.log(at.session);
      const unlike = difference(at.feed, whole);
      const isCounted = whole.every(({ id }, index) => id === index + 1);
      trial.check(
        "session:log",
        isCounted && unlike === undefined,
        unlike ?? "the event ids in the log do not count up from 1",
      );
      const paged: unknown[] = [];
      for (let after: unknown = 0; typeof after === "number"; ) {
        const { json } = await http.ask("GET", `/v1/sessions/${at.session}/log?after=${after}&limit=3`);
        const page = fieldOf(json, "events");
        if (Array.isArray(page)) paged.push(...(page as unknown[]));
        after = fieldOf(json, "next");
      }
      trial.check(
        "session:log",
        JSON.stringify(paged) === JSON.stringify(whole),
        `the pages contain ${paged.length} of ${whole.length} events, or other events`,
      );
      const { text } = await http.ask("GET", `/v1/sessions/${at.session}/export?format=jsonl`);
      trial.check(
        "session:export",
        exportedIds(text).join() === whole.map(({ id }) => id).join(),
        "the exported events differ from the log",
      );
      const [first] = eventsOf(whole, "TurnEnded");
      const branched = await http.ask("POST", `/v1/sessions/${at.session}/branch`, { body: { at: first?.id } });
      const branch = textField(branched.json, "session") ?? "";
      trial.check(
        "session:branch",
        branched.status === 201 && branch !== at.session,
        `the server answers ${branched.text.slice(0, 200)}`,
      );
      const copied = eventsOf(await at.connection.log(branch), "TurnEnded").length;
      trial.check("session:branch", copied === 1, `the branch has ${copied} turns`);
      const kept = await at.connection.log(at.session);
      trial.check("session:branch", kept.length === whole.length, "the original session changed");
    },
  ),
  scenario(
    "what the server reports about itself",
    ["rest"],
    ["catalog:routes", "catalog:health", "catalog:openapi"],
  ).runs(async (trial) => {
    const http = requests((await trial.connect()).http);
    for (const [path, name] of Object.entries(LISTS)) {
      const { status, json } = await http.ask("GET", path);
      trial.check(
        "catalog:routes",
        status === 200 && Array.isArray(fieldOf(json, name)),
        `the server answers GET ${path} with ${status}`,
      );
    }
    const health = await http.ask("GET", "/v1/health");
    const isWell = health.status === 200 && textField(health.json, "version") !== undefined;
    trial.check(
      "catalog:health",
      isWell && textField(health.json, "status") !== undefined,
      `the server answers GET /v1/health with ${health.text.slice(0, 200)}`,
    );
    const { json } = await http.ask("GET", "/v1/openapi.json");
    trial.check(
      "catalog:openapi",
      (textField(json, "openapi") ?? "").startsWith("3.1"),
      "the document is not OpenAPI 3.1",
    );
    trial.check(
      "catalog:openapi",
      fieldOf(json, "paths", "/v1/sessions/{id}/input", "post") !== undefined,
      "the document does not describe POST /v1/sessions/{id}/input",
    );
  }),
];

function requests(http: HttpPeer | undefined): HttpPeer {
  if (http === undefined) throw new Error("REST has requests");
  return http;
}

function isThread(value: unknown): boolean {
  return (
    /^\S+$/.test(textField(value, "threadId") ?? "") &&
    textField(value, "title") !== undefined &&
    (textField(value, "directory") ?? "") !== "" &&
    typeof fieldOf(value, "time", "created") === "number" &&
    typeof fieldOf(value, "time", "updated") === "number"
  );
}

/** Ids of the lines that are canonical events; lines about the session and its evidence are not. */
function exportedIds(text: string): number[] {
  return text.split("\n").flatMap((line) => {
    try {
      return [parseEvent(JSON.parse(line)).id];
    } catch {
      return [];
    }
  });
}
