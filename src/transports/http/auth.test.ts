/** Tokens over real sockets: what is refused with which reason, how revocation and expiry reach what is open. */
import { describe, expect, test } from "vitest";
import { type Claims, DRAIN_SECONDS, EXPIRING_SECONDS, signToken } from "#auth";
import { type AuthRig, createAuthRig, openBoth } from "../../../test/fakes/auth-rig.ts";
import { calls, says } from "../../../test/fakes/harness-rig.ts";
import { isKind, textInput } from "../../../test/fakes/http-rig.ts";
import { createManualClock } from "../../../test/fakes/manual-clock.ts";
import { sessionId, tokenId } from "../../../test/fakes/token-claims.ts";
import { defaultLimits } from "./limits.ts";

const reason = (expected: string) => ({ json: { error: { reason: expected } } });

describe("a token that cannot be used", () => {
  test.each(["unix", "tcp"])("is refused over %s with its reason, on every surface", async (channel) => {
    const rig = await createAuthRig();
    const now = rig.clock.now() / 1000;
    const good = rig.token();
    const revoked = rig.token();
    rig.elsewhere.revoke(rig.claimsOf(revoked).jti, rig.clock.now());
    const child = rig.token({ minted_by: [rig.claimsOf(revoked).jti] });
    const refusals: readonly (readonly [string, string, string])[] = [
      ["none", "", "TokenRequired"],
      ["nonsense", "nonsense", "TokenInvalid"],
      ["one letter changed", `${good.slice(0, -1)}${good.endsWith("A") ? "B" : "A"}`, "TokenInvalid"],
      ["of another machine", signToken(rig.claimsOf(good), new Uint8Array(32).fill(8)), "TokenInvalid"],
      ["too early", rig.token({ nbf: now + 3600 }), "TokenInvalid"],
      ["of another version", rig.token({ ver: 2 as 1 }), "TokenInvalid"],
      ["with a claim to heed that is not known", rig.token({ critical_claims: ["moon_phase"] }), "TokenInvalid"],
      ["over", rig.token({ nbf: now - 60, exp: now }), "TokenExpired"],
      ["revoked", revoked, "TokenRevoked"],
      ["made with one that was revoked", child, "TokenRevoked"],
    ];
    const tcp = channel === "tcp";
    for (const [what, token, expected] of refusals) {
      for (const path of ["/v1/health", rig.path("/events"), "/events", "/v1/openapi.json", "/v1/nothing"]) {
        const answer = await rig.ask("GET", path, { token, tcp });
        expect([what, path, answer.status, answer.json.error.reason]).toEqual([what, path, 401, expected]);
      }
      await expect(rig.openSocket("/v1/ws", { token, tcp }), what).rejects.toThrow("401");
      // What is not signed counts as a guess, and few are free.
      await rig.clock.advance(60_000);
    }
    expect(await rig.ask("GET", "/v1/health", { token: good, tcp })).toMatchObject({ status: 200 });
  });

  test("is no use in another header, nor beside another one", async () => {
    const rig = await createAuthRig();
    const good = rig.token();
    const bearer = { token: "", headers: { authorization: `Bearer ${good}` } };
    expect(await rig.ask("GET", "/v1/health", bearer)).toMatchObject({ status: 401, ...reason("TokenRequired") });
    const socket = await rig.raw();
    socket.write(
      `GET /v1/health HTTP/1.1\r\nhost: localhost\r\nx-harness-token: ${good}\r\nx-harness-token: ${good}\r\nconnection: close\r\n\r\n`,
    );
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1.1 401[\s\S]*more than one/);
  });

  test("that is guessed makes its peer wait, and keeps nobody out who was there", async () => {
    const rig = await createAuthRig();
    const [known, late] = [rig.token(), rig.token()];
    expect(await rig.ask("GET", "/v1/health", { token: known })).toMatchObject({ status: 200 });
    const answers = [];
    for (let guess = 0; guess < 20; guess++) {
      answers.push((await rig.ask("GET", "/v1/health", { token: `hat1.guess.${guess}` })).status);
    }
    expect(answers).toEqual([...Array(10).fill(401), ...Array(10).fill(429)]);
    expect(await rig.ask("GET", "/v1/health", { token: late })).toMatchObject(reason("TooManyFailures"));
    expect(await rig.ask("GET", "/v1/health", { token: known })).toMatchObject({ status: 200 });
    expect(await rig.ask("GET", "/v1/health", { token: late, tcp: true })).toMatchObject({ status: 200 });
    await rig.clock.advance(60_000);
    expect(await rig.ask("GET", "/v1/health", { token: late })).toMatchObject({ status: 200 });
  });
});

describe("what a token does not cover", () => {
  test("is TokenScope: other commands, other sessions, new sessions", async () => {
    const rig = await createAuthRig();
    const token = rig.token({ sessions: [rig.session], commands: ["CancelTurn"] });
    await rig.shakeHands(token);
    const other = `/v1/sessions/${sessionId(5)}`;
    expect(await rig.ask("POST", rig.path("/cancel"), { token })).toMatchObject({ status: 202 });
    const body = textInput("x");
    expect(await rig.ask("POST", rig.path("/input"), { token, body })).toMatchObject({
      status: 403,
      ...reason("TokenScope"),
    });
    expect(await rig.ask("POST", `${other}/cancel`, { token })).toMatchObject(reason("TokenScope"));
    expect(await rig.ask("GET", `${other}/log`, { token })).toMatchObject(reason("TokenScope"));
    expect(await rig.ask("POST", "/v1/sessions", { token, body: {} })).toMatchObject(reason("TokenScope"));
    expect(await rig.ask("POST", "/prompt", { token, body: { content: "x" } })).toMatchObject(reason("TokenScope"));
    const socket = await rig.openSocket("/v1/ws", { token });
    socket.send({ frame: "handshake", body: {} });
    socket.send({ frame: "command", id: 1, body: { kind: "EndSession", session: rig.session } });
    expect(await socket.until(({ id }) => id === 1)).toMatchObject({ body: { reason: "TokenScope" } });
    socket.send({ frame: "command", id: 2, body: { kind: "CancelTurn", session: rig.session } });
    expect(await socket.until(({ id }) => id === 2)).toMatchObject({ frame: "command" });
  });

  test("an agent never answers, whatever its commands say", async () => {
    const rig = await createAuthRig([calls(["fs.write", { path: "a", content: "x" }]), says("done")], {
      waitsForHumans: true,
    });
    const [human, agent] = [rig.token(), rig.token({ identity_class: "agent" })];
    await rig.shakeHands(human);
    await rig.shakeHands(agent);
    const stream = await rig.read(rig.path("/events"), { token: agent });
    const turn = rig.ask("POST", rig.path("/input?wait=turn"), { token: agent, body: textInput("write") });
    const { payload } = await stream.until(isKind("PermissionRequested"));
    const body = { call_id: (payload as { call_id: string }).call_id, decision: "allow_once" };
    expect(await rig.ask("POST", rig.path("/permission"), { token: agent, body })).toMatchObject({
      status: 403,
      ...reason("NotAllowed"),
    });
    expect(await rig.ask("POST", rig.path("/permission"), { token: human, body })).toMatchObject({ status: 202 });
    expect((await turn).json).toMatchObject({ outcome: "answered" });
  });
});

describe("a revocation of another process", () => {
  test("holds with the next request and frame, and ends what is open within a second; others go on", async () => {
    const rig = await createAuthRig([says("still here")]);
    const [gone, stays] = [rig.token(), rig.token()];
    const first = await openBoth(rig, gone);
    const second = await openBoth(rig, stays);
    rig.elsewhere.revoke(rig.claimsOf(gone).jti, rig.clock.now());
    expect(await rig.ask("GET", "/v1/health", { token: gone })).toMatchObject(reason("TokenRevoked"));
    await rig.clock.advance(defaultLimits.recheckMs);
    await first.stream.ended;
    expect(first.stream.frames.at(-1)).toMatchObject({ event: "error", data: expect.stringContaining("TokenRevoked") });
    expect(await first.socket.closed).toBe(1008);
    expect(first.socket.frames.at(-1)).toMatchObject({ frame: "error", body: { reason: "TokenRevoked" } });
    await rig.send("hi");
    await second.stream.until(isKind("TurnEnded"));
    await second.socket.until(({ body }) => body.kind === "TurnEnded");
  });

  test("keeps the answer of a turn from whoever still waits for it", async () => {
    const rig = await createAuthRig([calls(["fs.write", { path: "a", content: "x" }]), says("secret")], {
      waitsForHumans: true,
    });
    const [human, token] = [rig.token(), rig.token({ identity_class: "agent" })];
    const { stream } = await openBoth(rig, human);
    await rig.shakeHands(token);
    const waiting = rig.ask("POST", rig.path("/input?wait=turn"), { token, body: textInput("write") });
    const { payload } = await stream.until(isKind("PermissionRequested"));
    rig.elsewhere.revoke(rig.claimsOf(token).jti, rig.clock.now());
    const body = { call_id: (payload as { call_id: string }).call_id, decision: "allow_once" };
    await rig.ask("POST", rig.path("/permission"), { token: human, body });
    expect(await waiting).toMatchObject({ status: 401, ...reason("TokenRevoked") });
  });

  test("closes a socket with the frame that comes before that second is over", async () => {
    const rig = await createAuthRig();
    const token = rig.token();
    const { socket } = await openBoth(rig, token);
    rig.elsewhere.revoke(rig.claimsOf(token).jti, rig.clock.now());
    socket.send({ frame: "command", id: 9, body: { kind: "CancelTurn", session: rig.session } });
    expect(await socket.until(({ id }) => id === 9)).toMatchObject({
      frame: "error",
      body: { reason: "TokenRevoked" },
    });
    expect(await socket.closed).toBe(1008);
  });
});

describe("the end of a token", () => {
  test("is told before on each stream, refuses commands, lets what is open drain, then cuts it", async () => {
    const rig = await createAuthRig([calls(["fs.write", { path: "a", content: "x" }]), says("done")], {
      waitsForHumans: true,
    });
    const exp = rig.clock.now() / 1000 + 3600;
    const human = rig.token();
    await rig.shakeHands(human);
    const token = rig.token({ exp });
    const { stream, socket } = await openBoth(rig, token);
    const plain = await rig.read(`/events?session=${rig.session}`, { token });
    await rig.clock.advance((3600 - EXPIRING_SECONDS) * 1000 - 5000);
    expect(stream.events.filter(isKind("TokenExpiring"))).toEqual([]);
    await rig.clock.advance(6000);
    const expected = { token: rig.claimsOf(token).jti, expires_at: new Date(exp * 1000).toISOString() };
    const told = await stream.until(isKind("TokenExpiring"));
    expect(told).toMatchObject({ session: rig.session, id: expect.any(Number), payload: expected });
    expect(stream.frames.find(({ event }) => event === "TokenExpiring")?.id).toBeUndefined();
    expect(await socket.until(({ body }) => body.kind === "TokenExpiring")).toMatchObject({
      body: { payload: expected },
    });
    await plain.until((event) => Reflect.get(event, "state") === "expiring");
    // A turn that begins before the end.
    socket.send({ frame: "command", id: 1, body: { kind: "SendInput", session: rig.session, ...textInput("write") } });
    const { payload } = await stream.until(isKind("PermissionRequested"));
    await rig.clock.advance(EXPIRING_SECONDS * 1000);
    expect(await rig.ask("GET", rig.path(), { token })).toMatchObject({ status: 401, ...reason("TokenExpired") });
    const late = textInput("one more");
    expect(await rig.ask("POST", rig.path("/input?mode=queue"), { token, body: late })).toMatchObject({ status: 401 });
    await expect(rig.read(rig.path("/events"), { token })).rejects.toThrow("401");
    socket.send({ frame: "command", id: 2, body: { kind: "CancelTurn", session: rig.session } });
    expect(await socket.until(({ id }) => id === 2)).toMatchObject({
      frame: "error",
      body: { reason: "TokenExpired" },
    });
    // It drains: the turn ends, and its client sees that on both wires.
    const body = { call_id: (payload as { call_id: string }).call_id, decision: "allow_once" };
    expect(await rig.ask("POST", rig.path("/permission"), { token: human, body })).toMatchObject({ status: 202 });
    await stream.until(isKind("TurnEnded"));
    await socket.until((frame) => frame.body.kind === "TurnEnded");
    await rig.clock.advance(DRAIN_SECONDS * 1000);
    await stream.ended;
    await plain.ended;
    expect(stream.frames.at(-1)).toMatchObject({ event: "error", data: expect.stringContaining("TokenExpired") });
    expect(await socket.closed).toBe(1008);
    expect(stream.events.filter(isKind("TokenExpiring"))).toHaveLength(1);
    expect((await rig.ask("GET", rig.path("/log"), { token: human })).text).not.toContain("TokenExpiring");
  });

  test("does not put off a revocation", async () => {
    const rig = await createAuthRig();
    const token = rig.token({ exp: rig.clock.now() / 1000 + 10 });
    const { stream } = await openBoth(rig, token);
    await rig.clock.advance(20_000);
    rig.elsewhere.revoke(rig.claimsOf(token).jti, rig.clock.now());
    await rig.clock.advance(1000);
    await stream.ended;
    expect(stream.frames.at(-1)?.data).toContain("TokenRevoked");
  });
});

describe("an input that waits", () => {
  /** A turn of a person that waits for a question, and what a token has queued behind it. */
  async function queuedBehindTurn(change: Partial<Claims> = {}) {
    const rig = await createAuthRig([calls(["fs.write", { path: "a", content: "x" }]), says("done"), says("more")], {
      waitsForHumans: true,
    });
    const human = rig.token();
    await rig.shakeHands(human);
    const stream = await rig.read(rig.path("/events?since=0"), { token: human });
    expect(await rig.ask("POST", rig.path("/input"), { token: human, body: textInput("write") })).toMatchObject({
      status: 202,
    });
    const { payload } = await stream.until(isKind("PermissionRequested"));
    const token = rig.token(change);
    await rig.shakeHands(token);
    const queue = (text: string, by: string) =>
      rig.ask("POST", rig.path("/input?mode=queue"), { token: by, body: textInput(text) });
    expect(await queue("of the token", token)).toMatchObject({ status: 202 });
    expect(await queue("of the person", human)).toMatchObject({ status: 202 });
    const body = { call_id: (payload as { call_id: string }).call_id, decision: "allow_once" };
    return {
      rig,
      token,
      async inputs() {
        await rig.ask("POST", rig.path("/permission"), { token: human, body });
        await stream.until((event) => event.kind === "TurnEnded" && event.payload.queued === undefined);
        return stream.events.flatMap((event) =>
          event.kind === "TurnStarted"
            ? event.payload.content.map((block) => Reflect.get(block, "text") as unknown)
            : event.kind === "InputRefused"
              ? [event.payload]
              : [],
        );
      },
      queued: () => stream.events.find(isKind("InputQueued")),
    };
  }

  test("begins while its token holds", async () => {
    const { inputs } = await queuedBehindTurn();
    expect(await inputs()).toEqual(["write", "of the token", "of the person"]);
  });

  test.each([
    ["was revoked", "TokenRevoked", (rig: AuthRig, { jti }: Claims) => void rig.elsewhere.revoke(jti, rig.clock.now())],
    [
      "comes from one that was revoked",
      "TokenRevoked",
      (rig: AuthRig) => void rig.elsewhere.revoke(tokenId(77), rig.clock.now()),
    ],
    ["has ended", "TokenExpired", (rig: AuthRig) => rig.clock.advance(11_000)],
  ])("is refused in the log when its token %s, and the next one begins", async (_what, reason, end) => {
    const exp = reason === "TokenExpired" ? { exp: createManualClock().now() / 1000 + 10 } : {};
    const { rig, token, inputs, queued } = await queuedBehindTurn({ ...exp, minted_by: [tokenId(77)] });
    expect(queued()).toMatchObject({ payload: { allowed_by: { ids: [rig.claimsOf(token).jti, tokenId(77)] } } });
    await end(rig, rig.claimsOf(token));
    const refused = { queued: queued()?.id, by: expect.stringMatching(/^cli_/), reason, message: expect.any(String) };
    expect(await inputs()).toEqual(["write", refused, "of the person"]);
  });

  test("begins when the run of its token is over: the person has taken nothing back, until they do", async () => {
    const { rig, token, inputs } = await queuedBehindTurn();
    rig.elsewhere.endRun(rig.claimsOf(token).jti, rig.clock.now());
    expect(await inputs()).toEqual(["write", "of the token", "of the person"]);
    expect(rig.elsewhere.revoke(rig.claimsOf(token).jti, rig.clock.now())).toBe(true);
    expect(rig.elsewhere.revokedAt(rig.claimsOf(token))).toMatchObject({ isRunOver: false });
  });
});
