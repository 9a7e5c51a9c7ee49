/** Schedules on a real disk: sealed, private, changed by one at a time, and readable after the key changes. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createSystemClock } from "#world";
import { createScheduleStore, intervalTimes, rekeySchedules, type Schedule } from "./index.ts";
import { MAX_SCHEDULES } from "./schedule-store.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const key = (byte: number) => Buffer.alloc(32, byte);
const clock = createSystemClock();

function opened(byte = 1, directory = join(mkdtempSync(join(tmpdir(), "schedules-")), "schedules")) {
  folders.push(join(directory, ".."));
  return { directory, store: createScheduleStore({ directory, key: () => key(byte), clock }) };
}

function made(name: string): Schedule {
  const totals = { claimed: 0, missed: 0, lost: 0 };
  const times = intervalTimes("5m");
  return { name, times, prompt: "hush", folder: "/f", createdMs: 5, decidedMs: 5, records: [], totals };
}

test("nobody reads a schedule without the key, and only its owner has the file", async () => {
  const { directory, store } = opened();
  await store.add(made("a"));
  const path = join(directory, "a.schedule");
  expect(readFileSync(path).includes("hush")).toBe(false);
  expect([statSync(path).mode & 0o777, statSync(directory).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(store.get("a")).toEqual(made("a"));
  expect(readdirSync(directory)).toEqual(["a.schedule"]);
});

test("a name is taken once, and has to be one", async () => {
  const { store } = opened();
  await store.add(made("a"));
  await expect(store.add(made("a"))).rejects.toThrow("there is already a schedule 'a'");
  for (const name of ["", "../a", "A", "a.b", "x".repeat(65)]) {
    await expect(store.add(made(name)), name).rejects.toThrow("is not a name");
  }
  expect(() => store.get("../a")).toThrow("there is no schedule");
  await store.remove("a");
  await expect(store.remove("a")).rejects.toThrow("there is no schedule 'a'");
});

test("their number is bounded", async () => {
  const { store } = opened();
  for (let count = 0; count < MAX_SCHEDULES; count++) await store.add(made(`s${count}`));
  await expect(store.add(made("more"))).rejects.toThrow("there are 100 schedules already");
});

test("a change counts for the schedule that it was meant for", async () => {
  const { store } = opened();
  await store.add(made("a"));
  const changed = await store.change(made("a"), (now) => ({ ...now, decidedMs: 9 }));
  expect([changed?.decidedMs, store.get("a").decidedMs]).toEqual([9, 9]);
  await store.remove("a");
  await store.add({ ...made("a"), createdMs: 7 });
  expect(await store.change(made("a"), (now) => ({ ...now, decidedMs: 11 }))).toBeUndefined();
  expect(store.get("a").decidedMs).toBe(5);
});

test("of changes at the same time none is lost", async () => {
  const { store, directory } = opened();
  const other = opened(1, directory).store;
  await store.add(made("a"));
  const count = async (by: typeof store) => by.change(made("a"), (now) => ({ ...now, decidedMs: now.decidedMs + 1 }));
  await Promise.all([store, other, store, other].map(count));
  expect(store.get("a").decidedMs).toBe(9);
  folders.pop();
});

test("an altered file is named and the others are listed; it can be removed", async () => {
  const { directory, store } = opened();
  await store.add(made("a"));
  await store.add(made("b"));
  const path = join(directory, "a.schedule");
  const bytes = readFileSync(path);
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  expect(store.list()).toEqual({ schedules: [made("b")], unreadable: ["a"] });
  expect(() => store.get("a")).toThrow("was altered, or sealed with another key");
  await store.remove("a");
  expect(store.list().unreadable).toEqual([]);
});

test("a new key opens what the old one sealed, and nothing else is touched", async () => {
  const { directory, store } = opened(1);
  await store.add(made("a"));
  const foreign = createScheduleStore({ directory, key: () => key(3), clock });
  await foreign.add(made("b"));
  expect(rekeySchedules({ directory, from: key(1), to: key(2) })).toBe(1);
  const next = createScheduleStore({ directory, key: () => key(2), clock });
  expect(next.list()).toEqual({ schedules: [made("a")], unreadable: ["b"] });
});
