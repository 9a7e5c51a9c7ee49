/** A wall clock that steps while streams are open, over real sockets: a suspend, or a correction by NTP. */
import { describe, expect, test } from "vitest";
import { DRAIN_SECONDS } from "#auth";
import { createAuthRig, openBoth } from "../../../test/fakes/auth-rig.ts";
import { calls, says } from "../../../test/fakes/harness-rig.ts";
import { isKind, textInput } from "../../../test/fakes/http-rig.ts";

const HOUR_MS = 60 * 60 * 1000;
const LOOK_MS = 1000;
const STEPS = [5_000, -5_000, HOUR_MS, -HOUR_MS, 25 * HOUR_MS, -25 * HOUR_MS, -HOUR_MS, 2 * HOUR_MS];

describe("the token of the run", () => {
  test("works, and its streams go on, through steps in both directions", async () => {
    const rig = await createAuthRig([says("hello")]);
    const token = rig.token();
    rig.times.ownRun(rig.claimsOf(token));
    const { stream, socket } = await openBoth(rig, token);
    let ends = 0;
    void stream.ended.then(() => ends++);
    void socket.closed.then(() => ends++);
    for (const [index, stepMs] of STEPS.entries()) {
      rig.clock.stepWall(stepMs);
      await rig.clock.advance(LOOK_MS);
      expect(await rig.ask("GET", "/v1/health", { token })).toMatchObject({ status: 200 });
      socket.send({ frame: "command", id: index, body: { kind: "CancelTurn", session: rig.session } });
      expect(await socket.until(({ id }) => id === index)).toMatchObject({ frame: "command" });
    }
    await rig.ask("POST", rig.path("/input?wait=turn"), { token, body: textInput("hi") });
    await stream.until(isKind("TurnEnded"));
    await socket.until((frame) => frame.body.kind === "TurnEnded");
    expect(stream.events.filter(isKind("TokenExpiring"))).toEqual([]);
    expect(ends).toBe(0);
  });
});

describe("another token", () => {
  test("keeps its streams through steps that do not end it", async () => {
    const rig = await createAuthRig();
    const token = rig.token({ exp: rig.clock.now() / 1000 + 90 * 86_400 });
    const { stream, socket } = await openBoth(rig, token);
    let ends = 0;
    void stream.ended.then(() => ends++);
    void socket.closed.then(() => ends++);
    for (const stepMs of STEPS) {
      rig.clock.stepWall(stepMs);
      await rig.clock.advance(LOOK_MS);
      expect(await rig.ask("GET", "/v1/health", { token })).toMatchObject({ status: 200 });
    }
    expect(ends).toBe(0);
  });

  test("that a step ends takes no commands; its streams are told and drain for their whole time", async () => {
    const rig = await createAuthRig();
    const token = rig.token();
    const { stream, socket } = await openBoth(rig, token);
    let ends = 0;
    void stream.ended.then(() => ends++);
    void socket.closed.then(() => ends++);
    rig.clock.stepWall(25 * HOUR_MS);
    await rig.clock.advance(LOOK_MS);
    expect(await rig.ask("GET", "/v1/health", { token })).toMatchObject({
      status: 401,
      json: { error: { reason: "TokenExpired" } },
    });
    await stream.until(isKind("TokenExpiring"));
    await socket.until(({ body }) => body.kind === "TokenExpiring");
    await rig.clock.advance((DRAIN_SECONDS - 2) * 1000);
    expect(ends).toBe(0);
    await rig.clock.advance(2 * LOOK_MS);
    await stream.ended;
    expect(await socket.closed).toBe(1008);
  });

  test("whose end was taken back before its streams had drained keeps them, and is told its real end", async () => {
    const rig = await createAuthRig();
    const token = rig.token({ exp: rig.clock.now() / 1000 + 1800 });
    const { stream, socket } = await openBoth(rig, token);
    let ends = 0;
    void stream.ended.then(() => ends++);
    void socket.closed.then(() => ends++);
    rig.clock.stepWall(25 * HOUR_MS);
    await rig.clock.advance((DRAIN_SECONDS / 2) * 1000);
    rig.clock.stepWall(-25 * HOUR_MS);
    await rig.clock.advance(2 * DRAIN_SECONDS * 1000);
    expect(await rig.ask("GET", "/v1/health", { token })).toMatchObject({ status: 200 });
    expect(ends).toBe(0);
    const told = () => stream.events.filter(isKind("TokenExpiring")).length;
    expect(told()).toBe(1);
    await rig.clock.advance(1500 * 1000);
    await stream.until(() => told() === 2);
  });
});

describe("heartbeats and questions", () => {
  test("neither storm nor stall", async () => {
    const rig = await createAuthRig();
    const token = rig.token();
    rig.times.ownRun(rig.claimsOf(token));
    const { stream } = await openBoth(rig, token);
    for (const stepMs of [25 * HOUR_MS, -26 * HOUR_MS]) {
      const before = stream.comments.length;
      rig.clock.stepWall(stepMs);
      await rig.clock.advance(90_000);
      await rig.ask("GET", "/v1/health", { token });
      expect(stream.comments.length - before).toBe(3);
    }
  });

  test("a question that waits is answered after a step, and its approval holds", async () => {
    const rig = await createAuthRig([calls(["fs.write", { path: "a", content: "x" }]), says("done")], {
      waitsForHumans: true,
    });
    const token = rig.token();
    rig.times.ownRun(rig.claimsOf(token));
    const { stream } = await openBoth(rig, token);
    const turn = rig.ask("POST", rig.path("/input?wait=turn"), { token, body: textInput("write") });
    const { payload } = await stream.until(isKind("PermissionRequested"));
    rig.clock.stepWall(25 * HOUR_MS);
    await rig.clock.advance(LOOK_MS);
    const body = { call_id: (payload as { call_id: string }).call_id, decision: "allow_once" };
    expect(await rig.ask("POST", rig.path("/permission"), { token, body })).toMatchObject({ status: 202 });
    expect((await turn).text).toContain("done");
  });
});
