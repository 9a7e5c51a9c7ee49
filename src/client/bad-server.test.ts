/** Servers that misbehave, on real sockets: silent ones, newer ones, ones that talk nonsense. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { buildHandshake } from "#protocol/schemas";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { connect } from "./connect.ts";
import { ANSWER_MAX_MS } from "./http-wire.ts";
import { SessionId } from "./index.ts";
import { SILENCE_MAX_MS } from "./silence.ts";

const session = SessionId.from("0".repeat(26));
const event = (id: number, more: object = {}): string =>
  JSON.stringify({ id, kind: "CustomEvent", session, ts: "2026-01-01T00:00:00.000Z", payload: {}, ...more });

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Shakes hands and leaves the rest to the test. */
async function startServer(handle: Handle, isGreeting = true) {
  const folder = mkdtempSync(join(tmpdir(), "harness-bad-"));
  const socket = join(folder, "c.sock");
  const server = createServer((request, response) => {
    if (isGreeting && request.url?.startsWith("/v1/handshake")) response.end(JSON.stringify(buildHandshake(["rest"])));
    else handle(request, response);
  });
  await new Promise<void>((resolve) => void server.listen(socket, resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
    rmSync(folder, { recursive: true, force: true });
  });
  return { socket, server };
}

describe("a server", () => {
  test("that accepts and never answers is given up after a while", async () => {
    const clock = createManualClock();
    const asked = Promise.withResolvers<void>();
    const { socket } = await startServer(() => asked.resolve(), false);
    const connecting = connect({ socket, token: "t" }, { clock });
    connecting.catch(() => undefined);
    await asked.promise;
    await clock.advance(ANSWER_MAX_MS);
    await expect(connecting).rejects.toMatchObject({
      reason: "ConnectionLost",
      message: expect.stringContaining("no answer within 60 seconds"),
    });
  });

  test("whose stream falls silent, without a heartbeat, is asked again from the last event", async () => {
    const clock = createManualClock();
    const since: unknown[] = [];
    const { socket } = await startServer((request, response) => {
      const last = Number(request.headers["last-event-id"]);
      since.push(last);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`id: ${last + 1}\ndata: ${event(last + 1)}\n\n`);
    });
    const client = await connect({ socket, token: "t" }, { clock });
    const events = client.session(session).events({ since: 0 });
    expect((await events.next()).value).toMatchObject({ id: 1 });
    let hasCome = false;
    const next = events.next().finally(() => {
      hasCome = true;
    });
    await clock.advance(SILENCE_MAX_MS - 1);
    expect(since).toEqual([0]);
    while (!hasCome) await clock.advance(1000);
    expect((await next).value).toMatchObject({ id: 2 });
    expect(since.slice(0, 2)).toEqual([0, 1]);
    await client.close();
  });

  test("that is newer than the client says more, and it passes as it is", async () => {
    const later = event(1, { kind: "Foreseen", payload: [1, 2], x_seen: true });
    const { socket } = await startServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`: a comment\nid: 1\nevent: Foreseen\nretry: 10\nx: y\ndata: ${later}\n\n`);
    });
    const client = await connect({ socket, token: "t" });
    const events = client.session(session).events({ since: 0 });
    expect((await events.next()).value).toEqual(JSON.parse(later));
    await client.close();
  });

  test("that refuses for a reason of its own keeps it in the message", async () => {
    const { socket } = await startServer((_request, response) => {
      response.writeHead(418).end(JSON.stringify({ error: { reason: "Teapot", message: "short and stout" } }));
    });
    const client = await connect({ socket, token: "t" });
    await expect(client.sessions()).rejects.toMatchObject({
      reason: "ServerRefused",
      message: expect.stringContaining("Teapot: short and stout"),
    });
    await client.close();
  });

  test.each([
    ["no JSON", "nonsense"],
    ["no envelope", '{"kind":"CustomEvent"}'],
    ["an id that is no number", event(1).replace('"id":1', '"id":"1"')],
    ["no session", event(1, { session: "sess_x" })],
  ])("that sends %s is not asked again and again", async (_name, data) => {
    let streams = 0;
    const { socket, server } = await startServer((_request, response) => {
      streams += 1;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${data}\n\n`);
    });
    const sockets = new WebSocketServer({ server, path: "/v1/ws" });
    onTestFinished(() => sockets.close());
    sockets.on("connection", (webSocket, { url = "" }) => {
      webSocket.once("message", (text: Buffer) => {
        const { id } = JSON.parse(text.toString()) as { id: number };
        webSocket.send(JSON.stringify({ frame: "handshake", id, body: buildHandshake(["ws"]) }));
        if (!url.includes("session=")) return;
        streams += 1;
        webSocket.send(`{"frame":"event","body":${data}}`);
      });
    });
    for (const wire of ["sse", "ws"] as const) {
      const client = await connect({ socket, token: "t", wire });
      const reading = client.session(session).events({ since: 0 }).next();
      await expect(reading).rejects.toMatchObject({ reason: "ServerGarbled" });
      await client.close();
    }
    expect(streams).toBe(2);
  });

  test("on another machine gets no token over plain HTTP", async () => {
    for (const url of ["http://192.0.2.1:8080", "http://example.com", "ftp://localhost", "nowhere"]) {
      await expect(connect({ url, token: "t" })).rejects.toMatchObject({ reason: "UsageInvalid" });
      await expect(connect({ url, token: "t", wire: "ws" })).rejects.toMatchObject({ reason: "UsageInvalid" });
    }
  });

  test("that is not understood is refused by the client where it does not refuse itself", async () => {
    const { socket } = await startServer((_request, response) => {
      response.end(JSON.stringify({ ...buildHandshake([]), protocol_version: "2.0.0" }));
    }, false);
    await expect(connect({ socket, token: "t" })).rejects.toMatchObject({ reason: "HandshakeVersionMismatch" });
  });
});
