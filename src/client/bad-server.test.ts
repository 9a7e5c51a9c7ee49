/** Servers that misbehave, on real sockets: silent ones, newer ones, ones that talk nonsense. */
import { describe, expect, test } from "vitest";
import { buildHandshake } from "#protocol/schemas";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { serveWebSockets, startScriptedServer } from "../../test/fakes/scripted-server.ts";
import { connect } from "./connect.ts";
import { ANSWER_MAX_MS } from "./http-wire.ts";
import { SessionId } from "./index.ts";
import { SILENCE_MAX_MS } from "./silence.ts";

const session = SessionId.from("0".repeat(26));
const event = (id: number, more: object = {}): string =>
  JSON.stringify({ id, kind: "CustomEvent", session, ts: "2026-01-01T00:00:00.000Z", payload: {}, ...more });

describe("a server", () => {
  test("that accepts and never answers is given up after a while", async () => {
    const clock = createManualClock();
    const asked = Promise.withResolvers<void>();
    const { socket } = await startScriptedServer(() => asked.resolve(), false);
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
    const { socket } = await startScriptedServer((request, response) => {
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
    const { socket } = await startScriptedServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`: a comment\nid: 1\nevent: Foreseen\nretry: 10\nx: y\ndata: ${later}\n\n`);
    });
    const client = await connect({ socket, token: "t" });
    const events = client.session(session).events({ since: 0 });
    expect((await events.next()).value).toEqual(JSON.parse(later));
    await client.close();
  });

  test("that refuses for a reason of its own keeps it in the message", async () => {
    const { socket } = await startScriptedServer((_request, response) => {
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
    const { socket, server } = await startScriptedServer((_request, response) => {
      streams += 1;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${data}\n\n`);
    });
    serveWebSockets(server, (webSocket) => {
      streams += 1;
      webSocket.send(`{"frame":"event","body":${data}}`);
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
    const { socket } = await startScriptedServer((_request, response) => {
      response.end(JSON.stringify({ ...buildHandshake([]), protocol_version: "2.0.0" }));
    }, false);
    await expect(connect({ socket, token: "t" })).rejects.toMatchObject({ reason: "HandshakeVersionMismatch" });
  });
});
