/** What lies on the disk cannot be read without the key, whatever state the files are in. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { append, NOW, newSession, sessionId, TEST_KEY, textDraft } from "../../test/store-suite.ts";
import { createKeyFiles } from "./key-files.ts";
import type { MachineKey } from "./machine-key.ts";
import { rekeyStore, rotateKeyFile } from "./rekey.ts";
import { openSqliteStore } from "./sqlite/store.ts";

const clock = createManualClock();
const OTHER_KEY: MachineKey = { bytes: Buffer.alloc(32, 8), source: "the other test" };
const CANARY = "canary-in-the-mine";
let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "harness-encryption-"));
  path = join(directory, "sessions.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

const open = (key = TEST_KEY) => openSqliteStore({ path, clock, key });
const canaries = (n: number) => Array.from({ length: n }, () => textDraft(CANARY.repeat(100)));

/** Files in the folder that show something of what was written. */
function readable(): string[] {
  return readdirSync(directory).filter((name) => {
    const bytes = readFileSync(join(directory, name));
    return [CANARY, "TextDelta", "CREATE TABLE", "SQLite format", sessionId(1)].some((text) => bytes.includes(text));
  });
}

async function fill(events: number): Promise<void> {
  const store = await open();
  await store.create(newSession(1, { workingDir: `/${CANARY}` }));
  await append(store, sessionId(1), canaries(events), NOW);
  await store.close();
}

/** A process that has written and not closed, killed at its word. */
async function writeAndDie(): Promise<void> {
  const script = `
    import { openSqliteStore } from ${JSON.stringify(new URL("./sqlite/store.ts", import.meta.url).href)};
    const key = { bytes: Buffer.alloc(32, 7), source: "the test" };
    const store = await openSqliteStore({ path: ${JSON.stringify(path)}, clock: { now: () => 0 }, key });
    await store.create(${JSON.stringify(newSession(1))});
    const log = await store.acquire(${JSON.stringify(sessionId(1))});
    await log.append(${JSON.stringify(canaries(20))}, ${JSON.stringify(NOW)});
    process.kill(process.pid, "SIGKILL");`;
  await once(spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: "inherit" }), "exit");
}

describe("the files", () => {
  it("show nothing while open, after closing and after a kill", async () => {
    const store = await open();
    await store.create(newSession(1));
    await append(store, sessionId(1), canaries(50), NOW);
    expect(readdirSync(directory).sort()).toEqual(["sessions.db", "sessions.db-shm", "sessions.db-wal"]);
    expect(readable()).toEqual([]);
    await store.close();
    expect(readable()).toEqual([]);
    rmSync(path);
    await writeAndDie();
    expect(readdirSync(directory)).toContain("sessions.db-wal");
    expect(readable()).toEqual([]);
  });

  it("are left as they are by a wrong key, which is told with the file and where the key came from", async () => {
    await fill(5);
    const before = readFileSync(path);
    const refused = {
      reason: "KeyInvalid",
      message: expect.stringMatching(`${path}.*the other test.*did not change it`),
    };
    await expect(open(OTHER_KEY)).rejects.toMatchObject(refused);
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(directory)).toEqual(["sessions.db"]);
  });

  it("keep the log of a killed process when a wrong key comes first", async () => {
    await writeAndDie();
    const before = [path, `${path}-wal`].map((file) => readFileSync(file));
    await expect(open(OTHER_KEY)).rejects.toMatchObject({ reason: "KeyInvalid" });
    expect([path, `${path}-wal`].map((file) => readFileSync(file))).toEqual(before);
    const store = await open();
    expect(await store.read(sessionId(1), { after: 0, limit: 100 })).toHaveLength(20);
    await store.close();
  });

  it("lose only the tail when the write-ahead log was cut", async () => {
    await writeAndDie();
    const whole = readFileSync(`${path}-wal`);
    for (const length of [0, 10, 1000, Math.floor(whole.length / 2), whole.length - 1]) {
      const copy = join(directory, `cut-${length}.db`);
      copyFileSync(path, copy);
      writeFileSync(`${copy}-wal`, whole.subarray(0, length));
      const store = await openSqliteStore({ path: copy, clock, key: TEST_KEY });
      const sessions = await store.list({ limit: 9 });
      expect(sessions.length).toBeLessThanOrEqual(1);
      expect([0, 20]).toContain(sessions[0]?.lastEventId ?? 0);
      await store.close();
    }
  });
});

describe("rekeyStore", () => {
  const rekey = () => rekeyStore({ path, from: TEST_KEY, to: OTHER_KEY, clock });

  it("moves the log to the new key, with everything in it", async () => {
    await fill(200);
    rekey();
    await expect(open()).rejects.toMatchObject({ reason: "KeyInvalid" });
    const store = await open(OTHER_KEY);
    expect(await store.read(sessionId(1), { after: 0, limit: 1000 })).toHaveLength(200);
    expect(await append(store, sessionId(1), canaries(1), NOW)).toBe(201);
    await store.close();
    expect(readable()).toEqual([]);
  });

  it("is refused while a session is open, and changes nothing", async () => {
    await fill(5);
    const store = await open();
    const log = await store.acquire(sessionId(1));
    expect(rekey).toThrow(expect.objectContaining({ reason: "SessionBusy" }));
    await log.append(canaries(1), NOW);
    await log.release();
    await store.close();
    rekey();
  });

  it("is refused with a wrong key and without a log", async () => {
    expect(rekey).toThrow(expect.objectContaining({ reason: "ConfigInvalid" }));
    expect(existsSync(path)).toBe(false);
    await fill(5);
    expect(() => rekeyStore({ path, from: OTHER_KEY, to: TEST_KEY, clock })).toThrow(
      expect.objectContaining({ reason: "KeyInvalid" }),
    );
  });

  it("leaves one of the two keys working when it is killed in the middle", async () => {
    await fill(3000);
    const original = join(directory, "original");
    copyFileSync(path, original);
    const script = `
      import { writeSync } from "node:fs";
      import { rekeyStore } from ${JSON.stringify(new URL("./rekey.ts", import.meta.url).href)};
      const key = (n) => ({ bytes: Buffer.alloc(32, n), source: "" });
      writeSync(1, "go");
      rekeyStore({ path: ${JSON.stringify(path)}, from: key(7), to: key(8), clock: { now: () => 0 } });`;
    for (let round = 0; round < 6; round++) {
      for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
      copyFileSync(original, path);
      const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const exit = once(child, "exit");
      await once(child.stdout, "data");
      // The journal tells that pages are being rewritten; a little work later each round.
      for (let spins = 0; !existsSync(`${path}-journal`) && child.exitCode === null && spins < 1e5; spins++) {
        await new Promise((resume) => setImmediate(resume));
      }
      for (let spins = 0; spins < round * 40; spins++) await new Promise((resume) => setImmediate(resume));
      child.kill("SIGKILL");
      await exit;
      const works = [];
      for (const key of round % 2 === 0 ? [OTHER_KEY, TEST_KEY] : [TEST_KEY, OTHER_KEY]) {
        const store = await open(key).catch(() => undefined);
        if (store === undefined) continue;
        works.push((await store.read(sessionId(1), { after: 0, limit: 10_000 })).length);
        await store.close();
      }
      expect(works).toEqual([3000]);
    }
  });
});

describe("rotateKeyFile", () => {
  const files = () => createKeyFiles(join(directory, "config"));
  const current = (): MachineKey => ({ ...files().readOrCreate("machine.key", 32), source: "file" });
  const fillWith = async (key: MachineKey): Promise<void> => {
    const store = await open(key);
    await store.create(newSession(1));
    await store.close();
  };

  it("makes a new key, moves the log to it and leaves one key file", async () => {
    const before = current();
    await fillWith(before);
    const after = rotateKeyFile({ path, files: files(), clock });
    expect(after.bytes).not.toEqual(before.bytes);
    expect(current().bytes).toEqual(after.bytes);
    expect(readdirSync(join(directory, "config"))).toEqual(["machine.key"]);
    await (await open(after)).close();
    await expect(open(before)).rejects.toMatchObject({ reason: "KeyInvalid" });
  });

  it.each(["before", "after"])("finishes when it was interrupted %s the log was rewritten", async (when) => {
    const before = current();
    await fillWith(before);
    const next = { ...files().readOrCreate("machine.key.next", 32), source: "next" };
    if (when === "after") rekeyStore({ path, from: before, to: next, clock });
    expect(rotateKeyFile({ path, files: files(), clock }).bytes).toEqual(next.bytes);
    expect(readdirSync(join(directory, "config"))).toEqual(["machine.key"]);
    await (await open(next)).close();
  });

  it("moves what else is under the key: written before the log is touched, the old let go after", async () => {
    const before = current();
    await fillWith(before);
    const said: string[] = [];
    const also = (from: MachineKey, to: MachineKey) => {
      said.push(from.bytes.equals(before.bytes) && !to.bytes.equals(before.bytes) ? "write" : "wrong keys");
      return { finish: () => void said.push("finish"), abandon: () => void said.push("abandon") };
    };
    const store = await open(before);
    const log = await store.acquire(sessionId(1));
    expect(() => rotateKeyFile({ path, files: files(), clock, also })).toThrow(/is open in another process/);
    expect(said.splice(0)).toEqual(["write", "abandon"]);
    await log.release();
    await store.close();
    const full = () => {
      throw new Error("the disk is full");
    };
    expect(() => rotateKeyFile({ path, files: files(), clock, also: full })).toThrow("the disk is full");
    expect(readdirSync(join(directory, "config"))).toEqual(["machine.key"]);
    await (await open(before)).close();
    rotateKeyFile({ path, files: files(), clock, also });
    expect(said).toEqual(["write", "finish"]);
  });

  it("leaves the old key in place when it is refused", async () => {
    const before = current();
    await fillWith(before);
    const store = await open(before);
    await store.acquire(sessionId(1));
    expect(() => rotateKeyFile({ path, files: files(), clock })).toThrow(
      expect.objectContaining({ reason: "SessionBusy" }),
    );
    await store.close();
    expect(current().bytes).toEqual(before.bytes);
    expect(readdirSync(join(directory, "config"))).toEqual(["machine.key"]);
  });
});
