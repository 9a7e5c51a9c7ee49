/** Web sockets over real connections: handshake first, commands and events, and what a client can get wrong. */
import { describe, expect, test } from "vitest";
import type { WebSocket as ClientSocket } from "ws";
import { calls, says } from "../../../test/fakes/harness-rig.ts";
import { createHttpRig, type HttpRig, humanFor, isKind, textInput } from "../../../test/fakes/http-rig.ts";

const handshake = { frame: "handshake", body: { protocol_version: "0.1.0" } };

async function attached(rig: HttpRig, query = "") {
  const socket = await rig.openSocket(`/v1/ws?session=${rig.session}${query}`);
  socket.send(handshake);
  await socket.until(({ frame }) => frame === "handshake");
  return socket;
}

describe("a web socket", () => {
  test("is a client of its own, and is told which", async () => {
    const rig = await createHttpRig([says("one"), says("two")]);
    const clients: string[] = [];
    for (let n = 0; n < 2; n++) {
      const { send, until, frames } = await attached(rig);
      clients.push(frames[0].body.client);
      send({ frame: "command", id: 1, body: { kind: "SendInput", session: rig.session, ...textInput("hi") } });
      await until(({ body }) => body.kind === "TurnEnded");
    }
    expect(rig.events.filter(isKind("TurnStarted")).map(({ originator }) => originator)).toEqual(clients);
    expect(new Set(clients).size).toBe(2);
  });

  test("shakes hands, sends commands, gets replies and the events of the log", async () => {
    const rig = await createHttpRig([says("Hello")]);
    const socket = await attached(rig, "&lastEventId=0");
    socket.send({ frame: "command", id: 1, body: { kind: "SendInput", session: rig.session, ...textInput("hi") } });
    const reply = await socket.until(({ id }) => id === 1);
    expect(reply).toMatchObject({
      frame: "command",
      body: { kind: "SendInput", turn: expect.stringMatching(/^turn_/) },
    });
    await socket.until(({ body }) => body.kind === "TurnEnded");
    const told = socket.frames.filter(({ frame }) => frame === "event").map(({ body }) => body as object);
    expect(told).toEqual((await rig.ask("GET", rig.path("/log"))).json.events);
  });

  test("takes the token of a page as a subprotocol, and does not send it back", async () => {
    const { port } = await createHttpRig([]);
    const opened = async (...protocols: string[]): Promise<string> => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/ws`, protocols);
      const outcome = Promise.withResolvers<string>();
      socket.onopen = () => outcome.resolve(`chose ${socket.protocol}`);
      socket.onerror = () => outcome.resolve("refused");
      return outcome.promise.finally(() => socket.close());
    };
    expect(await opened("harness.token.human", "harness")).toBe("chose harness");
    expect(await opened("harness", "harness.token.wrong")).toBe("refused");
    expect(await opened("harness")).toBe("refused");
  });

  test("wants the handshake first, and a version it knows", async () => {
    const rig = await createHttpRig([]);
    const socket = await rig.openSocket("/v1/ws");
    socket.send({ frame: "command", id: "a", body: { kind: "CancelTurn", session: rig.session } });
    expect(await socket.until(({ id }) => id === "a")).toMatchObject({
      frame: "error",
      body: { reason: "HandshakeRequired" },
    });
    socket.send({ frame: "handshake", id: "b", body: { protocol_version: "1.0.0" } });
    expect(await socket.until(({ id }) => id === "b")).toMatchObject({ body: { reason: "HandshakeVersionMismatch" } });
  });

  test("is told when it claims to have seen more than there is", async () => {
    const rig = await createHttpRig([]);
    const socket = await attached(rig, "&lastEventId=99999");
    const told = await socket.until(({ frame }) => frame === "error");
    expect(told).toMatchObject({ body: { reason: "InvalidCommand", message: expect.stringContaining("99999") } });
  });

  test("answers a permission request that another client's turn asked for", async () => {
    const rig = await createHttpRig([calls(["fs.write", { path: "a", content: "x" }]), says("ok")], {
      waitsForHumans: true,
    });
    const socket = await attached(rig);
    const turn = rig.send("write");
    const { body } = await socket.until((frame) => frame.body.kind === "PermissionRequested");
    const answer = {
      kind: "AnswerPermission",
      session: rig.session,
      call_id: body.payload.call_id,
      decision: "allow_once",
    };
    socket.send({ frame: "command", id: 1, body: answer });
    expect(await socket.until(({ id }) => id === 1)).toMatchObject({ frame: "command" });
    expect(await turn).toMatchObject({ outcome: "answered" });
  });

  test("carries a replayed frame out once", async () => {
    const rig = await createHttpRig([says("one"), says("two")]);
    const socket = await attached(rig);
    const frame = { frame: "command", id: 7, body: { kind: "SendInput", session: rig.session, ...textInput("hi") } };
    socket.send(frame);
    await socket.until(({ body }) => body.kind === "TurnEnded");
    socket.send(frame);
    expect(await socket.until(({ body }) => body.reason !== undefined)).toMatchObject({
      frame: "error",
      id: 7,
      body: { reason: "FrameRepeated" },
    });
    expect(rig.of("TurnStarted")).toHaveLength(1);
  });

  test("answers nonsense with its reason and goes on; too much of it ends the connection, and no other", async () => {
    const rig = await createHttpRig([says("fine")], { limits: { badFrames: 5 } });
    const other = await attached(rig);
    const socket = await attached(rig);
    const nonsense = ["{", "[]", "null", '{"frame":"dance"}', '{"frame":"command","body":{"kind":"Dance"}}'];
    for (const text of nonsense) socket.sendRaw(text);
    await socket.until(() => socket.frames.filter(({ frame }) => frame === "error").length === nonsense.length);
    expect(socket.frames.slice(-5).map(({ body }) => body.reason)).toEqual(nonsense.map(() => "InvalidCommand"));
    socket.sendRaw('{"frame":"command","body":7}');
    expect(await socket.closed).toBe(1008);
    other.send({ frame: "command", id: 1, body: { kind: "SendInput", session: rig.session, ...textInput("hi") } });
    await other.until(({ body }) => body.kind === "TurnEnded");
  });

  test("is closed for bytes, for what is not UTF-8 and for what is too large", async () => {
    const rig = await createHttpRig([], { limits: { bodyBytes: 1000 } });
    const binary = await attached(rig);
    binary.sendRaw(Buffer.from([1, 2, 3]));
    expect(await binary.closed).toBe(1003);
    const garbled = await attached(rig);
    garbled.socket.send(Buffer.from([0xc3, 0x28]), { binary: false });
    expect(await garbled.closed).toBe(1007);
    const large = await attached(rig);
    large.sendRaw(JSON.stringify({ frame: "command", body: "x".repeat(2000) }));
    expect(await large.closed).toBe(1009);
  });

  test("checks the token for every frame, and its sessions and commands", async () => {
    const rig = await createHttpRig([says("hi")]);
    rig.tokens.set("bound", { ...humanFor(rig.session), commands: ["CancelTurn"] });
    const socket = await rig.openSocket("/v1/ws", { token: "bound" });
    socket.send(handshake);
    socket.send({ frame: "command", id: 1, body: { kind: "CancelTurn", session: rig.session } });
    socket.send({ frame: "command", id: 2, body: { kind: "SendInput", session: rig.session, ...textInput("x") } });
    socket.send({ frame: "command", id: 3, body: { kind: "AttachSession", session: rig.session } });
    const third = await socket.until(({ id }) => id === 3);
    expect(third).toMatchObject({ frame: "error", body: { reason: "TokenScope" } });
    expect(socket.frames.map(({ frame, id }) => [frame, id])).toEqual(
      expect.arrayContaining([
        ["command", 1],
        ["error", 2],
      ]),
    );
    rig.tokens.delete("bound");
    socket.send({ frame: "command", id: 4, body: { kind: "CancelTurn", session: rig.session } });
    expect(await socket.until(({ id }) => id === 4)).toMatchObject({ body: { reason: "TokenInvalid" } });
    expect(await socket.closed).toBe(1008);
  });

  const FRAMES = 20_000;
  test.each([
    ["commands", 0, (socket: ClientSocket) => socket.send(JSON.stringify({ ...handshake, padding: "x".repeat(1000) }))],
    ["pings", FRAMES, (socket: ClientSocket) => socket.ping(Buffer.alloc(125))],
  ])("that sends %s and does not read the answers is not read any more, until it does", async (_what, pongs, send) => {
    const rig = await createHttpRig([]);
    const { socket, until } = await rig.openSocket("/v1/ws");
    let seen = 0;
    socket.on("pong", () => {
      seen += 1;
    });
    socket.pause();
    for (let sent = 0; sent < FRAMES; sent++) send(socket);
    let before = Number.NaN;
    for (let left = socket.bufferedAmount; left !== before; left = socket.bufferedAmount) {
      before = left;
      for (let asked = 0; asked < 300; asked++) await rig.ask("GET", "/v1/health");
    }
    expect(before).toBeGreaterThan(0);
    socket.resume();
    socket.send(JSON.stringify({ frame: "handshake", id: "last", body: { protocol_version: "0.1.0" } }));
    await until(({ id }) => id === "last");
    expect(seen).toBe(pongs);
  });

  test("is refused without a token, from a foreign page and elsewhere", async () => {
    const rig = await createHttpRig([]);
    await expect(rig.openSocket("/v1/ws", { token: "nobody" })).rejects.toThrow("401");
    await expect(rig.openSocket("/v1/ws", { tcp: true, headers: { origin: "http://evil" } })).rejects.toThrow("403");
    await expect(rig.openSocket("/v2/ws")).rejects.toThrow("404");
    await expect(rig.openSocket("/v1/ws", { headers: { host: "evil" } })).rejects.toThrow("421");
  });
});
