/** REST and server-sent events over real sockets, against a whole harness on a mock vendor. */
import { once } from "node:events";
import { statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { calls, says } from "../../../test/fakes/harness-rig.ts";
import { createHttpRig, humanFor, isKind, textInput } from "../../../test/fakes/http-rig.ts";
import { openProjects } from "../../../test/fakes/open-projects.ts";
import { routes } from "./routes.ts";

describe("a session over REST", () => {
  test("is created, given a turn, and its events come as they are in the log", async () => {
    const { ask, shakeHands, read } = await createHttpRig([says("Hello there")]);
    await shakeHands();
    const created = await ask("POST", "/v1/sessions", { body: { profile: "default" } });
    expect(created).toMatchObject({ status: 201, json: { state: "active", activity: "idle", last_event_id: 1 } });
    const path = `/v1/sessions/${created.json.id}`;
    const stream = await read(`${path}/events?since=0`);
    const sent = await ask("POST", `${path}/input`, { body: textInput("hi") });
    expect(sent).toMatchObject({ status: 202, json: { kind: "SendInput", turn: expect.stringMatching(/^turn_/) } });
    await stream.until(isKind("TurnEnded"));
    const { events } = (await ask("GET", `${path}/log`)).json;
    expect(stream.events).toEqual(events);
    expect(stream.frames.map(({ id, event }) => [Number(id), event])).toEqual(
      events.map(({ id, kind }: { id: number; kind: string }) => [id, kind]),
    );
  });

  test("is told which fields mean nothing, and they have no effect", async () => {
    const { ask, shakeHands, read } = await createHttpRig([calls(["fs.write", { path: "a.txt", content: "x" }])]);
    await shakeHands();
    const fields = { sandbox: "off", auto_approve: true, permissions: [{ effect: "allow", rule: "Write" }] };
    const created = await ask("POST", "/v1/sessions", { body: { profile: "default", x_mine: 1, ...fields } });
    expect(created).toMatchObject({ status: 201, json: { ignored_fields: Object.keys(fields) } });
    const path = `/v1/sessions/${created.json.id}`;
    const stream = await read(`${path}/events?since=0`);
    await ask("POST", `${path}/input`, { body: textInput("hi") });
    await stream.until(isKind("PermissionRequested"));
    expect(JSON.stringify(stream.events)).not.toContain('"sandbox":"off"');
    expect((await ask("POST", "/v1/sessions", { body: {} })).json).not.toHaveProperty("ignored_fields");
  });

  test("answers with the turn when asked to wait for it, with cost and tools", async () => {
    const { ask, shakeHands, path, workspace } = await createHttpRig([
      calls(["fs.read", { path: "a.txt" }]),
      says("It says hello."),
    ]);
    workspace.put("a.txt", "hello");
    await shakeHands();
    const { status, json } = await ask("POST", path("/input?wait=turn"), { body: textInput("read it") });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      outcome: "answered",
      answer: "It says hello.",
      summary: { turns: 2, tools_used: ["Read"] },
    });
    expect(json.summary).toHaveProperty("cost");
  });

  test("has a client for each attachment, also when they use one token", async () => {
    const rig = await createHttpRig(["1", "2", "3", "4", "5"].map(says));
    const { ask, path, of } = rig;
    rig.tokens.set("other", { jti: "tok_other", identity_class: "human" });
    const shake = async (token = "human"): Promise<string> =>
      (await ask("GET", "/v1/handshake", { token })).json.client;
    const as = (client: string) => ({ headers: { "x-harness-client": client } });
    const one = await shake();
    const two = await shake();
    const foreign = await shake("other");
    for (const sender of [as(one), as(two), as(one), {}, {}]) {
      await ask("POST", path("/input?wait=turn"), { body: textInput("hi"), ...sender });
    }
    const turns = rig.events.filter(isKind("TurnStarted")).map(({ originator }) => originator);
    expect(turns.slice(0, 3)).toEqual([one, two, one]);
    expect(new Set([...turns, foreign]).size).toBe(5);
    expect(of("TurnStarted")).toHaveLength(5);
    for (const client of [foreign, `${one}, ${two}`, "cli_1"]) {
      const refused = { status: 428, json: { error: { reason: "HandshakeRequired" } } };
      expect(await ask("POST", path("/cancel"), as(client))).toMatchObject(refused);
    }
    const again = await ask("GET", "/v1/handshake", as(one));
    expect(again.json.client).toBe(one);
  });

  test("shows by which wire and from whom a session was last heard", async () => {
    const rig = await createHttpRig([says("one")]);
    const { ask, path, shakeHands } = rig;
    await shakeHands();
    expect((await ask("GET", path())).json).toMatchObject({ state: "active", transport: "in-process" });
    const headers = { "user-agent": "panel/1.0" };
    await ask("POST", path("/input?wait=turn"), { body: textInput("hi"), headers });
    const { sessions } = (await ask("GET", "/v1/sessions")).json;
    expect(sessions).toMatchObject([{ transport: "http", client_name: "panel/1.0", state: "active" }]);
    expect(Date.parse(sessions[0].last_seen_at)).not.toBeNaN();
  });

  test("goes on from the last event that a client has seen, without loss or repetition", async () => {
    const { shakeHands, path, read, send } = await createHttpRig([says("one"), says("two"), says("three")]);
    await shakeHands();
    const first = await read(path("/events?since=0"));
    await send("1");
    const ended = await first.until(isKind("TurnEnded"));
    first.close();
    await send("2");
    const second = await read(path("/events"), { headers: { "last-event-id": String(ended.id) } });
    await send("3");
    await second.until((event) => event.kind === "TurnEnded" && event.id > (second.events[0]?.id ?? 0) + 8);
    const ids = [...first.events, ...second.events].map(({ id }) => id);
    expect(ids).toEqual(ids.map((_, index) => index + 1));
  });

  test("refuses a second input, takes a queued one, and steers", async () => {
    const { ask, shakeHands, path, read, vendor } = await createHttpRig(
      [calls(["fs.write", { path: "a.txt", content: "x" }]), says("as told"), says("queued")],
      { waitsForHumans: true },
    );
    await shakeHands();
    const stream = await read(path("/events"));
    await ask("POST", path("/input"), { body: textInput("a") });
    const requested = await stream.until(isKind("PermissionRequested"));
    const refused = await ask("POST", path("/input"), { body: textInput("b") });
    expect(refused).toMatchObject({ status: 409, json: { error: { reason: "TurnInProgress" } } });
    expect(await ask("POST", path("/input?mode=queue"), { body: textInput("c") })).toMatchObject({ status: 202 });
    expect(await ask("POST", path("/input?mode=steer"), { body: textInput("be brief") })).toMatchObject({
      status: 202,
    });
    const { call_id } = requested.payload as { call_id: string };
    await ask("POST", path("/permission"), { body: { call_id, decision: "deny" } });
    const delivered = await stream.until((event) => event.kind === "TurnStarted" && event.payload.queued !== undefined);
    expect(delivered).toMatchObject({ payload: { content: [{ text: "c" }] } });
    expect(JSON.stringify(vendor.requests[1])).toContain("be brief");
  });

  test("asks over the stream and takes the first answer of a human, never one of an agent", async () => {
    const { ask, shakeHands, path, read, tokens } = await createHttpRig(
      [calls(["fs.write", { path: "a.txt", content: "x" }]), says("done")],
      { waitsForHumans: true },
    );
    tokens.set("agent", { jti: "tok_agent", identity_class: "agent" });
    await shakeHands();
    await shakeHands("agent");
    const stream = await read(path("/events"));
    const waiting = ask("POST", path("/input?wait=turn"), { token: "agent", body: textInput("write") });
    const requested = await stream.until(isKind("PermissionRequested"));
    expect((await ask("GET", path())).json).toMatchObject({ activity: "waiting", attached: expect.any(Number) });
    const body = { call_id: (requested.payload as { call_id: string }).call_id, decision: "allow_once" };
    expect(await ask("POST", path("/permission"), { token: "agent", body })).toMatchObject({
      status: 403,
      json: { error: { reason: "NotAllowed" } },
    });
    expect(await ask("POST", path("/permission"), { body })).toMatchObject({ status: 202 });
    expect(await ask("POST", path("/permission"), { body })).toMatchObject({ status: 202 });
    await stream.until(isKind("AnswerTooLate"));
    expect((await waiting).json).toMatchObject({ outcome: "answered" });
  });

  test("ends, stays in the log, and is opened again by whoever attaches", async () => {
    const { ask, shakeHands, path, read, send } = await createHttpRig([says("one")]);
    await shakeHands();
    await send("1");
    const stream = await read(path("/events?since=0"));
    expect(await ask("DELETE", path())).toMatchObject({ status: 204 });
    await stream.ended;
    expect(stream.events.at(-1)).toMatchObject({ kind: "SessionEnded" });
    expect(await ask("DELETE", path())).toMatchObject({ status: 204 });
    expect(await ask("POST", path("/input"), { body: textInput("late") })).toMatchObject({
      status: 410,
      json: { error: { reason: "SessionClosed" } },
    });
    const [again, once] = await Promise.all([read(path("/events?since=0")), read(path("/events?since=0"))]);
    for (const stream of [again, once]) {
      await stream.until((event) => event.kind === "SessionStarted" && event.id > 1);
    }
    const resumed = { resume: (await ask("GET", path())).json.id };
    expect(await ask("POST", "/v1/sessions", { body: resumed })).toMatchObject({ status: 200 });
    expect((await ask("GET", path())).json).toMatchObject({ activity: "idle" });
  });

  test("that was ended and opened again is replayed on one stream, past its old end", async () => {
    const { ask, shakeHands, path, read, session } = await createHttpRig([says("again")]);
    await shakeHands();
    await ask("DELETE", path());
    await ask("POST", "/v1/sessions", { body: { resume: session } });
    const stream = await read(path("/events?since=0"));
    await ask("POST", path("/input"), { body: textInput("hi") });
    await stream.until(isKind("TurnEnded"));
    expect(stream.events.map(({ kind }) => kind)).toContain("SessionEnded");
    await ask("DELETE", path());
    await stream.ended;
  });

  test("is branched, exported and undone", async () => {
    const { ask, shakeHands, path, send, session } = await createHttpRig([says("one")]);
    await shakeHands();
    await send("1");
    const branch = await ask("POST", path("/branch"), { body: {} });
    expect(branch).toMatchObject({ status: 201, json: { created: true } });
    expect((await ask("GET", `/v1/sessions/${branch.json.session}`)).json).toMatchObject({ parent: session });
    const exported = await ask("GET", path("/export"));
    expect(exported.headers["content-type"]).toBe("application/x-ndjson");
    expect(exported.text.split("\n").filter((line) => line.includes('"kind":"TurnStarted"'))).toHaveLength(1);
    expect((await ask("GET", path("/export?format=markdown"))).text).toContain("## Turn 1");
    expect(await ask("POST", path("/undo"), { body: {} })).toMatchObject({
      status: 403,
      json: { error: { reason: "NotAllowed" } },
    });
  });
});

describe("the server", () => {
  test("lists what it offers, and nothing for what it does not have", async () => {
    const { ask } = await createHttpRig([]);
    const tools = (await ask("GET", "/v1/tools")).json.tools as { name: string }[];
    expect(tools.map(({ name }) => name)).toContain("fs.read");
    const { providers } = (await ask("GET", "/v1/providers")).json;
    type Provider = { provider: string; default_model: string | null; models: { id: string }[] };
    const withDefault = (providers as Provider[]).filter(({ default_model }) => default_model !== null);
    expect(withDefault.map(({ provider }) => provider)).toEqual(expect.arrayContaining(["openrouter", "github"]));
    for (const { default_model, models } of withDefault) expect(models.map(({ id }) => id)).toContain(default_model);
    const profiles = [{ name: "default", scope: "built-in", active: true }];
    expect((await ask("GET", "/v1/profiles")).json).toEqual({ profiles });
    for (const [path, name] of [
      ["/v1/skills", "skills"],
      ["/v1/mcp/servers", "servers"],
    ] as const) {
      expect((await ask("GET", path)).json).toEqual({ [name]: [] });
    }
    expect((await ask("GET", "/v1/health")).json).toMatchObject({ status: "ok", sessions: { open: 1, running: 0 } });
  });

  test("lists the skills of a session", async () => {
    const { ask, session } = await createHttpRig([], {
      projects: openProjects,
      prepare: (workspace) =>
        void workspace.put(".claude/skills/release/SKILL.md", "---\nname: release\ndescription: Makes one.\n---\n"),
    });
    const skills = [{ name: "release", description: "Makes one." }];
    expect((await ask("GET", `/v1/skills?session=${session}`)).json).toEqual({ skills });
    expect((await ask("GET", "/v1/skills?session=x")).status).toBe(400);
  });

  test("is degraded when the process that holds the keys has failed", async () => {
    const credentialHelper = { state: "failed", crashes: 2, detail: "it died twice" } as const;
    const { ask } = await createHttpRig([], { health: { credentialHelper } });
    expect((await ask("GET", "/v1/health")).json).toMatchObject({
      status: "degraded",
      subsystems: { credential_helper: credentialHelper },
    });
  });

  test("wants the handshake before the first command of a token, once", async () => {
    const { ask, shakeHands, path, tokens } = await createHttpRig([says("hi")]);
    const refused = await ask("POST", path("/cancel"));
    expect(refused).toMatchObject({ status: 428, json: { error: { reason: "HandshakeRequired" } } });
    await shakeHands();
    expect(await ask("POST", path("/cancel"))).toMatchObject({ status: 202 });
    tokens.set("other", { jti: "tok_other", identity_class: "human" });
    expect(await ask("POST", path("/cancel"), { token: "other" })).toMatchObject({ status: 428 });
    const handshake = await ask("GET", "/v1/handshake?protocol_version=0.1.0");
    expect(handshake.json.features).toEqual(expect.arrayContaining(["rest", "ws", "queue_input", "steer_turn"]));
    expect(await ask("GET", "/v1/handshake?protocol_version=9.0.0")).toMatchObject({ status: 426 });
  });

  test("describes every route, and no other, as OpenAPI", async () => {
    const { ask } = await createHttpRig([]);
    const { json } = await ask("GET", "/v1/openapi.json");
    expect(json.openapi).toBe("3.1.0");
    const described = Object.entries(json.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const known = [...routes.map(({ method, path }) => `${method} ${path}`), "GET /v1/openapi.json"];
    expect(described.toSorted()).toEqual(known.toSorted());
    expect(json.paths["/v1/sessions/{id}/input"].post.requestBody.content["application/json"].schema).toMatchObject({
      required: ["content"],
    });
  });

  test("keeps its socket to its owner", async () => {
    const { socketPath } = await createHttpRig([]);
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  });
});

describe("claims", () => {
  test("keep a token to its sessions and commands, in reads and in commands", async () => {
    const { ask, shakeHands, path, tokens, session } = await createHttpRig([says("hi")]);
    await shakeHands();
    const other = (await ask("POST", "/v1/sessions", { body: {} })).json.id as string;
    tokens.set("bound", { ...humanFor(session), commands: ["CancelTurn"] });
    await shakeHands("bound");
    const asBound = { token: "bound" };
    expect(await ask("POST", path("/cancel"), asBound)).toMatchObject({ status: 202 });
    const listed = (await ask("GET", "/v1/sessions", asBound)).json.sessions as { id: string }[];
    expect(listed.map(({ id }) => id)).toEqual([session]);
    // Newer ones of others do not take its place.
    expect((await ask("GET", "/v1/sessions?limit=1", asBound)).json.sessions).toMatchObject([{ id: session }]);
    expect((await ask("GET", "/v1/sessions?working_dir=/nowhere", asBound)).json.sessions).toEqual([]);
    const refused = [
      ["GET", `/v1/sessions/${other}`],
      ["GET", `/v1/sessions/${other}/log`],
      ["GET", `/v1/sessions/${other}/export`],
      ["GET", `/v1/sessions/${other}/events`],
      ["POST", `/v1/sessions/${other}/cancel`],
      ["POST", `/v1/sessions/${other}/branch`],
      ["DELETE", `/v1/sessions/${other}`],
      ["POST", path("/input")],
      ["POST", path("/input?mode=queue")],
      ["POST", path("/branch")],
      ["GET", path("/events")],
      ["POST", "/v1/sessions"],
      ["POST", "/prompt"],
      ["GET", "/events"],
    ] as const;
    for (const [method, where] of refused) {
      const body = where.includes("input") ? textInput("x") : where === "/prompt" ? { content: "x" } : {};
      const answer = await ask(method, where, method === "GET" ? asBound : { ...asBound, body });
      expect([where, answer.status, answer.json.error.reason]).toEqual([where, 403, "TokenScope"]);
    }
  });

  test("of named sessions make no branch, which would be none of them", async () => {
    const { ask, shakeHands, path, tokens, session, send } = await createHttpRig([says("hi")]);
    await send("1");
    tokens.set("bound", { ...humanFor(session), commands: ["CreateSession", "AttachSession"] });
    tokens.set("all", { jti: "tok_all", commands: ["CreateSession"] });
    await shakeHands("bound");
    await shakeHands("all");
    const refused = await ask("POST", path("/branch"), { token: "bound", body: {} });
    expect(refused).toMatchObject({ status: 403, json: { error: { reason: "TokenScope" } } });
    const sessions = async () => (await ask("GET", "/v1/sessions")).json.sessions as unknown[];
    expect(await sessions()).toHaveLength(1);
    expect(await ask("POST", path("/branch"), { token: "all", body: {} })).toMatchObject({ status: 201 });
    expect(await sessions()).toHaveLength(2);
  });

  test("are asked for again with every request", async () => {
    const { ask, tokens } = await createHttpRig([]);
    expect(await ask("GET", "/v1/health")).toMatchObject({ status: 200 });
    tokens.delete("human");
    expect(await ask("GET", "/v1/health")).toMatchObject({ status: 401, json: { error: { reason: "TokenInvalid" } } });
  });
});

describe("the small surface", () => {
  test("takes a prompt, streams plain events, cancels, without handshake and session", async () => {
    const { ask, read } = await createHttpRig([calls(["fs.list", {}]), says("done")]);
    const stream = await read("/events");
    const prompt = await ask("POST", "/prompt", { body: { content: "hello" } });
    expect(prompt).toMatchObject({ status: 202, json: { turn: expect.stringMatching(/^turn_/) } });
    const plain = stream.events as unknown as { type: string; state?: string }[];
    await stream.until((event) => Reflect.get(event, "state") === "idle");
    expect(plain.map(({ type }) => type)).toEqual([
      "user",
      "status",
      "tool_call",
      "status",
      "tool_result",
      "text",
      "status",
    ]);
    expect(plain[0]).toMatchObject({ content: "hello", timestamp: expect.any(Number) });
    expect(await ask("POST", "/cancel")).toMatchObject({ status: 202 });
    expect(await ask("POST", "/prompt", { body: { content: 7 } })).toMatchObject({ status: 400 });
  });
});

describe("a server that stops", () => {
  test.each(["/events?since=1", "/log"])("says so to whoever asks for %s when the log is closed", async (rest) => {
    const { raw, path, server, harness, shakeHands } = await createHttpRig([]);
    await shakeHands();
    const connection = await raw();
    let answer = "";
    connection.setEncoding("utf8").on("data", (text: string) => {
      answer += text;
    });
    connection.write(`GET ${path(rest)} HTTP/1.1\r\nhost: localhost\r\n`);
    // An answer on another connection means that the server has also read the beginning of this request.
    await shakeHands();
    server.stopAccepting();
    await harness.shutdown();
    connection.write("x-harness-token: human\r\nconnection: close\r\n\r\n");
    await once(connection, "close");
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toContain('"reason":"ShuttingDown"');
  });
});
