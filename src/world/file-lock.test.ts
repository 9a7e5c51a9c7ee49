/** One holder at a time, whoever died, comes from another machine or left a strange file behind. */
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { type FileLock, type LockRival, tryFileLock } from "./file-lock.ts";
import { LEASE_MS } from "./lease.ts";

const clock = createManualClock();

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "harness-lock-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function held(lock: FileLock | LockRival): FileLock {
  if ("heldBy" in lock) throw new Error(`held by ${lock.heldBy}`);
  return lock;
}

test("a second one waits until the first has let go, and nothing stays behind", () => {
  const path = join(folder(), "lock");
  const first = held(tryFileLock(path, clock));
  expect(tryFileLock(path, clock)).toMatchObject({ isSettled: true });
  expect("release" in tryFileLock(join(path, "..", "other"), clock)).toBe(true);
  first.release();
  expect(first.check).toThrow(/ENOENT/);
  held(tryFileLock(path, clock)).release();
  expect(readdirSync(join(path, "..")).filter((name) => name.startsWith("lock"))).toEqual([]);
});

test("of a process that died, or with the id of one that did, nothing counts", () => {
  const path = join(folder(), "lock");
  for (const owner of [`${hostname()}:999999999:1:aa`, `${hostname()}:${process.pid}:1:bb`])
    writeFileSync(`${path}.${encodeURIComponent(owner)}`, "");
  held(tryFileLock(path, clock)).release();
  expect(readdirSync(join(path, ".."))).toEqual([]);
});

test.each(["elsewhere:1:2:aa", "%zz"])("%s of another machine counts as long as its lease", (owner) => {
  const path = join(folder(), "lock");
  const file = `${path}.${owner.replaceAll(":", "%3A")}`;
  writeFileSync(file, "");
  utimesSync(file, clock.now() / 1000, clock.now() / 1000);
  expect(tryFileLock(path, clock)).toMatchObject({ heldBy: owner, isSettled: false });
  utimesSync(file, (clock.now() - LEASE_MS) / 1000, (clock.now() - LEASE_MS) / 1000);
  held(tryFileLock(path, clock)).release();
});
