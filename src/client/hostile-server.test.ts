/** Servers that mean harm, on real sockets: what they can make a client do, keep or give away. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { serveWebSockets, startScriptedServer } from "../../test/fakes/scripted-server.ts";
import { connect } from "./connect.ts";
import { SessionId } from "./index.ts";
import { SILENCE_MAX_MS } from "./silence.ts";

const session = SessionId.from("0".repeat(26));
const event = (id: number, more: object = {}): string =>
  JSON.stringify({ id, kind: "CustomEvent", session, ts: "2026-01-01T00:00:00.000Z", payload: {}, ...more });
const gap = (payload: object): string => event(0, { kind: "StreamGap", payload });

/** Counts what reaches a place that nobody was sent to. */
async function startElsewhere(): Promise<{ readonly url: string; readonly seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(JSON.stringify(request.headers));
    response.end("{}");
  });
  server.on("upgrade", (request, socket) => {
    seen.push(JSON.stringify(request.headers));
    socket.destroy();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

describe("a server", () => {
  test.each([301, 302, 307, 308])("that sends elsewhere with %i takes nobody there, and no token", async (status) => {
    const elsewhere = await startElsewhere();
    const { socket, server } = await startScriptedServer(({ url }, response) => {
      response.writeHead(status, { location: `${elsewhere.url}${url}` }).end();
    });
    server.on("upgrade", ({ url }, connection) => {
      connection.end(`HTTP/1.1 ${status} Elsewhere\r\nlocation: ${elsewhere.url.replace("http", "ws")}${url}\r\n\r\n`);
    });
    const refused = { reason: "ServerRefused", message: expect.stringContaining(`HTTP ${status}`) };
    const client = await connect({ socket, token: "t" });
    await expect(client.sessions()).rejects.toMatchObject(refused);
    await expect(client.open()).rejects.toMatchObject(refused);
    await expect(client.session(session).events({ since: 0 }).next()).rejects.toMatchObject(refused);
    await client.close();
    await expect(connect({ socket, token: "t", wire: "ws" })).rejects.toMatchObject(refused);
    expect(elsewhere.seen).toEqual([]);
  });

  test("that has nothing but holes is asked again with pauses, and given up", async () => {
    let streams = 0;
    const { socket } = await startScriptedServer((_request, response) => {
      streams += 1;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${gap({ from: 1, to: 1, reason: "overflow" })}\n\n`);
    });
    const reconnect = { attempts: 5, firstDelayMs: 1, maxDelayMs: 10 };
    const client = await connect({ socket, token: "t" }, { reconnect });
    const reading = client.session(session).events({ since: 0 }).next();
    await expect(reading).rejects.toMatchObject({ reason: "ConnectionLost" });
    // The first hole is asked for at once.
    expect(streams).toBe(reconnect.attempts + 2);
    await client.close();
  });

  test.each([
    ["no end", { reason: "ttl", from: 1 }],
    ["an end that is no number", { reason: "ttl", from: 1, to: "9" }],
    ["no payload", null],
  ])("that tells of a gap with %s is not believed", async (_name, payload) => {
    const { socket } = await startScriptedServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${event(0, { kind: "StreamGap", payload })}\n\n`);
    });
    const client = await connect({ socket, token: "t" });
    const reading = client.session(session).events({ since: 0 }).next();
    await expect(reading).rejects.toMatchObject({ reason: "ServerGarbled" });
    await client.close();
  });

  test("whose log begins again on every page is not read for ever", async () => {
    const { socket } = await startScriptedServer((_request, response) => {
      response.end(`{"events":[${event(1)},${event(2)}]}`);
    });
    const client = await connect({ socket, token: "t" });
    const ids: number[] = [];
    const reading = (async () => {
      for await (const { id } of client.session(session).log()) ids.push(id);
    })();
    await expect(reading).rejects.toMatchObject({ reason: "ServerGarbled" });
    expect(ids).toEqual([1, 2]);
    await client.close();
  });

  test("that begins an answer and never ends it is given up after a while", async () => {
    const clock = createManualClock();
    const begun = Promise.withResolvers<void>();
    const { socket } = await startScriptedServer((_request, response) => {
      response.writeHead(200).write('{"sessions":');
      begun.resolve();
    });
    const client = await connect({ socket, token: "t" }, { clock, reconnect: { attempts: 0 } });
    const asking = client.sessions();
    asking.catch(() => undefined);
    await begun.promise;
    // What has begun is read by the time that nothing else happens.
    for (let turn = 0; turn < 100; turn++) await clock.advance(0);
    await clock.advance(SILENCE_MAX_MS);
    await expect(asking).rejects.toMatchObject({
      reason: "ConnectionLost",
      message: expect.stringContaining("nothing came for 90 seconds"),
    });
    await client.close();
  });

  test("whose line never ends is cut off at a bound", async () => {
    const { socket } = await startScriptedServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const flood = (): void => {
        if (!response.destroyed && response.write(`data: ${"x".repeat(1 << 20)}\n`)) setImmediate(flood);
        else response.once("drain", flood);
      };
      flood();
    });
    const client = await connect({ socket, token: "t" });
    const reading = client.session(session).events({ since: 0 }).next();
    await expect(reading).rejects.toMatchObject({ reason: "ServerGarbled" });
    await client.close();
  });

  test("that sends large events faster than they are taken is asked for them again", async () => {
    const { socket, server } = await startScriptedServer((_request, response) => void response.end("{}"));
    const filler = "x".repeat(4 << 20);
    const count = 40;
    let streams = 0;
    const flooded = Promise.withResolvers<void>();
    serveWebSockets(server, (webSocket) => {
      streams += 1;
      const first = streams === 1 ? 1 : 2;
      for (let id = first; id < first + count; id++) {
        webSocket.send(`{"frame":"event","body":${event(id, { payload: { filler } })}}`);
      }
      webSocket.ping(() => flooded.resolve());
    });
    const client = await connect({ socket, token: "t", wire: "ws" });
    const events = client.session(session).events({ since: 0 });
    expect((await events.next()).value).toMatchObject({ id: 1 });
    await flooded.promise;
    expect(streams).toBe(1);
    let last = 1;
    while (streams === 1) {
      const { value } = await events.next();
      expect(value).toMatchObject({ id: last + 1 });
      last += 1;
    }
    // Less than all of it was kept.
    expect(last).toBeLessThan(count);
    await client.close();
  });
});
