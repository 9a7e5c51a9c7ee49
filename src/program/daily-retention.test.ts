/** Retention on a clock that leaps: what is deleted does not come back when the clock does. */
import { mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TurnId } from "#protocol";
import { harnessPaths, machineKey, openSqliteStore } from "#stores";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { quietCliPorts } from "../../test/fakes/quiet-cli-ports.ts";
import { append, newSession, sessionId } from "../../test/store-suite.ts";
import { createOutward } from "../cli/outward.ts";
import { expireCommand } from "../cli/sessions-care.ts";
import { applyDailyRetention } from "./daily-retention.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const turn = TurnId.from("0".repeat(26));

/** A session whose content is old enough to go in half a day. */
async function rig() {
  const home = mkdtempSync(join(tmpdir(), "harness-daily-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const env = { HOME: home };
  const clock = createManualClock();
  const said = { out: "", err: "" };
  const outward = createOutward({ env, cwd: home, clock });
  const ports = { ...quietCliPorts(said, { cwd: home, env, clock }), args: [], outward };
  const { sessionsDb, stateDir } = harnessPaths(env);
  const open = () => openSqliteStore({ path: sessionsDb, key: machineKey(env), clock });
  const ts = new Date(clock.now() - 29.5 * DAY_MS).toISOString();
  const store = await open();
  await store.create(newSession(1));
  const payload = { turn, step: 1, block: 0, text: "kept" };
  await append(store, sessionId(1), [{ kind: "TextDelta", ts, payload }], ts);
  await store.close();
  return {
    clock,
    said,
    ports,
    async run(): Promise<string> {
      await applyDailyRetention(ports, { retention: {} });
      expect(said.err).toBe("");
      // The mark has the time of the kernel, and the next look is to be due.
      utimesSync(join(stateDir, "retention"), 0, 0);
      const opened = await open();
      const [event] = await opened.read(sessionId(1), { after: 0, limit: 1 });
      await opened.close();
      return String(Reflect.get(event?.payload ?? {}, "text"));
    },
  };
}

test("a leap of a day, or of a year, that is taken back deletes nothing; time that passes does", async () => {
  const { clock, run } = await rig();
  expect(await run()).toBe("kept");
  for (const leapMs of [25 * HOUR_MS, 365 * DAY_MS]) {
    clock.stepWall(leapMs);
    expect(await run()).toBe("kept");
    await clock.advance(HOUR_MS);
    expect(await run()).toBe("kept");
    clock.stepWall(-leapMs);
    expect(await run()).toBe("kept");
  }
  await clock.advance(11 * HOUR_MS);
  expect(await run()).not.toBe("kept");
});

test("a leap that stays counts after half a day", async () => {
  const { clock, run } = await rig();
  expect(await run()).toBe("kept");
  clock.stepWall(25 * HOUR_MS);
  expect(await run()).toBe("kept");
  await clock.advance(11 * HOUR_MS);
  expect(await run()).toBe("kept");
  await clock.advance(HOUR_MS);
  expect(await run()).not.toBe("kept");
});

test("by hand it is the same, and the person is told", async () => {
  const { clock, said, ports, run } = await rig();
  expect(await run()).toBe("kept");
  clock.stepWall(25 * HOUR_MS);
  expect(await expireCommand(ports, { settings: {} })).toBe(0);
  expect(said.out).toContain("0 events lost content");
  expect(said.err).toMatch(
    /The clock has jumped to 2026-01-02T01:00; by the time that has really passed it is 2026-01-01T00:00/,
  );
});
