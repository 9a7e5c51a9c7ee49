/** Retention in a daemon that does not end: when it runs, how much of it at a time, and what a failure does. Time is moved by hand. */
import { expect, test } from "vitest";
import { SessionId } from "#protocol";
import { createInProcessCli } from "../../test/fakes/in-process-cli.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { quietCliPorts } from "../../test/fakes/quiet-cli-ports.ts";
import { draft, sessionStarted, turnDrafts, turnId } from "../../test/fakes/session-drafts.ts";
import { createOutward } from "../cli/outward.ts";
import {
  applyDailyRetention,
  type PortionBound,
  type RetentionPortion,
  retentionPortion,
} from "../program/daily-retention.ts";
import { GO_ON_MS, PORTION_BOUND, watchRetention } from "./retention.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const FIRST = SessionId.from("01ARZ3NDEKTSV4RRFFQ69G5FA1");
const SECOND = SessionId.from("01ARZ3NDEKTSV4RRFFQ69G5FA2");

function watched(portion: () => Promise<RetentionPortion>) {
  const clock = createManualClock();
  const seen = { portions: [] as RetentionPortion[], failures: [] as unknown[], startedMs: [] as number[] };
  const watch = watchRetention({
    clock,
    async portion() {
      seen.startedMs.push(clock.monotonicMs());
      return portion();
    },
    onPortion: (done) => void seen.portions.push(done),
    onFailure: (failure) => void seen.failures.push(failure),
  });
  return { clock, seen, watch };
}

test("looks soon after the start and then every hour, until it is stopped", async () => {
  const { clock, seen, watch } = watched(async () => ({ kind: "not-due" }));
  expect(watch.state()).toEqual({ state: "not run" });
  await clock.advance(HOUR_MS / 2);
  expect(seen.startedMs.length).toBe(1);
  await clock.advance(30 * DAY_MS);
  expect(seen.startedMs.length).toBe(30 * 24 + 1);
  expect(seen.portions).toEqual([]);
  watch.stop();
  await clock.advance(DAY_MS);
  expect([seen.startedMs.length, clock.sleeping]).toEqual([30 * 24 + 1, 0]);
});

test("what is more than one portion follows a moment later, and sessions have their turn in between", async () => {
  let left = 5;
  const { clock, seen, watch } = watched(async () => {
    left -= 1;
    return left > 0 ? { kind: "unfinished", expiredEvents: 7 } : { kind: "done", expiredEvents: 3, expiring: [] };
  });
  await clock.advance(HOUR_MS / 2);
  const [first = 0] = seen.startedMs;
  expect(seen.startedMs).toEqual([0, 1, 2, 3, 4].map((n) => first + n * GO_ON_MS));
  expect(seen.portions.at(-1)).toEqual({ kind: "done", expiredEvents: 3, expiring: [] });
  expect(watch.state()).toEqual({ state: "ok" });
  watch.stop();
});

test("a failure is told and tried again, and later work goes on", async () => {
  let works = false;
  const { clock, seen, watch } = watched(async () => {
    if (!works) throw new Error("the disk is full");
    return { kind: "done", expiredEvents: 0, expiring: [{ id: FIRST, title: "", expiresAt: "" }] };
  });
  await clock.advance(HOUR_MS);
  expect(seen.failures.length).toBeGreaterThan(3);
  expect(watch.state()).toEqual({ state: "failing" });
  works = true;
  await clock.advance(HOUR_MS);
  expect(watch.state()).toEqual({ state: "ok", detail: "1 session loses content soon" });
  watch.stop();
});

/** Retention of a home with two sessions, one of which is old enough. */
async function home({ interactive = false } = {}) {
  const cli = createInProcessCli();
  const old = (days: number) => new Date(cli.clock.now() - days * DAY_MS).toISOString();
  const dated = (days: number, words: string) =>
    [sessionStarted(), ...turnDrafts(1, "begin", words)].map((one) => ({ ...one, ts: old(days) }));
  await cli.putSession(FIRST, dated(31, "an old answer"));
  await cli.putSession(SECOND, dated(25, "a newer answer"));
  const said = { out: "", err: "" };
  const parts = { env: cli.env, cwd: cli.workspace, clock: cli.clock, terminal: { interactive } };
  const ports = quietCliPorts(said, parts);
  return { cli, said, ports: { ...ports, args: [], outward: createOutward(ports) } };
}

test("a portion takes what is old once a day, and names what follows within a week", async () => {
  const { cli, ports } = await home();
  const portion = () => retentionPortion(ports, { retention: {} }, { maxBatches: 4 });
  expect(await portion()).toEqual({
    kind: "done",
    expiredEvents: 3,
    expiring: [{ id: SECOND, title: "", expiresAt: expect.any(String) }],
  });
  expect((await cli.run("sessions", "show", FIRST)).out).not.toContain("an old answer");
  expect((await cli.run("sessions", "show", SECOND)).out).toContain("a newer answer");
  expect(await portion()).toEqual({ kind: "not-due" });
  await cli.clock.advance(DAY_MS);
  expect(await portion()).toMatchObject({ kind: "done", expiredEvents: 0 });
});

test("one that is not finished is due again at once", async () => {
  const { cli, ports } = await home();
  const old = new Date(cli.clock.now() - 40 * DAY_MS).toISOString();
  const text = { turn: turnId(1), step: 1, block: 0, text: "long ago" };
  await cli.putSession(
    SessionId.from("01ARZ3NDEKTSV4RRFFQ69G5FA3"),
    Array.from({ length: 1200 }, () => ({ ...draft("TextDelta", text), ts: old })),
  );
  const portion = (bound: PortionBound = { maxBatches: 2 }) => retentionPortion(ports, { retention: {} }, bound);
  expect(await portion(PORTION_BOUND)).toEqual({ kind: "unfinished", expiredEvents: 100 });
  expect(await portion()).toEqual({ kind: "unfinished", expiredEvents: 1000 });
  expect(await portion()).toEqual({ kind: "unfinished", expiredEvents: 103 });
  expect(await portion()).toMatchObject({ kind: "done", expiredEvents: 0 });
  expect(await portion()).toEqual({ kind: "not-due" });
});

test("a terminal names what goes soon once a day, also when a daemon has done the work", async () => {
  const { cli, said, ports } = await home({ interactive: true });
  await retentionPortion(ports, { retention: {} });
  await applyDailyRetention(ports, { retention: {} });
  expect(said.err).toBe(
    `1 session loses content this week: ${SECOND}. To keep it, run harness sessions pin or harness sessions export.\n`,
  );
  said.err = "";
  await applyDailyRetention(ports, { retention: {} });
  expect(said.err).toBe("");
  await cli.clock.advance(DAY_MS);
  await applyDailyRetention(ports, { retention: {} });
  expect(said.err).toContain(SECOND);
});
