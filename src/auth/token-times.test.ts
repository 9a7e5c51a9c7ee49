import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CLOCK_LEEWAY_SECONDS, type Claims, createTokenRecords, createTokenTimes } from "#auth";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { someClaims, tokenId } from "../../test/fakes/token-claims.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_SECONDS = 24 * 60 * 60;

function rig() {
  const state = mkdtempSync(join(tmpdir(), "harness-token-times-"));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const clock = createManualClock();
  const records = createTokenRecords(state);
  const times = createTokenTimes({ clock, records });
  const claimsFor = (seconds: number, n = 1): Claims => {
    const nbf = Math.floor(clock.now() / 1000);
    return someClaims({ jti: tokenId(n), nbf, exp: nbf + seconds });
  };
  return { clock, records, times, claimsFor };
}

test("a step within the leeway neither begins nor ends a token", () => {
  const { clock, times, claimsFor } = rig();
  const [young, old] = [claimsFor(DAY_SECONDS), claimsFor(3, 2)];
  clock.stepWall(-5_000);
  expect(times.phase(young)).toBe("valid");
  clock.stepWall(10_000);
  expect(times.phase(young)).toBe("valid");
  expect(times.phase(old)).toBe("expiring");
});

test("a small step is leeway, not a longer life: without one, a token ends to the millisecond", async () => {
  const { clock, times, claimsFor } = rig();
  const claims = claimsFor(1);
  await clock.advance(999);
  expect(times.phase(claims)).toBe("expiring");
  await clock.advance(1);
  expect(times.phase(claims)).toBe("draining");
});

test("a clock that is set back by an hour makes no token early that was in force, or was made on this machine", () => {
  const { clock, times, records, claimsFor } = rig();
  const [used, recorded, strange] = [claimsFor(DAY_SECONDS), claimsFor(DAY_SECONDS, 2), claimsFor(DAY_SECONDS, 3)];
  records.add(recorded, clock.now());
  expect(times.phase(used)).toBe("valid");
  clock.stepWall(-HOUR_MS);
  expect([used, recorded, strange].map((claims) => times.phase(claims))).toEqual(["valid", "valid", "early"]);
});

test("records that cannot be read make a token that would be early invalid", () => {
  const { clock, claimsFor } = rig();
  const broken = {
    has(): boolean {
      throw new Error("EIO");
    },
  };
  const claims = claimsFor(DAY_SECONDS);
  clock.stepWall(-HOUR_MS);
  expect(() => createTokenTimes({ clock, records: broken }).phase(claims)).toThrow(/made here.*EIO/);
});

test("a token that ended while the machine was suspended has ended", () => {
  const { clock, times, claimsFor } = rig();
  const [day, week] = [claimsFor(DAY_SECONDS), claimsFor(7 * DAY_SECONDS, 2)];
  expect([day, week].map((claims) => times.phase(claims))).toEqual(["valid", "valid"]);
  clock.stepWall(25 * HOUR_MS);
  expect([day, week].map((claims) => times.phase(claims))).toEqual(["expired", "valid"]);
  // A step that was taken back ends nothing for good.
  clock.stepWall(-25 * HOUR_MS);
  expect(times.phase(day)).toBe("valid");
});

test("a clock that is set back prolongs no token beyond its duration since it was first used", async () => {
  const { clock, times, claimsFor } = rig();
  const claims = claimsFor(DAY_SECONDS);
  await clock.advance(HOUR_MS);
  expect(times.phase(claims)).toBe("valid");
  clock.stepWall(-20 * HOUR_MS);
  await clock.advance(24 * HOUR_MS - 1);
  expect(times.phase(claims)).toBe("expiring");
  await clock.advance(1);
  expect(times.phase(claims)).toBe("draining");
});

test("the token of this run lasts for its duration on the monotonic clock alone", async () => {
  const { clock, times, claimsFor } = rig();
  const claims = claimsFor(DAY_SECONDS);
  times.ownRun(claims);
  for (const stepMs of [-HOUR_MS, 26 * HOUR_MS, 1000 * HOUR_MS, -3000 * HOUR_MS]) {
    clock.stepWall(stepMs);
    expect(times.phase(claims)).toBe("valid");
  }
  await clock.advance(DAY_SECONDS * 1000);
  expect(times.phase(claims)).toBe("draining");
  times.forgetRun(claims.jti);
  expect(times.phase(claims)).toBe("early");
});

test("the leeway covers a correction of five seconds, and is no hole", () => {
  expect(CLOCK_LEEWAY_SECONDS).toBeGreaterThan(5);
  expect(CLOCK_LEEWAY_SECONDS).toBeLessThanOrEqual(60);
});
