/** What hostile and broken clients do: each gets the right code, memory stays bounded, and nobody else notices. */
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { says } from "../../../test/fakes/harness-rig.ts";
import { createHttpRig, type HttpRig, isKind, textInput } from "../../../test/fakes/http-rig.ts";
import { createManualClock } from "../../../test/fakes/manual-clock.ts";

/** Everything that comes until the other side closes. */
function all(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return new Promise((resolve) => void socket.on("close", () => resolve(text)));
}

async function worksForOthers(rig: HttpRig): Promise<void> {
  const answer = await rig.ask("GET", "/v1/health");
  expect(answer).toMatchObject({ status: 200, json: { http: { unfinished_bytes: 0 } } });
}

describe("a request", () => {
  test("with a body that makes no sense is a 400 that says what is wrong", async () => {
    const rig = await createHttpRig([]);
    await rig.shakeHands();
    const bodies = [
      "{",
      "[]",
      "7",
      '"text"',
      '{"content": "text"}',
      '{"content": [{"type": "dance"}]}',
      '{"content": []}',
    ];
    for (const body of bodies) {
      const answer = await rig.ask("POST", rig.path("/input"), { body });
      expect([body, answer.status, answer.json.error.reason]).toEqual([body, 400, "InvalidCommand"]);
    }
    expect(await rig.ask("POST", "/v1/sessions/sess_1/input", { body: textInput("x") })).toMatchObject({ status: 400 });
    expect(await rig.ask("GET", rig.path("/events?since=-1"))).toMatchObject({ status: 400 });
    expect(await rig.ask("GET", rig.path("/events?since=99999"))).toMatchObject({ status: 400 });
    expect(await rig.ask("GET", rig.path("/log?limit=1e9"))).toMatchObject({ status: 400 });
    await worksForOthers(rig);
  });

  test("that is not UTF-8 is a 400", async () => {
    const rig = await createHttpRig([]);
    await rig.shakeHands();
    const socket = await rig.raw();
    const answered = all(socket);
    socket.write(
      `POST ${rig.path("/input")} HTTP/1.1\r\nhost: localhost\r\nx-harness-token: human\r\nconnection: close\r\ncontent-length: 2\r\n\r\n`,
    );
    socket.write(Buffer.from([0xc3, 0x28]));
    expect(await answered).toMatch(/^HTTP\/1.1 400[\s\S]*not valid UTF-8/);
  });

  test("for what is not there is a 404 or a 405", async () => {
    const { ask } = await createHttpRig([]);
    expect(await ask("GET", "/v1/dance")).toMatchObject({ status: 404, json: { error: { reason: "RouteNotFound" } } });
    expect(await ask("DELETE", "/v1/tools")).toMatchObject({ status: 405 });
    expect(await ask("TRACE", "/v1/tools")).toMatchObject({ status: 405 });
    expect(await ask("GET", "/v1/sessions/sess_01ARZ3NDEKTSV4RRFFQ69G5FAV")).toMatchObject({
      status: 404,
      json: { error: { reason: "SessionNotFound" } },
    });
  });

  test("that is too large is a 413, whether it says so or not", async () => {
    const rig = await createHttpRig([], { limits: { bodyBytes: 10_000 } });
    await rig.shakeHands();
    const declared = await rig.raw();
    const first = all(declared);
    const head = `POST ${rig.path("/input")} HTTP/1.1\r\nhost: localhost\r\nx-harness-token: human\r\n`;
    declared.write(`${head}content-length: 99999999\r\n\r\n`);
    expect(await first).toMatch(/^HTTP\/1.1 413/);
    const chunked = await rig.raw();
    const second = all(chunked);
    chunked.write(`${head}transfer-encoding: chunked\r\n\r\n`);
    for (let n = 0; n < 20; n++) chunked.write(`400\r\n${"x".repeat(0x400)}\r\n`);
    expect(await second).toMatch(/^HTTP\/1.1 413/);
    await worksForOthers(rig);
  });

  test("that never ends is cut off with a 408", async () => {
    const rig = await createHttpRig([], { limits: { headersMs: 200, requestMs: 400 } });
    await rig.shakeHands();
    const noHeaders = await rig.raw();
    const first = all(noHeaders);
    noHeaders.write("GET /v1/health HTTP/1.1\r\nhost: loc");
    const noBody = await rig.raw();
    const second = all(noBody);
    noBody.write(
      `POST ${rig.path("/input")} HTTP/1.1\r\nhost: localhost\r\nx-harness-token: human\r\ncontent-length: 50\r\n\r\n{"con`,
    );
    expect(await first).toMatch(/^HTTP\/1.1 408/);
    expect(await second).toMatch(/^HTTP\/1.1 408/);
    await worksForOthers(rig);
  });

  test("whose unfinished input would be too much together with that of others is a 503", async () => {
    const rig = await createHttpRig([], { limits: { unfinishedBytes: 5000 } });
    await rig.shakeHands();
    const head = `POST ${rig.path("/input")} HTTP/1.1\r\nhost: localhost\r\nx-harness-token: human\r\n`;
    const half = await rig.raw();
    half.write(`${head}content-length: 5000\r\n\r\n${" ".repeat(4000)}`);
    let held = 0;
    while (held < 4000) held = (await rig.ask("GET", "/v1/health")).json.http.unfinished_bytes;
    const refused = await rig.ask("POST", rig.path("/input"), { body: " ".repeat(3000) });
    expect(refused).toMatchObject({ status: 503, json: { error: { reason: "Overloaded" } } });
    half.destroy();
    while (held > 0) held = (await rig.ask("GET", "/v1/health")).json.http.unfinished_bytes;
  });

  test("that is not HTTP is a 400, and large headers are refused", async () => {
    const rig = await createHttpRig([]);
    const garbage = await rig.raw();
    const first = all(garbage);
    garbage.write("\x16\x03\x01\x02\x00\x01\x00\r\n\r\n");
    expect(await first).toMatch(/^HTTP\/1.1 400/);
    const large = await rig.raw();
    const second = all(large);
    large.write(`GET / HTTP/1.1\r\nhost: localhost\r\nx-large: ${"x".repeat(20_000)}\r\n\r\n`);
    expect(await second).toMatch(/^HTTP\/1.1 413/);
    await worksForOthers(rig);
  });

  test("for another host, with two of them, or with a whole URL as its target is refused", async () => {
    const rig = await createHttpRig([]);
    const heads = [
      "GET /v1/health HTTP/1.1\r\nhost: evil.example\r\n",
      "GET /v1/health HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n",
      "GET http://localhost/v1/health HTTP/1.1\r\nhost: localhost\r\n",
    ];
    for (const head of heads) {
      const socket = await rig.raw();
      const answered = all(socket);
      socket.write(`${head}x-harness-token: human\r\nconnection: close\r\n\r\n`);
      expect(await answered).toMatch(/^HTTP\/1.1 421[\s\S]*HostRefused/);
    }
    const wrongPort = { tcp: true, headers: { host: "127.0.0.1:1" } };
    expect(await rig.ask("GET", "/v1/health", wrongPort)).toMatchObject({ status: 421 });
    expect(await rig.ask("GET", "/v1/health", { tcp: true })).toMatchObject({ status: 200 });
  });

  test("of a page is refused unless its origin is allowed, and so is its preflight", async () => {
    const rig = await createHttpRig([], { allowedOrigins: ["http://localhost:5173"] });
    const from = (origin: string) => ({
      tcp: true,
      token: "",
      headers: { origin, "access-control-request-method": "POST" },
    });
    const refused = await rig.ask("OPTIONS", "/v1/sessions", from("http://evil.example"));
    expect(refused).toMatchObject({ status: 403, json: { error: { reason: "OriginRefused" } } });
    expect(refused.headers).not.toHaveProperty("access-control-allow-origin");
    const allowed = await rig.ask("OPTIONS", "/v1/sessions", from("http://localhost:5173"));
    expect(allowed.status).toBe(204);
    expect(allowed.headers["access-control-allow-origin"]).toBe("http://localhost:5173");
    // Allowed to ask is not allowed in.
    expect(await rig.ask("GET", "/v1/health", from("http://localhost:5173"))).toMatchObject({ status: 401 });
    expect(await rig.ask("OPTIONS", "/v1/sessions", { tcp: true, token: "" })).toMatchObject({ status: 401 });
  });
});

describe("a stream", () => {
  test("whose client never reads costs nothing more and stops nobody; it is told of the gap and can get what it missed", async () => {
    const rig = await createHttpRig([]);
    await rig.shakeHands();
    const other = await rig.read(rig.path("/events"));
    const slow = await rig.raw();
    slow.pause();
    slow.write(`GET ${rig.path("/events")} HTTP/1.1\r\nhost: localhost\r\nx-harness-token: human\r\n\r\n`);
    let attached = 0;
    while (attached < 3) attached = (await rig.ask("GET", rig.path())).json.attached;
    const payload = "x".repeat(32 * 1024);
    const count = 300;
    for (let n = 1; n <= count; n++) {
      await rig.publish("CustomEvent", { namespace: "load", kind: String(n), payload });
      await other.until((event) => event.kind === "CustomEvent" && event.payload.kind === String(n));
    }
    await rig.publish("CustomEvent", { namespace: "load", kind: "last", payload: "" });
    await other.until((event) => event.kind === "CustomEvent" && event.payload.kind === "last");
    let text = "";
    let look = (): void => undefined;
    slow.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      look();
    });
    const shows = (wanted: string) =>
      new Promise<void>((resolve) => {
        look = () => (text.includes(wanted) ? resolve() : undefined);
        look();
      });
    slow.resume();
    await shows("event: StreamGap");
    await rig.publish("CustomEvent", { namespace: "load", kind: "after", payload: "" });
    await shows('"kind":"after"');
    // What the kernel and the connection held, and the outbox: far less than was published.
    expect(text.length).toBeLessThan(4 * 1024 * 1024);
    const gap = /event: StreamGap\ndata: (.*)\n/.exec(text)?.[1];
    if (gap === undefined) throw new Error("no gap was told");
    const { from, to } = (JSON.parse(gap) as { payload: { from: number; to: number } }).payload;
    const before = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    expect(before).toContain(from - 1);
    expect(before).toContain(to + 1);
    const missed = await rig.read(rig.path("/events"), { headers: { "last-event-id": String(from - 1) } });
    await missed.until((event) => event.id > to);
    expect(missed.events.slice(0, to - from + 1).map(({ id }) => id)).toEqual(
      Array.from({ length: to - from + 1 }, (_, index) => from + index),
    );
  });

  test("that takes nothing for some heartbeats is cut, one that lives is not, and one without a token ends", async () => {
    const serverClock = createManualClock();
    const rig = await createHttpRig([], { serverClock, limits: { heartbeatMs: 1000 } });
    await rig.shakeHands();
    rig.tokens.set("brief", { jti: "tok_brief", identity_class: "human" });
    await rig.shakeHands("brief");
    const alive = await rig.read(rig.path("/events"));
    const brief = await rig.read(rig.path("/events"), { token: "brief" });
    const half = await rig.openSocket("/v1/ws");
    half.socket.pause();
    const stalled = await rig.raw();
    stalled.pause();
    stalled.write(`GET ${rig.path("/events")} HTTP/1.1\r\nhost: localhost\r\nx-harness-token: human\r\n\r\n`);
    let open = 0;
    while (open < 4) open = (await rig.ask("GET", "/v1/health")).json.http.streams;
    for (let n = 0; n < 30; n++) {
      const marker = String(n);
      await rig.publish("CustomEvent", { namespace: "load", kind: marker, payload: "x".repeat(32 * 1024) });
      await alive.until((event) => event.kind === "CustomEvent" && event.payload.kind === marker);
    }
    await serverClock.advance(1000);
    rig.tokens.delete("brief");
    for (let beat = 0; beat < 4; beat++) await serverClock.advance(1000);
    await brief.ended;
    expect(brief.frames.at(-1)).toMatchObject({ event: "error", data: expect.stringContaining("TokenInvalid") });
    let streams = 4;
    while (streams > 1) streams = (await rig.ask("GET", "/v1/health")).json.http.streams;
    await rig.publish("CustomEvent", { namespace: "n", kind: "k", payload: 1 });
    await alive.until((event) => event.kind === "CustomEvent" && event.payload.kind === "k");
    expect(alive.comments).toContain("heartbeat");
  });

  test("too many of them are refused, others go on", async () => {
    const rig = await createHttpRig([says("hi")], { limits: { streams: 2 } });
    await rig.shakeHands();
    const first = await rig.read(rig.path("/events"));
    await rig.openSocket("/v1/ws");
    expect(await rig.ask("GET", rig.path("/events"))).toMatchObject({ status: 503 });
    await expect(rig.openSocket("/v1/ws")).rejects.toThrow("503");
    await rig.send("hello");
    await first.until(isKind("TurnEnded"));
  });
});

test("a thousand connections that say nothing keep nobody out", async () => {
  const rig = await createHttpRig([]);
  const idle: Socket[] = [];
  for (let group = 0; group < 10; group++) {
    idle.push(...(await Promise.all(Array.from({ length: 100 }, () => rig.raw()))));
  }
  await worksForOthers(rig);
  for (const socket of idle) socket.destroy();
});
