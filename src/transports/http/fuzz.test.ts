/** Bytes and frames that nobody would send: the server answers or closes, never fails, and serves the next one. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createHttpRig } from "../../../test/fakes/http-rig.ts";

const kinds = fc.constantFrom(
  "SendInput",
  "AttachSession",
  "CreateSession",
  "CancelTurn",
  "AnswerPermission",
  "Nonsense",
);

describe("whatever is sent", () => {
  test("as a request is answered or closed", async () => {
    const rig = await createHttpRig([], { limits: { headersMs: 300, requestMs: 600 } });
    await rig.shakeHands();
    const requestLine = fc.record({
      method: fc.constantFrom("GET", "POST", "DELETE", "PUT", "OPTIONS", "get", "CONNECT"),
      target: fc.oneof(
        fc.constantFrom(
          rig.path(),
          rig.path("/input"),
          rig.path("/events"),
          "/v1/ws",
          "/prompt",
          "/v1/auth/token",
          "/v1/auth/tokens",
          "//x/v1/health",
          "/%",
          "/v1/../x",
        ),
        fc.webPath(),
      ),
      query: fc.webQueryParameters(),
      header: fc.constantFrom(
        "",
        "upgrade: websocket\r\nconnection: upgrade\r\n",
        "content-length: 5\r\n",
        "expect: 100-continue\r\n",
      ),
      body: fc.oneof(fc.string(), fc.json()),
    });
    await fc.assert(
      fc.asyncProperty(requestLine, async ({ method, target, query, header, body }) => {
        const socket = await rig.raw();
        const closed = new Promise<void>((resolve) => void socket.on("close", () => resolve()));
        // An event stream stays open by right; the first bytes of an answer are enough.
        socket.once("data", () => socket.destroy());
        const fixed = `host: localhost\r\nx-harness-token: human\r\nconnection: close\r\n${header}`;
        socket.end(`${method} ${target}?${query} HTTP/1.1\r\n${fixed}\r\n${body}`);
        await closed;
        expect(await rig.ask("GET", "/v1/health")).toMatchObject({ status: 200 });
      }),
      { numRuns: 60 },
    );
  });

  test("as bytes is answered or closed", async () => {
    const rig = await createHttpRig([], { limits: { headersMs: 300, requestMs: 600 } });
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 2000 }), async (bytes) => {
        const socket = await rig.raw();
        const closed = new Promise<void>((resolve) => void socket.on("close", () => resolve()));
        socket.resume();
        socket.end(bytes);
        await closed;
      }),
      { numRuns: 60 },
    );
    expect(await rig.ask("GET", "/v1/health")).toMatchObject({ status: 200 });
  });

  test("as frames is answered, each with a frame", async () => {
    const rig = await createHttpRig([], { limits: { badFrames: 1_000_000 } });
    const socket = await rig.openSocket("/v1/ws");
    socket.send({ frame: "handshake", body: {} });
    await socket.until(({ frame }) => frame === "handshake");
    const frames = fc.record(
      {
        frame: fc.oneof(fc.constantFrom("command", "handshake", "event", "error"), fc.jsonValue()),
        body: fc.oneof(
          fc.jsonValue(),
          fc.record({ kind: kinds, session: fc.oneof(fc.constant(rig.session), fc.string()), content: fc.jsonValue() }),
        ),
      },
      { requiredKeys: [] },
    );
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(frames, async (frame) => {
        sent += 1;
        const id = `f${sent}`;
        socket.send({ ...frame, id });
        const answer = await socket.until((candidate) => candidate.id === id);
        expect(["command", "error", "handshake"]).toContain(answer.frame);
        expect(answer.body.reason).not.toBe("InternalError");
      }),
      { numRuns: 300 },
    );
  });
});
