/** A client that attaches to a long session: what is read before its first event, at its own pace, and while the session opens. */
import { type IncomingMessage, request } from "node:http";
import { connect as connectSocket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import { describe, expect, onTestFinished, test } from "vitest";
import WebSocket from "ws";
import { type Event, ReasonError } from "#protocol";
import { createSystemClock, createSystemRandom } from "#world";
import { createClient } from "../src/client/client.ts";
import { DEFAULT_RECONNECT } from "../src/client/retry.ts";
import { createRpcTransport } from "../src/client/rpc-transport.ts";
import { REPLAY_PAGE_EVENTS } from "../src/control/subscription.ts";
import { areInOrder, createLongLogRig, LONG_SESSION } from "./fakes/long-log-rig.ts";

const EVENTS = 20_000;
/** The check of the cursor, and events of an opened session. */
const FEW = 10;
const headers = { host: "localhost", "x-harness-token": "any" };

interface Stream {
  readonly events: Event[];
  readonly errors: string[];
  readonly response: IncomingMessage;
  until(count: number): Promise<void>;
}

async function ask(socketPath: string, path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path, headers, agent: false }, resolve).on("error", reject).end();
  });
}

async function readSse(socketPath: string, since: number, isPaused = false): Promise<Stream> {
  (await ask(socketPath, "/v1/handshake")).resume();
  const response = await ask(socketPath, `/v1/sessions/${LONG_SESSION}/events?since=${since}`);
  onTestFinished(() => void response.destroy());
  const events: Event[] = [];
  const errors: string[] = [];
  let wake = (): void => undefined;
  const parser = createParser({
    onEvent({ event, data }) {
      if (event === "error") errors.push(data);
      else events.push(JSON.parse(data) as Event);
      wake();
    },
  });
  if (!isPaused) response.setEncoding("utf8").on("data", (chunk: string) => parser.feed(chunk));
  response.on("close", () => wake());
  response.on("error", () => undefined);
  return {
    events,
    errors,
    response,
    async until(count) {
      response.setEncoding("utf8").on("data", (chunk: string) => isPaused && parser.feed(chunk));
      while (events.length < count && errors.length === 0 && !response.destroyed) {
        await new Promise<void>((resume) => {
          wake = resume;
        });
      }
    },
  };
}

async function readSocket(socketPath: string, since: number) {
  const socket = new WebSocket(`ws+unix:${socketPath}:/v1/ws?session=${LONG_SESSION}&lastEventId=${since}`, {
    headers,
  });
  onTestFinished(() => socket.terminate());
  const events: Event[] = [];
  let wake = (): void => undefined;
  socket.on("open", () => socket.send('{"frame":"handshake","body":{}}'));
  socket.on("error", () => undefined);
  socket.on("message", (data: Buffer) => {
    const { frame, body } = JSON.parse(data.toString()) as { frame: string; body: Event };
    if (frame === "event") events.push(body);
    wake();
  });
  return {
    socket,
    events,
    async until(count: number) {
      while (events.length < count) {
        await new Promise<void>((resume) => {
          wake = resume;
        });
      }
    },
  };
}

describe.each(["sqlite", "jsonl"] as const)("a session of 20,000 events in the %s store", (store) => {
  test.each([0, 10, 10_000, 19_990])("the first event after %d costs one page, over both wires", async (since) => {
    const { socketPath, counted, control } = await createLongLogRig({ store, events: EVENTS });
    await control.prepare(LONG_SESSION);
    counted.rows = 0;
    const stream = await readSse(socketPath, since);
    await stream.until(1);
    expect(stream.events[0]?.id).toBe(since + 1);
    expect(counted.rowsAtFirst).toBeLessThanOrEqual(REPLAY_PAGE_EVENTS + FEW);
    stream.response.destroy();
    counted.rowsAtFirst = undefined;
    const before = counted.rows;
    const { events, until, socket } = await readSocket(socketPath, since);
    await until(1);
    socket.terminate();
    expect(events[0]?.id).toBe(since + 1);
    expect((counted.rowsAtFirst ?? 0) - before).toBeLessThanOrEqual(2 * REPLAY_PAGE_EVENTS + FEW);
  });

  test("a whole catch-up comes in order, in bounded pages, and others get their turn in between", async () => {
    const { socketPath, counted } = await createLongLogRig({ store, events: EVENTS });
    const stream = await readSse(socketPath, 0);
    let most = 0;
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        const rows = counted.rows;
        await nextTurn();
        most = Math.max(most, counted.rows - rows);
      }
    })();
    await stream.until(EVENTS);
    isOver = true;
    await watching;
    expect(areInOrder(stream.events, 1)).toBe(true);
    expect(counted.largestPage).toBe(REPLAY_PAGE_EVENTS);
    expect(most).toBeLessThanOrEqual(2 * REPLAY_PAGE_EVENTS);
  });

  test("a client that does not read holds up the reading, and gets everything when it goes on", async () => {
    const { socketPath, counted, settled } = await createLongLogRig({ store, events: 2000, chars: 8000 });
    const stream = await readSse(socketPath, 0, true);
    await settled();
    // Buffers of both ends of the socket and one page; all of it would be 16 MB.
    expect(counted.rows * 8000).toBeLessThan(4 * 1024 * 1024);
    expect(counted.largestPage).toBeLessThan(REPLAY_PAGE_EVENTS);
    await stream.until(2000);
    expect(areInOrder(stream.events.slice(0, 2000), 1)).toBe(true);
  });

  test("a client that goes away ends the reading", async () => {
    const { socketPath, counted, settled } = await createLongLogRig({ store, events: EVENTS, chars: 1000 });
    const stream = await readSse(socketPath, 0);
    await stream.until(100);
    stream.response.destroy();
    const { until, socket } = await readSocket(socketPath, 0);
    await until(100);
    socket.terminate();
    await settled();
    expect(counted.rows).toBeLessThan(EVENTS / 2);
  });

  test("the log is told while the session opens, and what happens after it follows", async () => {
    const gate = Promise.withResolvers<void>();
    const { socketPath, control } = await createLongLogRig({ store, events: 1000, whileOpening: () => gate.promise });
    const stream = await readSse(socketPath, 990);
    const socket = await readSocket(socketPath, 995);
    await stream.until(10);
    await socket.until(5);
    expect(control.session(LONG_SESSION)).toBeUndefined();
    expect(stream.events.at(-1)?.id).toBe(1000);
    gate.resolve();
    await control.connect({ identityClass: "human", interactive: false }).submit({
      kind: "CreateSession",
      resume: LONG_SESSION,
    });
    await control.session(LONG_SESSION)?.bus.publish("CustomEvent", { namespace: "t", kind: "live", payload: 1 });
    await stream.until(11);
    await socket.until(6);
    expect(areInOrder(stream.events, 991)).toBe(true);
    expect(areInOrder(socket.events, 996)).toBe(true);
  });

  test("a session that fails to open after its log was told says so on the stream", async () => {
    const gate = Promise.withResolvers<void>();
    const { socketPath } = await createLongLogRig({ store, events: 100, whileOpening: () => gate.promise });
    const stream = await readSse(socketPath, 90);
    await stream.until(10);
    gate.reject(new ReasonError("LogCorrupt", { path: "events", detail: "line 7 is gone." }));
    await stream.until(Number.POSITIVE_INFINITY);
    expect(stream.errors).toEqual([expect.stringContaining("LogCorrupt")]);
  });

  test("the client library reads one page before its first event over JSON-RPC", async () => {
    const { rpcPath, counted } = await createLongLogRig({ store, events: EVENTS });
    const clock = createSystemClock();
    const transport = createRpcTransport({
      address: rpcPath,
      start(onEnd) {
        const socket = connectSocket(rpcPath).on("close", onEnd);
        return { stdin: socket, stdout: socket, errors: () => "", kill: () => socket.destroy() };
      },
      clock,
    });
    const { signal } = new AbortController();
    const client = await createClient({
      ...{ transport, clock, random: createSystemRandom(), reconnect: DEFAULT_RECONNECT, signal },
    });
    for await (const { id } of client.session(LONG_SESSION).events({ since: 10_000 })) {
      expect(id).toBe(10_001);
      break;
    }
    expect(counted.rows).toBeLessThanOrEqual(501);
    expect(counted.largestPage).toBe(REPLAY_PAGE_EVENTS);
    await client.close();
  });
});
