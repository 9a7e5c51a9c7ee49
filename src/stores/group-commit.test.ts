/** Writes of several sessions share a transaction, and nothing else. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { NOW, newSession, sessionId, TEST_KEY, textDraft } from "../../test/store-suite.ts";
import { createGroupCommit, type GroupedWrite } from "./group-commit.ts";
import { openDatabase, type SqliteDatabase, writeGroups } from "./sqlite/driver.ts";
import { openSqliteStore } from "./sqlite/store.ts";

const options = { clock: createManualClock(), key: TEST_KEY };
let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "harness-group-"));
  path = join(directory, "sessions.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

function rig(): { db: SqliteDatabase; told: string[]; add: (name: string) => () => GroupedWrite<string> } {
  const db = openDatabase({ path, ...options });
  db.exec("CREATE TABLE IF NOT EXISTS names (name TEXT UNIQUE)");
  const told: string[] = [];
  const insert = db.transaction((name: string) => {
    db.prepare("INSERT INTO names VALUES (?)").run(name);
    if (name.startsWith("bad")) throw new Error(name);
  });
  const add = (name: string) => () => {
    insert(name);
    return {
      value: name,
      committed: () => void told.push(`${name} is there`),
      rolledBack: () => void told.push(`${name} is gone`),
    };
  };
  return { db, told, add };
}

const names = (db: SqliteDatabase): unknown[] => db.prepare("SELECT name FROM names").pluck().all();

it("writes at once what is alone, and together what comes together", async () => {
  const { db, add } = rig();
  const other = openDatabase({ path, ...options });
  const group = createGroupCommit(writeGroups(db));
  const first = group.run(add("alone"), true);
  expect(names(other)).toEqual(["alone"]);
  let seenByOthers: unknown[] = [];
  const last = () => {
    seenByOthers = names(other);
    return add("c")();
  };
  const together = [group.run(add("a"), false), group.run(add("b"), false), group.run(last, false)];
  expect(await Promise.all([first, ...together])).toEqual(["alone", "a", "b", "c"]);
  expect(seenByOthers).toEqual(["alone"]);
  expect(names(other)).toEqual(["alone", "a", "b", "c"]);
  other.close();
  db.close();
});

it("lets a write fail by itself", async () => {
  const { db, told, add } = rig();
  const group = createGroupCommit(writeGroups(db));
  const results = await Promise.allSettled(["a", "bad", "b"].map(async (name) => group.run(add(name), false)));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(names(db)).toEqual(["a", "b"]);
  expect(told).toEqual(["a is there", "b is there"]);
  db.close();
});

it("takes all back when the transaction fails", async () => {
  const { db, told, add } = rig();
  const group = createGroupCommit(writeGroups(db));
  const breaks = (): never => {
    db.exec("ROLLBACK");
    throw new Error("the disk is full");
  };
  const results = await Promise.allSettled(
    [add("a"), add("b"), breaks, add("c")].map(async (write) => group.run(write, false)),
  );
  expect(results.map((result) => result.status === "rejected" && String(result.reason))).toEqual(
    Array.from({ length: 4 }, () => "Error: the disk is full"),
  );
  expect(names(db)).toEqual([]);
  expect(told).toEqual(["b is gone", "a is gone"]);
  db.close();
});

it("keeps the order of each log when many append at the same time, also when it is closed meanwhile", async () => {
  const store = await openSqliteStore({ path, ...options });
  const sessions = [1, 2, 3, 4, 5].map(sessionId);
  for (const n of [1, 2, 3, 4, 5]) await store.create(newSession(n));
  const logs = await Promise.all(sessions.map((id) => store.acquire(id)));
  const firsts = await Promise.all(
    [0, 1, 2].flatMap((round) => logs.map((log) => log.append([textDraft(`${round}`), textDraft("x")], NOW))),
  );
  expect(firsts).toEqual([1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 5, 5, 5, 5, 5]);
  const last = logs.map((log) => log.append([textDraft("last")], NOW));
  await store.close();
  expect(await Promise.all(last)).toEqual([7, 7, 7, 7, 7]);
  const again = await openSqliteStore({ path, ...options });
  for (const id of sessions) expect(await again.read(id, { after: 0, limit: 10 })).toHaveLength(7);
  await again.close();
});
