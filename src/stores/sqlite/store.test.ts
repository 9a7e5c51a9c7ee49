import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type Database from "better-sqlite3-multiple-ciphers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../../test/fakes/manual-clock.ts";
import { append, killWriter, NOW, newSession, sessionId, TEST_KEY, textDraft } from "../../../test/store-suite.ts";
import { LEASE_MS } from "../lease.ts";
import { openDatabase } from "./driver.ts";
import { APPLICATION_ID, migrations } from "./migrations.ts";
import { createSqliteStore, openSqliteStore } from "./store.ts";

const clock = createManualClock();
const key = TEST_KEY;
let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "harness-sqlite-"));
  path = join(directory, "data", "sessions.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

const open = () => openSqliteStore({ path, clock, key });

describe("the file", () => {
  it("is private, and so are its folder and its log", async () => {
    const store = await open();
    await store.create(newSession(1));
    const mode = (name: string) => statSync(name).mode & 0o777;
    expect([join(directory, "data"), path, `${path}-wal`].map(mode)).toEqual([0o700, 0o600, 0o600]);
    await store.close();
  });

  it("is in WAL mode and syncs every commit, also when opened again", () => {
    for (let i = 0; i < 2; i++) {
      const db = openDatabase({ path, clock, key });
      const pragma = (name: string) => db.pragma(name, { simple: true });
      expect([pragma("journal_mode"), pragma("synchronous"), pragma("busy_timeout")]).toEqual(["wal", 2, 5000]);
      db.close();
    }
  });

  it("writes each migration to the ledger once", () => {
    openDatabase({ path, clock, key }).close();
    const db = openDatabase({ path, clock, key });
    expect(db.prepare("SELECT * FROM schema_migrations").all()).toEqual(
      migrations.map(({ version, sha256 }) => ({ version, applied_at: "2026-01-01T00:00:00.000Z", sha256 })),
    );
    db.close();
  });

  it("tells when it is brought to this version, and not when it is new or current", () => {
    const upgrades: string[] = [];
    const opened = () => openDatabase({ path, clock, key, onUpgrade: () => void upgrades.push(path) });
    opened().close();
    expect(upgrades).toEqual([]);
    const db = opened();
    db.exec("DROP TABLE snapshot_pieces; DROP TABLE snapshots; DELETE FROM schema_migrations WHERE version >= 3");
    db.close();
    opened().close();
    opened().close();
    expect(upgrades).toEqual([path]);
  });

  it("reads events whose evidence has the form of the first schema, and does not continue them", async () => {
    const before = await open();
    await before.create(newSession(1));
    await append(before, sessionId(1), [textDraft("a")], NOW);
    await before.close();
    const db = openDatabase({ path, clock, key });
    db.exec("UPDATE events SET link = unhex(hex(link) || '01')");
    db.close();
    const after = await open();
    expect(await after.read(sessionId(1), { after: 0, limit: 10 })).toHaveLength(1);
    await expect(append(after, sessionId(1), [textDraft("b")], NOW)).rejects.toMatchObject({ reason: "LogCorrupt" });
    await after.close();
  });

  it("keeps its events when closed and opened again", async () => {
    const before = await open();
    await before.create(newSession(1));
    await append(before, sessionId(1), [textDraft("a"), textDraft("b")], NOW);
    const written = await before.read(sessionId(1), { after: 0, limit: 10 });
    await before.close();
    const after = await open();
    expect(await after.read(sessionId(1), { after: 0, limit: 10 })).toEqual(written);
    expect(await append(after, sessionId(1), [textDraft("c")], NOW)).toBe(3);
    await after.close();
  });

  it("finds an event by session and id through the index", () => {
    const db = openDatabase({ path, clock, key });
    const plan = db
      .prepare("EXPLAIN QUERY PLAN SELECT kind FROM events WHERE session = 1 AND id > 5 ORDER BY id")
      .all();
    expect(plan).toMatchObject([{ detail: "SEARCH events USING INDEX events_since (session=? AND id>?)" }]);
    db.close();
  });
});

describe("a file that cannot be used", () => {
  const expectRefusal = async (message: RegExp, reason = "ConfigInvalid"): Promise<void> => {
    const before = readFileSync(path);
    await expect(open()).rejects.toMatchObject({ reason, message: expect.stringContaining(path) });
    await expect(open()).rejects.toThrow(message);
    expect(readFileSync(path).equals(before)).toBe(true);
  };

  it("is refused when it is no database", async () => {
    path = join(directory, "notes.txt");
    writeFileSync(path, "dear diary");
    await expectRefusal(/not a session log/);
    writeFileSync(path, "dear diary ".repeat(1000));
    await expectRefusal(/not a session log/);
  });

  it("is refused when it is another program's database", async () => {
    path = join(directory, "other.db");
    const Driver = createRequire(import.meta.url)("better-sqlite3-multiple-ciphers") as typeof Database;
    new Driver(path).exec("CREATE TABLE theirs (x)").close();
    await expectRefusal(/belongs to another program/);
  });

  it("is refused when it is our own from before encryption", async () => {
    mkdirSync(join(directory, "data"));
    const Driver = createRequire(import.meta.url)("better-sqlite3-multiple-ciphers") as typeof Database;
    new Driver(path).exec(`PRAGMA application_id = ${APPLICATION_ID}; CREATE TABLE sessions (x)`).close();
    await expectRefusal(/it is not encrypted/);
  });

  it("is refused when its key opens it but another program wrote it", async () => {
    const db = openDatabase({ path, clock, key });
    db.exec("PRAGMA application_id = 5");
    db.close();
    await expectRefusal(/belongs to another program/);
  });

  it("is refused when it is damaged", async () => {
    const store = await open();
    await store.create(newSession(1));
    await store.close();
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 4096);
    writeFileSync(path, bytes);
    await expectRefusal(/damaged: .*malformed.*doctor/, "LogCorrupt");
    bytes.fill(0xa5, 100, 4096);
    writeFileSync(path, bytes);
    await expectRefusal(/start of the file is damaged/, "KeyInvalid");
  });

  it("is refused when a newer version wrote it", async () => {
    const db = openDatabase({ path, clock, key });
    db.exec("INSERT INTO schema_migrations VALUES (99, 'later', 'abc')");
    db.close();
    await expectRefusal(/schema has version 99, but this version of Harness only knows \d+; use a newer version/);
  });

  it("is refused when its schema is not ours", async () => {
    const db = openDatabase({ path, clock, key });
    db.exec("UPDATE schema_migrations SET sha256 = 'other'");
    db.close();
    await expectRefusal(/schema version 1 is not the one/);
  });

  it("is refused when a folder stands in its place", async () => {
    path = directory;
    await expect(open()).rejects.toMatchObject({ reason: "ConfigInvalid", message: expect.stringContaining(path) });
  });
});

describe("a failing disk", () => {
  it("rejects the append when it is full, keeps what was there, and goes on when there is room", async () => {
    const db = openDatabase({ path, clock, key });
    const store = createSqliteStore(db, clock);
    await store.create(newSession(1));
    await append(store, sessionId(1), [textDraft("a")], NOW);
    db.pragma(`max_page_count = ${db.pragma("page_count", { simple: true })}`);
    const drafts = [textDraft("small"), textDraft("b".repeat(100_000))];
    await expect(append(store, sessionId(1), drafts, NOW)).rejects.toMatchObject({
      reason: "StoreFailed",
      message: expect.stringContaining(path),
      cause: { code: "SQLITE_FULL" },
    });
    db.pragma("max_page_count = 100000");
    expect(await append(store, sessionId(1), [textDraft("c")], NOW)).toBe(2);
    expect(await store.read(sessionId(1), { after: 0, limit: 9 })).toHaveLength(2);
    await store.close();
  });

  it("rejects writes with the cause when it is read-only", async () => {
    const db = openDatabase({ path, clock, key });
    const store = createSqliteStore(db, clock);
    await store.create(newSession(1));
    db.pragma("query_only = ON");
    const refused = { reason: "StoreFailed", cause: { code: "SQLITE_READONLY" } };
    await expect(append(store, sessionId(1), [textDraft("a")], NOW)).rejects.toMatchObject(refused);
    await expect(store.create(newSession(2))).rejects.toMatchObject(refused);
    expect(await store.get(sessionId(1))).toMatchObject({ lastEventId: 0 });
    await store.close();
  });

  it("names the file when an event cannot be read", async () => {
    const db = openDatabase({ path, clock, key });
    const store = createSqliteStore(db, clock);
    await store.create(newSession(1));
    db.exec("INSERT INTO events VALUES (1, 1, 'TextDelta', 'x', NULL, '{broken', NULL)");
    await expect(store.read(sessionId(1), { after: 0, limit: 1 })).rejects.toThrow(path);
    await store.close();
  });
});

describe("several processes", () => {
  it("have one writer for each session, and the lease of a dead one is taken over", async () => {
    const ours = await open();
    const theirs = await open();
    await ours.create(newSession(1));
    const log = await ours.acquire(sessionId(1));
    await expect(theirs.acquire(sessionId(1))).rejects.toMatchObject({ reason: "SessionBusy" });
    await expect(theirs.delete(sessionId(1))).rejects.toMatchObject({ reason: "SessionBusy" });
    await log.append([textDraft("ours 1")], NOW);
    await log.release();
    expect(await append(theirs, sessionId(1), [textDraft("theirs 2")], NOW)).toBe(2);
    const child = startChild(`const store = await openSqliteStore({ path, clock, key });
      await store.acquire(${JSON.stringify(sessionId(1))});
      writeSync(1, "have it");
      setInterval(() => undefined, 1000);`);
    for await (const _ of child.stdout ?? []) break;
    await expect(ours.acquire(sessionId(1))).rejects.toMatchObject({ reason: "SessionBusy" });
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await append(ours, sessionId(1), [textDraft("ours 3")], NOW)).toBe(3);
    await ours.close();
    await theirs.close();
  });

  it("tell a writer whose lease another machine took over", async () => {
    const late = createManualClock();
    const db = openDatabase({ path, clock: late, key });
    const store = createSqliteStore(db, late);
    await store.create(newSession(1));
    const log = await store.acquire(sessionId(1));
    await log.append([textDraft("ours")], NOW);
    late.stepWall(LEASE_MS + 1);
    db.prepare("UPDATE sessions SET owner = 'elsewhere:1::0', owner_until = ?").run(late.now() + LEASE_MS);
    await expect(log.append([textDraft("too late")], NOW)).rejects.toMatchObject({ reason: "StoreFailed" });
    expect(await store.get(sessionId(1))).toMatchObject({ lastEventId: 1 });
    await log.release();
    expect(db.prepare("SELECT owner FROM sessions").pluck().get()).toBe("elsewhere:1::0");
    await store.close();
  });

  it("keep their locks when one of them opens the log a second time", async () => {
    const ours = await open();
    await ours.create(newSession(1));
    await (await open()).close();
    // Nobody has a session open, so that only the lock on the file stands in the way of a new key.
    const child =
      startChild(`import { rekeyStore } from ${JSON.stringify(new URL("../rekey.ts", import.meta.url).href)};
      const to = { bytes: Buffer.alloc(32, 8), source: "" };
      try { rekeyStore({ path, from: key, to, clock }) } catch (error) { writeSync(1, error.reason) }`);
    let told = "";
    for await (const chunk of child.stdout ?? []) told += chunk;
    expect(told).toBe("NotAllowed");
    expect(await append(ours, sessionId(1), [textDraft("after")], NOW)).toBe(1);
    await ours.close();
    const later = await open();
    expect(await later.read(sessionId(1), { after: 0, limit: 9 })).toHaveLength(1);
    await later.close();
  });

  it("create one log together", async () => {
    const children = [1, 2, 3, 4].map((n) =>
      startChild(`const store = await openSqliteStore({ path, clock, key });
        await store.create({ id: ${JSON.stringify(sessionId(n))}, workingDir: "/w", profile: "p", model: "m", createdAt: ${JSON.stringify(NOW)} });`),
    );
    const exits = await Promise.all(children.map((child) => once(child, "exit")));
    expect(exits.map(([code]) => code)).toEqual([0, 0, 0, 0]);
    const store = await open();
    expect(await store.list({ limit: 9 })).toHaveLength(4);
    await store.close();
  });

  it("lose nothing that was acknowledged when one is killed", () =>
    killWriter(open, (body) => startChild(`const store = await openSqliteStore({ path, clock, key });\n${body}`)));
});

/** Runs `body` in a process of its own with the store at hand. */
function startChild(body: string): ChildProcess {
  const script = `import { writeSync } from "node:fs";
    import { openSqliteStore } from ${JSON.stringify(new URL("./store.ts", import.meta.url).href)};
    const path = ${JSON.stringify(path)};
    const clock = { now: () => 0 };
    const key = { bytes: Buffer.alloc(32, 7), source: "the test" };
    ${body}`;
  const args = ["--input-type=module", "--eval", script];
  return spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
  });
}
