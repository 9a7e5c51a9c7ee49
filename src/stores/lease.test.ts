/** The right to write a session on a clock that steps: nobody loses it, nobody takes it, and other machines are told the new time. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openJsonStore } from "../../test/fakes/json-backend.ts";
import { createManualClock, type ManualClock } from "../../test/fakes/manual-clock.ts";
import { NOW, newSession, sessionId, TEST_KEY, textDraft } from "../../test/store-suite.ts";
import type { ArchiveStore } from "./archive.ts";
import { openJsonlStore } from "./jsonl/store.ts";
import { LEASE_MS } from "./lease.ts";
import { openDatabase } from "./sqlite/driver.ts";
import { openSqliteStore } from "./sqlite/store.ts";

const HOUR_MS = 60 * 60 * 1000;
const STEPS = [5_000, -5_000, HOUR_MS, -HOUR_MS, 25 * HOUR_MS];

interface StoreKind {
  readonly open: (folder: string, clock: ManualClock) => Promise<ArchiveStore>;
  /** Until when others take the session for open. */
  readonly until: (folder: string, clock: ManualClock) => number;
}

const kinds: Readonly<Record<string, StoreKind>> = {
  sqlite: {
    open: (folder, clock) => openSqliteStore({ path: join(folder, "s.db"), clock, key: TEST_KEY }),
    until(folder, clock) {
      const db = openDatabase({ path: join(folder, "s.db"), clock, key: TEST_KEY });
      const until = db.prepare<[], number>("SELECT owner_until FROM sessions").pluck().get() ?? 0;
      db.close();
      return until;
    },
  },
  "a further kind": {
    open: (folder, clock) => openJsonStore({ folder, clock }),
    until: (folder) => JSON.parse(readFileSync(join(folder, "sessions.json"), "utf8"))[sessionId(1)].until,
  },
  jsonl: {
    open: (root, clock) => openJsonlStore({ root, clock }),
    until(root) {
      const session = join(root, ".harness", "threads", sessionId(1));
      const [lock = ""] = readdirSync(session).filter((name) => name.startsWith("lock."));
      return statSync(join(session, lock)).mtimeMs + LEASE_MS;
    },
  },
};

describe.each(Object.entries(kinds))("in a log of kind %s", (_kind, { open, until }) => {
  test.each(STEPS)("a step of %i ms neither loses the lease nor gives it to somebody else", async (stepMs) => {
    const folder = mkdtempSync(join(tmpdir(), "harness-lease-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const clock = createManualClock();
    const ours = await open(folder, clock);
    const theirs = await open(folder, clock);
    await ours.create(newSession(1));
    const log = await ours.acquire(sessionId(1));
    await log.append([textDraft("a")], NOW);
    clock.stepWall(stepMs);
    await expect(theirs.acquire(sessionId(1))).rejects.toMatchObject({ reason: "SessionBusy" });
    await expect(theirs.delete(sessionId(1))).rejects.toMatchObject({ reason: "SessionBusy" });
    expect(await log.append([textDraft("b")], NOW)).toBe(2);
    // Other machines go by the time alone: they see the new one with the first event after the step.
    const leftMs = until(folder, clock) - clock.now();
    expect(leftMs).toBeGreaterThan(LEASE_MS / 2);
    expect(leftMs).toBeLessThanOrEqual(LEASE_MS * 1.5);
    await log.release();
    await ours.close();
    await theirs.close();
  });
});
