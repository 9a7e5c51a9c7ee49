import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { append, NOW, newSession, sessionId, TEST_KEY, textDraft } from "../../test/store-suite.ts";
import { diagnoseStore, type Finding } from "./doctor.ts";
import { openDatabase } from "./sqlite/driver.ts";
import { openSqliteStore } from "./sqlite/store.ts";

const clock = createManualClock();
const key = TEST_KEY;
let directory: string;
let path: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "harness-doctor-"));
  path = join(directory, "sessions.db");
  const store = await openSqliteStore({ path, clock, key });
  for (const n of [1, 2]) await store.create(newSession(n));
  await append(store, sessionId(1), [textDraft("a"), textDraft("b".repeat(50_000)), textDraft("c")], NOW);
  await store.close();
});
afterEach(() => rmSync(directory, { recursive: true }));

const diagnose = () => diagnoseStore({ path, clock, key });

/** Changes the file as only damage or a bug would. */
function tamper(sql: string): void {
  const db = openDatabase({ path, clock, key });
  db.pragma("foreign_keys = OFF");
  db.exec(sql);
  db.close();
}

const found = (level: Finding["level"], what: RegExp, remedy = /./): unknown[] => [
  { level, what: expect.stringMatching(what), remedy: expect.stringMatching(remedy) },
];

it("has nothing to say about a healthy log, and none about a missing one", () => {
  expect(diagnose()).toEqual([]);
  expect(diagnoseStore({ path: join(directory, "none", "x.db"), clock, key })).toEqual([]);
});

describe("what it finds", () => {
  it.each([
    ["a gap", "DELETE FROM events WHERE session = 1 AND id = 2", /has 2 events, but their ids go from 1 to 3/],
    [
      "a missing end",
      "DELETE FROM events WHERE session = 1 AND id = 3",
      /last event of session .*1 \(event 2\) is not the one/,
    ],
    ["another end", "UPDATE events SET ts = 'x' WHERE session = 1 AND id = 3", /last event of session .*event 3/],
    [
      "a wrong head",
      "UPDATE sessions SET head = x'00' WHERE key = 2",
      /last event of session .*2 \(event 0\) is not the one/,
    ],
    ["events of nobody", "INSERT INTO events VALUES (9, 1, 'k', 't', NULL, '{}', NULL)", /of events belongs/],
    ["a lost intent", "INSERT INTO open_calls VALUES (1, 'call_x', 77)", /intent of call call_x .* is missing/],
    ["impossible expiry", "UPDATE sessions SET expired_to = 9 WHERE key = 1", /records expired events/],
  ])("%s", (_, sql, what) => {
    tamper(sql);
    expect(diagnose()).toEqual(found("error", what));
  });

  it("modes that are too wide", () => {
    chmodSync(path, 0o644);
    chmodSync(directory, 0o755);
    expect(diagnose()).toEqual([
      ...found("warning", /mode 0755/, /chmod 700/),
      ...found("warning", /sessions\.db \(mode 0644\)/, /chmod 600 .*sessions\.db/),
    ]);
    chmodSync(directory, 0o700);
  });

  it("pages that were overwritten", () => {
    const bytes = readFileSync(path);
    bytes.fill(0x5a, bytes.length - 8192);
    writeFileSync(path, bytes);
    // Which pages lie at the end depends on the schema; that they are gone is said either way.
    expect(diagnose()).toEqual(expect.arrayContaining(found("error", /malformed|is damaged/, /backup/)));
  });

  it("a key that is not the one, a file that is none, a newer schema", () => {
    const other = { bytes: Buffer.alloc(32), source: "elsewhere" };
    expect(diagnoseStore({ path, clock, key: other })).toEqual(
      found("error", /key from elsewhere/, /HARNESS_MACHINE_KEY/),
    );
    tamper("INSERT INTO schema_migrations VALUES (99, 'later', 'abc')");
    expect(diagnose()).toEqual(found("error", /schema has version 99/, /backup/));
    writeFileSync(path, "dear diary ".repeat(100));
    expect(diagnose()).toEqual(found("error", /not a session log/));
  });

  it("what a process left behind that was killed in the middle of a call", async () => {
    const intent = {
      kind: "ToolIntent",
      ts: NOW,
      payload: { turn: "turn_1", step: 1, call_id: "call_1", name: "exec", class: "mutating", args_hash: "" },
    };
    const script = `
      import { openSqliteStore } from ${JSON.stringify(new URL("./sqlite/store.ts", import.meta.url).href)};
      const key = { bytes: Buffer.alloc(32, 7), source: "" };
      const store = await openSqliteStore({ path: ${JSON.stringify(path)}, clock: { now: () => 0 }, key });
      const log = await store.acquire(${JSON.stringify(sessionId(1))});
      await log.append([${JSON.stringify(intent)}], ${JSON.stringify(NOW)});
      process.kill(process.pid, "SIGKILL");`;
    await once(spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: "inherit" }), "exit");
    expect(diagnose()).toEqual([
      ...found("warning", /left open by a process that has ended/, /harness run --resume/),
      ...found("warning", /Call call_1 .* was interrupted/, /harness run --resume/),
    ]);
  });
});
