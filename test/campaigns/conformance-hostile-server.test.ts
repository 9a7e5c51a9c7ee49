/** Servers that mean harm to whoever tries them: each try ends, with a reason, and nothing is kept without bound. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSystemClock } from "#world";
import type { Connection, Feed } from "../../src/conformance/driver.ts";
import { httpTarget } from "../../src/conformance/http-target.ts";
import { rpcTarget } from "../../src/conformance/rpc-target.ts";
import { type Handle, serveWebSockets, startScriptedServer } from "../fakes/scripted-server.ts";
import { createTemporaryWorkspace } from "../fakes/temporary-workspace.ts";

const session = "sess_00000000000000000000000000";
const clock = createSystemClock();
/** Nothing here waits that long, unless nothing comes. */
const WAIT_MS = 60_000;
const SHORT_MS = 400;
const MEGABYTE = "x".repeat(1 << 20);

async function tryServer(wire: "rest" | "ws" | "plain", handle: Handle, waitMs = WAIT_MS) {
  const { socket, server } = await startScriptedServer(handle);
  const place = { kind: "unix", path: socket } as const;
  const target = httpTarget(wire, { place, clock, waitMs, tokens: { human: "t" } });
  return { server, connect: () => target.connect() };
}

function tryProgram(script: string): Promise<Connection> {
  const workspace = createTemporaryWorkspace();
  const file = join(workspace.root, "server.mjs");
  writeFileSync(file, script);
  return rpcTarget({ command: process.execPath, args: [file], clock, waitMs: WAIT_MS }).connect();
}

/** Writes without end, as fast as it is taken. */
function flood(response: Parameters<Handle>[1], text: string): void {
  if (response.destroyed) return;
  if (response.write(text)) setImmediate(() => flood(response, text));
  else response.once("drain", () => flood(response, text));
}

/** Why the stream ended, which a flood may take several waits to come to. */
async function untilLeft(feed: Feed, bound: RegExp): Promise<void> {
  let why = "";
  while (!bound.test(why)) {
    why = await feed.until(() => false, "the end").then(String, String);
  }
  expect(why).toContain("the end did not arrive");
}

describe("over HTTP", () => {
  test("a stream of nonsense is the end of the stream, not of the program", async () => {
    const { connect } = await tryServer("rest", (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: nonsense\n\n");
    });
    const feed = await (await connect()).watch(session, 0);
    await expect(feed.until(() => false, "an event")).rejects.toThrow(/an event did not arrive: .*JSON/);
  });

  test.each([
    ["a line without an end", MEGABYTE],
    ["an event without an end", `data: ${MEGABYTE}\n`],
    ["events without an end", `data: {"id":1,"filler":"${MEGABYTE}"}\n\n`],
  ])("a stream with %s is left at a bound", async (_name, text) => {
    const { connect } = await tryServer("rest", (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      flood(response, text);
    });
    const feed = await (await connect()).watch(session, 0);
    await untilLeft(feed, /more than|longer than|exceeded/);
  });

  test("a log whose pages never end is not read for ever", async () => {
    for (const page of [[], [{ id: 1 }]]) {
      const { connect } = await tryServer("rest", ({ url = "" }, response) => {
        const after = Number(/after=(\d+)/.exec(url)?.[1]);
        response.end(JSON.stringify({ events: page, next: after + 1 }));
      });
      await expect((await connect()).log(session)).rejects.toThrow(/does not advance/);
    }
  });

  test("an answer that comes byte by byte is not waited for without end", async () => {
    const dripping: Handle = (_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(" "), SHORT_MS / 8);
      response.on("close", () => clearInterval(drip));
    };
    const { connect } = await tryServer("rest", dripping, SHORT_MS);
    await expect((await connect()).log(session)).rejects.toThrow(/is incomplete/);
  });

  test("a refused web socket with an endless answer is left at a bound", async () => {
    const { server, connect } = await tryServer("ws", (_request, response) => void response.end());
    server.on("upgrade", (_request, socket) => {
      socket.write("HTTP/1.1 403 No\r\n\r\n");
      const more = (): void => {
        if (!socket.destroyed) socket.write(MEGABYTE, () => setImmediate(more));
      };
      socket.on("error", () => undefined);
      more();
    });
    await expect(connect()).rejects.toThrow();
  });

  test("frames without end are left at a bound", async () => {
    const { server, connect } = await tryServer("ws", (_request, response) => void response.end());
    serveWebSockets(server, (webSocket) => {
      const more = (): void => {
        if (webSocket.readyState !== webSocket.OPEN) return;
        webSocket.send(`{"frame":"event","body":{"id":1,"filler":"${MEGABYTE}"}}`, () => setImmediate(more));
      };
      webSocket.on("message", (text: Buffer) => {
        const { id } = JSON.parse(text.toString()) as { id: unknown };
        webSocket.send(JSON.stringify({ frame: "command", id, body: {} }), more);
      });
    });
    const feed = await (await connect()).watch(session, 0);
    await untilLeft(feed, /more than/);
  });
});

describe("on pipes", () => {
  test("a line without an end is left at a bound", async () => {
    const connection = await tryProgram(`
      const more = () => process.stdout.write("x".repeat(1 << 20), more);
      process.stdin.resume();
      more();`);
    let why = "";
    while (!why.includes("longer than")) why = String(await connection.handshake().catch((error: unknown) => error));
    await connection.close();
  });

  test("a history whose pages never end is not read for ever", async () => {
    const connection = await tryProgram(`
      import { createInterface } from "node:readline";
      let last = 0;
      for await (const line of createInterface({ input: process.stdin })) {
        const { id } = JSON.parse(line);
        last += 1;
        console.log(JSON.stringify({ jsonrpc: "2.0", id, result: { events: [{ id: 0 }, { id: last }], more: true } }));
      }`);
    await expect(connection.log(session)).rejects.toThrow(/does not advance/);
    await connection.close();
  });
});
