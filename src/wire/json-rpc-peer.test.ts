/** Two peers on two streams, and one peer against lines that are written by hand. */
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { JsonRpcError, standardError } from "./json-rpc-message.ts";
import { createJsonRpcPeer, type JsonRpcPeer, type JsonRpcPeerOptions, type PeerRequest } from "./json-rpc-peer.ts";

const limits = { lineBytes: 1000, pending: 3, inFlight: 2, inFlightBytes: 10_000, batch: 0 };
const cancellation = { method: "notifications/cancelled", param: "requestId", isReplied: false };
const never = (): Promise<never> => new Promise(() => undefined);
const settle = (): Promise<void> => new Promise((resume) => void setImmediate(resume));

/** A peer whose other side is the test: `lines` is what it said. */
function alone(options: Partial<JsonRpcPeerOptions> = {}) {
  const lines: unknown[] = [];
  const ignored: string[] = [];
  const input = new PassThrough();
  const clock = createManualClock();
  const peer = createJsonRpcPeer({
    send(line) {
      expect(line.indexOf("\n")).toBe(line.length - 1);
      lines.push(JSON.parse(line));
    },
    handle: ({ method }) => `did ${method}`,
    onIgnored: (what) => ignored.push(what),
    whenFull: "wait",
    clock,
    limits,
    ...options,
  });
  const read = peer.read(input);
  read.catch(() => undefined);
  onTestFinished(() => void input.end());
  const say = async (...messages: unknown[]): Promise<void> => {
    for (const message of messages) {
      input.write(
        `${typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...Object(message) })}\n`,
      );
    }
    await settle();
  };
  return { peer, input, lines, ignored, clock, read, say };
}

/** Two peers that speak with each other. */
function pair(left: JsonRpcPeerOptions["handle"], right: JsonRpcPeerOptions["handle"]): [JsonRpcPeer, JsonRpcPeer] {
  const [toLeft, toRight] = [new PassThrough(), new PassThrough()];
  const common = { whenFull: "refuse", clock: createManualClock(), limits, cancellation } as const;
  const peers: [JsonRpcPeer, JsonRpcPeer] = [
    createJsonRpcPeer({ ...common, send: (line) => void toRight.write(line), handle: left }),
    createJsonRpcPeer({ ...common, send: (line) => void toLeft.write(line), handle: right }),
  ];
  void peers[0].read(toLeft);
  void peers[1].read(toRight);
  onTestFinished(() => void [toLeft, toRight].map((stream) => stream.end()));
  return peers;
}

describe("two peers", () => {
  test("ask each other, also while a request of the other is being carried out", async () => {
    const [left, right] = pair(
      async ({ params }) => ({ doubled: (params as { n: number }).n * 2 }),
      async () => right.request("double", { n: 21 }),
    );
    expect(await left.request("ask back", {})).toEqual({ doubled: 42 });
  });

  test("keep a refusal as it is, and tell nothing of an error that is no refusal", async () => {
    const [left] = pair(
      () => undefined,
      ({ method }) => {
        if (method === "refuse") throw new JsonRpcError(-32001, "no", { reason: "Because" });
        throw new Error("a detail");
      },
    );
    await expect(left.request("refuse", {})).rejects.toMatchObject({ code: -32001, data: { reason: "Because" } });
    await expect(left.request("break", {})).rejects.toMatchObject({
      code: -32603,
      message: expect.not.stringContaining("detail"),
    });
  });

  test("withdraw a request: the other side is told, and its late reply is no trouble", async () => {
    const seen = Promise.withResolvers<unknown>();
    const [left] = pair(
      () => undefined,
      ({ signal }) => {
        signal.addEventListener("abort", () => seen.resolve(signal.reason));
        return never();
      },
    );
    const stop = new AbortController();
    const asked = left.request("wait", {}, { signal: stop.signal });
    await settle();
    stop.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
    expect(await seen.promise).toMatchObject({ problem: "withdrawn" });
  });
});

describe("what comes in", () => {
  test("is carried out in its order; a notification has no reply", async () => {
    const { say, lines } = alone();
    await say({ id: 1, method: "a" }, { method: "b" }, { id: "two", method: "c", params: [1] });
    expect(lines).toEqual([
      { jsonrpc: "2.0", id: 1, result: "did a" },
      { jsonrpc: "2.0", id: "two", result: "did c" },
    ]);
  });

  test.each([
    ["no JSON", "{", -32700, null],
    ["a text", '"x"', -32600, null],
    ["another version", '{"id":7,"method":"a"}', -32600, 7],
    ["no method", '{"jsonrpc":"2.0","id":7}', -32600, 7],
    ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"a"}', -32600, null],
    ["parameters that are a number", '{"jsonrpc":"2.0","id":7,"method":"a","params":1}', -32600, 7],
    ["a batch", '[{"jsonrpc":"2.0","id":7,"method":"a"}]', -32600, null],
    ["a line that is too long", "x".repeat(1001), -32600, null],
  ])("is refused when it is %s, and the next line is read", async (_name, line, code, id) => {
    const { say, lines } = alone();
    await say(line, "", { id: 8, method: "a" });
    expect(lines).toMatchObject([
      { id, error: { code } },
      { id: 8, result: "did a" },
    ]);
  });

  test("is refused when it is a reply to one who asks nothing", async () => {
    const { say, lines } = alone({ limits: { ...limits, pending: 0 } });
    await say({ id: 7, result: {} });
    expect(lines).toMatchObject([{ id: 7, error: { code: -32600 } }]);
  });

  test("ends the reading where it is not to be answered", async () => {
    const { say, read, lines } = alone({
      onMalformed(error) {
        throw error;
      },
    });
    await say("{");
    await expect(read).rejects.toMatchObject({ code: -32700 });
    expect(lines).toEqual([]);
  });

  test("may be a batch where batches are spoken: one line of replies, none for notifications", async () => {
    const after: string[] = [];
    const { say, lines } = alone({
      limits: { ...limits, batch: 3 },
      handle({ method, isInBatch, afterReply }) {
        afterReply(() => after.push(`${method} ${isInBatch} ${lines.length}`));
        return method;
      },
    });
    await say('[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},3]', "[]", "[1,2,3,4]");
    expect(lines).toMatchObject([
      [
        { id: 1, result: "a" },
        { id: null, error: { code: -32600 } },
      ],
      { id: null, error: { message: "The batch is empty." } },
      { id: null, error: { message: "A batch can have at most 3 requests." } },
    ]);
    expect(after).toEqual(["b true 0", "a true 1"]);
  });

  test("waits for whoever is full, in its order", async () => {
    let room = Promise.withResolvers<void>();
    let isFull = true;
    const begun: string[] = [];
    const { say, input } = alone({
      ready: () => (isFull ? room.promise : undefined),
      handle: ({ method }) => void begun.push(method),
    });
    await say({ method: "a" }, { method: "b" });
    expect(begun).toEqual([]);
    isFull = false;
    room.resolve();
    room = Promise.withResolvers();
    input.write('{"jsonrpc":"2.0","method":"c"}\n');
    await settle();
    expect(begun).toEqual(["a", "b", "c"]);
  });

  test("is not read any further while too much is in flight", async () => {
    const running: PromiseWithResolvers<string>[] = [];
    const { say, lines } = alone({
      handle() {
        const one = Promise.withResolvers<string>();
        running.push(one);
        return one.promise;
      },
    });
    await say({ id: 1, method: "a" }, { id: 2, method: "a" }, { id: 3, method: "a" });
    expect(running).toHaveLength(2);
    running[1]?.resolve("done");
    await settle();
    expect(lines).toMatchObject([{ id: 2, result: "done" }]);
    expect(running).toHaveLength(3);
  });

  test("is refused while too much is in flight, where reading must go on", async () => {
    const { say, lines, ignored, peer } = alone({ whenFull: "refuse", handle: never, cancellation });
    const asked = peer.request("mine", {});
    await say({ id: 1, method: "a" }, { id: 2, method: "a" }, { id: 3, method: "a" }, { method: "b" });
    expect(lines.slice(1)).toMatchObject([{ id: 3, error: { code: -32000, data: { name: "TooManyRequests" } } }]);
    expect(ignored).toEqual([expect.stringContaining("the notification b")]);
    await say({ id: 1, result: "yours" });
    expect(await asked).toBe("yours");
  });

  test("is withdrawn by a cancellation, with a reply only where the protocol has one", async () => {
    for (const isReplied of [false, true]) {
      const { say, lines } = alone({
        cancellation: { ...cancellation, isReplied },
        handle: ({ signal }: PeerRequest) =>
          new Promise((_, reject) =>
            signal.addEventListener("abort", () => reject(standardError("InternalError", "stopped"))),
          ),
      });
      await say({ id: "x", method: "a" }, { method: cancellation.method, params: { requestId: "x" } });
      expect(lines).toMatchObject(isReplied ? [{ id: "x", error: { message: "stopped" } }] : []);
    }
  });

  test("ends the reading when a notification cannot be taken", async () => {
    const { say, read } = alone({
      handle() {
        throw new Error("not an event");
      },
    });
    await say({ method: "a" });
    await expect(read).rejects.toThrow("not an event");
  });
});

describe("a request", () => {
  test("that is not replied to in time is withdrawn", async () => {
    const { peer, clock, lines, ignored, say } = alone({ cancellation });
    const asked = peer.request("slow", { a: 1 }, { timeoutMs: 500 });
    const late = expect(asked).rejects.toMatchObject({ problem: "timeout", message: "no reply to slow within 500 ms" });
    await clock.advance(500);
    await late;
    expect(lines).toEqual([
      { jsonrpc: "2.0", id: 1, method: "slow", params: { a: 1 } },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
    ]);
    await say({ id: 1, result: "late" });
    expect(ignored).toEqual(["a reply to 1"]);
  });

  test("beyond the bound is not sent", async () => {
    const { peer, lines } = alone();
    const asked = [1, 2, 3].map((n) => peer.request("a", { n }).catch((error: unknown) => error));
    await expect(peer.request("a", {})).rejects.toMatchObject({ problem: "too many requests" });
    expect(lines).toHaveLength(3);
    peer.close(new Error("gone"));
    expect(await Promise.all(asked)).toEqual([1, 2, 3].map(() => new Error("gone")));
    await expect(peer.request("a", {})).rejects.toThrow("gone");
    peer.notify("a", {});
    expect(lines).toHaveLength(3);
  });

  test("of the other side aborts when this side closes", async () => {
    const stopped = Promise.withResolvers<void>();
    const { peer, say, lines } = alone({
      async handle({ signal }) {
        await new Promise<void>((resume) => signal.addEventListener("abort", () => resume()));
        stopped.resolve();
      },
    });
    await say({ id: 1, method: "a" });
    peer.close();
    await stopped.promise;
    await peer.settled();
    expect(lines).toEqual([]);
  });
});
