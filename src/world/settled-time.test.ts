import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { LEAP_SETTLES_MS, type SettledState, settle, settledTime } from "./settled-time.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** A machine whose clocks a test moves, and what is settled at each look. In hours since it was first looked at. */
function machine() {
  let state: SettledState | undefined;
  let [wall, up, boot] = [1000, 5, 1];
  const look = (): number => {
    state = settle(state, { wallMs: wall * HOUR_MS, uptimeMs: up * HOUR_MS, boot: `boot ${boot}` });
    return state.settledMs / HOUR_MS - 1000;
  };
  look();
  return {
    look,
    pass(hours: number) {
      wall += hours;
      up += hours;
    },
    step(hours: number) {
      wall += hours;
    },
    /** Off for a while; up for none yet. */
    restart(offHours: number) {
      wall += offHours;
      up = 0;
      boot += 1;
    },
  };
}

test("time that passes counts, also while the machine sleeps", () => {
  const { look, pass } = machine();
  pass(1);
  expect(look()).toBe(1);
  pass(1000);
  expect(look()).toBe(1001);
});

test.each([25, 24 * 365])("a leap of %i hours that is taken back never counts", (leap) => {
  const { look, pass, step } = machine();
  pass(1);
  step(leap);
  expect(look()).toBe(1);
  pass(6);
  expect(look()).toBe(7);
  step(-leap);
  pass(30);
  expect(look()).toBe(37);
});

test("a leap counts once the machine has been up with it for a while", () => {
  const { look, pass, step } = machine();
  step(25);
  expect(look()).toBe(0);
  pass(LEAP_SETTLES_MS / HOUR_MS - 1);
  expect(look()).toBe(LEAP_SETTLES_MS / HOUR_MS - 1);
  pass(1);
  expect(look()).toBe(LEAP_SETTLES_MS / HOUR_MS + 25);
});

test("leaps that follow each other do not vouch for each other", () => {
  const { look, pass, step } = machine();
  for (let n = 0; n < 10; n++) {
    step(25);
    pass(1);
    expect(look()).toBe(n + 1);
  }
  pass(12);
  // The first has stood for long enough, the others were seen later.
  expect(look()).toBe(22 + 25);
});

test("the time while a machine was off counts after it has been up again for a while, in several goes if need be", () => {
  const { look, pass, restart } = machine();
  restart(100);
  expect(look()).toBe(0);
  pass(8);
  expect(look()).toBe(8);
  restart(16);
  expect(look()).toBe(8);
  pass(8);
  expect(look()).toBe(16 + 100);
});

test("a machine that is never up for long is believed after some restarts", () => {
  const { look, restart } = machine();
  const days = Array.from({ length: 14 }, () => {
    restart(24);
    return look() / 24;
  });
  expect(days).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 7, 7]);
});

test("a clock that is set back is followed at once", () => {
  const { look, pass, step } = machine();
  pass(10);
  step(-3);
  expect(look()).toBe(7);
});

test("is kept in a private file, and begins anew with one that is damaged", () => {
  const folder = mkdtempSync(join(tmpdir(), "harness-settled-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "settled-time");
  const clock = createManualClock();
  const startMs = clock.now();
  expect(settledTime(file, clock)).toBe(startMs);
  clock.stepWall(40 * DAY_MS);
  expect(settledTime(file, clock)).toBe(startMs);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ leapStoodMs: 0, boot: expect.any(String) });
  writeFileSync(file, "{");
  expect(settledTime(file, clock)).toBe(clock.now());
});
