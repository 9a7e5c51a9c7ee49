/** Tokens asked for, confirmed, passed on and taken back over real sockets. */
import { describe, expect, test } from "vitest";
import { type AuthRig, createAuthRig, openBoth } from "../../../test/fakes/auth-rig.ts";
import { says } from "../../../test/fakes/harness-rig.ts";
import { isKind, textInput } from "../../../test/fakes/http-rig.ts";
import { sessionId, tokenId } from "../../../test/fakes/token-claims.ts";
import { MINTS_PER_MINUTE } from "../../auth/token-desk.ts";

const reason = (expected: string) => ({ json: { error: { reason: expected } } });

describe("asking for a token", () => {
  const asked = (rig: AuthRig, rest = "") =>
    `/v1/auth/token?session=${rig.session}&commands=SendInput,CancelTurn${rest}`;
  const noToken = { token: "" };
  const confirm = (rig: AuthRig, body: object) => rig.ask("POST", "/v1/auth/token", { ...noToken, body });

  test("shows a code, gives the token for it, once", async () => {
    const rig = await createAuthRig([says("hi")]);
    const begun = await rig.ask("GET", asked(rig, "&ttl_seconds=600"), noToken);
    expect(begun).toMatchObject({
      status: 202,
      json: { channel: "terminal", confirm_by: new Date(rig.clock.now() + 60_000).toISOString() },
    });
    expect(begun.text).not.toContain(rig.shown[0]?.code);
    const { request } = begun.json;
    expect(rig.shown).toMatchObject([{ code: expect.stringMatching(/^\d{6}$/), claims: { jti: request } }]);
    const answer = { request, code: rig.shown[0]?.code };
    const made = await confirm(rig, answer);
    expect(made).toMatchObject({
      status: 201,
      json: { claims: { sessions: [rig.session], commands: ["SendInput", "CancelTurn"], identity_class: "agent" } },
    });
    expect(await confirm(rig, answer)).toMatchObject({ status: 403, ...reason("ConfirmationFailed") });
    const { token } = made.json as { token: string };
    await rig.shakeHands(token);
    const body = textInput("hi");
    expect(await rig.ask("POST", rig.path("/input?wait=turn"), { token, body })).toMatchObject({ status: 200 });
    expect(rig.elsewhere.list()).toMatchObject([{ claims: { jti: request } }]);
    await rig.clock.advance(600_000);
    expect(await rig.ask("POST", rig.path("/input"), { token, body })).toMatchObject(reason("TokenExpired"));
  });

  test("is for the Unix socket alone", async () => {
    const rig = await createAuthRig();
    expect(await rig.ask("GET", asked(rig), { ...noToken, tcp: true })).toMatchObject(reason("TokenRequired"));
    expect(await rig.ask("GET", asked(rig), { token: rig.token(), tcp: true })).toMatchObject({
      status: 403,
      ...reason("NotAllowed"),
    });
    expect(await rig.ask("DELETE", `/v1/auth/tokens/${tokenId(1)}`, noToken)).toMatchObject(reason("TokenRequired"));
    expect(await rig.ask("POST", "/v1/auth/tokens", { ...noToken, body: {} })).toMatchObject(reason("TokenRequired"));
    expect(rig.shown).toEqual([]);
  });

  test("ends with the third wrong code, with its minute, and for whoever guesses on", async () => {
    const rig = await createAuthRig();
    const known = rig.token();
    await rig.shakeHands(known);
    const begin = async () => (await rig.ask("GET", asked(rig), noToken)).json.request as string;
    const wrong = (at: number) => (rig.shown[at]?.code === "000000" ? "000001" : "000000");
    const first = await begin();
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await confirm(rig, { request: first, code: wrong(0) })).toMatchObject(reason("ConfirmationFailed"));
    }
    expect(await confirm(rig, { request: first, code: rig.shown[0]?.code })).toMatchObject({ status: 403 });
    const second = await begin();
    await rig.clock.advance(60_000);
    expect(await confirm(rig, { request: second, code: rig.shown[1]?.code })).toMatchObject({ status: 403 });
    await rig.clock.advance(60_000);
    const third = await begin();
    let status = 403;
    let guesses = 0;
    for (; status === 403; guesses++)
      status = (await confirm(rig, { request: tokenId(guesses), code: "111111" })).status;
    expect([status, guesses]).toEqual([429, 11]);
    expect(await confirm(rig, { request: third, code: rig.shown[2]?.code })).toMatchObject(reason("TooManyFailures"));
    expect(await rig.ask("GET", "/v1/health", { token: known })).toMatchObject({ status: 200 });
    for (const body of [{}, { request: third }, { request: 7, code: 7 }]) {
      expect(await confirm(rig, body)).toMatchObject({ status: 400 });
    }
    expect(rig.elsewhere.list()).toEqual([]);
  });

  test("wears nobody down, and makes sense or is refused", async () => {
    const rig = await createAuthRig();
    for (const query of ["", "?session=x", "?all_sessions=maybe", `?session=${sessionId(1)}&all_sessions=true`]) {
      expect(await rig.ask("GET", `/v1/auth/token${query}`, noToken), query).toMatchObject({ status: 400 });
    }
    expect(await rig.ask("GET", asked(rig, "&commands=Dance"), noToken)).toMatchObject({ status: 400 });
    expect(await rig.ask("GET", asked(rig, "&ttl_seconds=x"), noToken)).toMatchObject({ status: 400 });
    expect(await rig.ask("GET", asked(rig, "&identity_class=god"), noToken)).toMatchObject({ status: 400 });
    expect(rig.shown).toEqual([]);
    const statuses = [];
    for (let n = 0; n < 7; n++) statuses.push((await rig.ask("GET", asked(rig), noToken)).status);
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429, 429]);
  });

  test("is told to attached people who could do all of it, and to nobody else", async () => {
    const rig = await createAuthRig();
    const agent = await openBoth(rig, rig.token({ identity_class: "agent" }));
    const narrow = await openBoth(
      rig,
      rig.token({ sessions: [rig.session], commands: ["AttachSession", "SendInput"] }),
    );
    // Nobody of these may be asked: the terminal is.
    expect((await rig.ask("GET", asked(rig), noToken)).json).toMatchObject({ channel: "terminal" });
    const owner = await openBoth(rig, rig.token());
    const begun = await rig.ask("GET", asked(rig), noToken);
    expect(begun.json).toMatchObject({ channel: "client" });
    const { request } = begun.json;
    const onStream = await owner.stream.until(isKind("TokenRequested"));
    const { body } = await owner.socket.until((frame) => frame.body.kind === "TokenRequested");
    expect(body.payload).toEqual(onStream.payload);
    expect(onStream.payload).toMatchObject({
      token: request,
      sessions: [rig.session],
      commands: ["SendInput", "CancelTurn"],
      identity_class: "agent",
      can_mint: false,
      confirm_by: begun.json.confirm_by,
    });
    const { code } = onStream.payload as { code: string };
    expect(await confirm(rig, { request, code })).toMatchObject({ status: 201 });
    await rig.publish("CustomEvent", { namespace: "n", kind: "after", payload: 1 });
    for (const { stream, socket } of [agent, narrow]) {
      await stream.until(isKind("CustomEvent"));
      await socket.until((frame) => frame.body.kind === "CustomEvent");
      expect(stream.events.filter(isKind("TokenRequested"))).toEqual([]);
      expect(socket.frames.filter((frame) => frame.body.kind === "TokenRequested")).toEqual([]);
    }
    expect(rig.shown).toHaveLength(1);
  });

  test("is refused where nobody can be asked", async () => {
    const rig = await createAuthRig();
    rig.terminal.isThere = false;
    expect(await rig.ask("GET", asked(rig), noToken)).toMatchObject({
      status: 403,
      ...reason("ConfirmationUnavailable"),
    });
  });
});

describe("a token", () => {
  test("is revoked by itself, by the one it comes from, by the owner, and by nobody else", async () => {
    const rig = await createAuthRig();
    const owner = rig.token();
    const parent = rig.token({ sessions: [rig.session], can_mint: true });
    const asked = { sessions: [rig.session], commands: ["AttachSession"], ttl_seconds: 600 };
    const made = await rig.ask("POST", "/v1/auth/tokens", { token: parent, body: asked });
    expect(made).toMatchObject({
      status: 201,
      json: { claims: { identity_class: "agent", can_mint: false, minted_by: [rig.claimsOf(parent).jti] } },
    });
    const { token: child, claims } = made.json as { token: string; claims: { jti: string } };
    await rig.shakeHands(child);
    const stream = await rig.read(rig.path("/events"), { token: child });
    const bound = rig.token({ sessions: [rig.session] });
    const revoke = (jti: string, token: string) => rig.ask("DELETE", `/v1/auth/tokens/${jti}`, { token });
    expect(await revoke(claims.jti, bound)).toMatchObject({ status: 403, ...reason("TokenScope") });
    expect(await revoke(rig.claimsOf(parent).jti, child)).toMatchObject({ status: 403, ...reason("TokenScope") });
    expect(await revoke("tok_1", owner)).toMatchObject({ status: 400 });
    expect((await revoke(claims.jti, parent)).json).toEqual({ jti: claims.jti, revoked: true, new: true });
    // Without the clock having moved.
    await stream.ended;
    expect((await revoke(claims.jti, owner)).json).toMatchObject({ new: false });
    expect(await revoke(rig.claimsOf(bound).jti, bound)).toMatchObject({ status: 200 });
    expect(await rig.ask("GET", "/v1/health", { token: bound })).toMatchObject(reason("TokenRevoked"));
  });

  test("mints no more than it has, and only when it may", async () => {
    const rig = await createAuthRig();
    const parent = rig.token({ sessions: [rig.session], commands: ["SendInput"], can_mint: true });
    const mint = (token: string, body: object) => rig.ask("POST", "/v1/auth/tokens", { token, body });
    const modest = { sessions: [rig.session], commands: ["SendInput"] };
    expect(await mint(rig.token({ sessions: [rig.session] }), modest)).toMatchObject(reason("TokenScope"));
    expect(await mint(parent, { ...modest, commands: ["UndoTurn"] })).toMatchObject(reason("TokenScope"));
    expect(await mint(parent, { ...modest, sessions: [sessionId(9)] })).toMatchObject(reason("TokenScope"));
    for (const wrong of [
      {},
      { ...modest, can_mint: 1 },
      { ...modest, ttl_seconds: "x" },
      { ...modest, sessions: ["x"] },
    ]) {
      expect(await mint(parent, wrong), JSON.stringify(wrong)).toMatchObject({ status: 400 });
    }
    expect(await mint(parent, modest)).toMatchObject({ status: 201 });
    let status = 201;
    while (status === 201) status = (await mint(parent, modest)).status;
    expect([status, rig.elsewhere.list().length <= MINTS_PER_MINUTE]).toEqual([429, true]);
  });
});
