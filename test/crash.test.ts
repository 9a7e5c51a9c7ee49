/** A crash at any commit loses nothing that was told and runs no call twice: at each one in turn. By kill -9: `test/campaigns/crash.test.ts`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { SessionLog } from "#engine";
import type { Event } from "#protocol";
import { openSqliteStore } from "#stores";
import { CRASH_CLIENT, judge, openCrashSession, readAll } from "../bench/crash-session.ts";

const key = { bytes: Buffer.alloc(32, 7), source: "the test" };

/** The process dies at the `n`-th commit: before it is made, or after it and before anybody hears of it. */
function dyingLog(log: SessionLog, n: number, when: "before" | "after"): SessionLog & { readonly commits: number } {
  let commits = 0;
  return {
    ...log,
    get commits() {
      return commits;
    },
    async append(drafts, now) {
      commits += 1;
      if (commits > n || (commits === n && when === "before")) throw new Error("the process is dead");
      const first = await log.append(drafts, now);
      if (commits === n) throw new Error("the process is dead");
      return first;
    },
  };
}

/** One turn that dies at the given commit, then a resume. Returns how many commits the turn got to. */
async function dieAndResume(n: number, when: "before" | "after"): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "harness-fault-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const marks = join(directory, "marks");
  const store = await openSqliteStore({ path: join(directory, "sessions.db"), clock: { now: () => Date.now() }, key });
  const told: Event[] = [];
  let dying: ReturnType<typeof dyingLog> | undefined;
  const first = await openCrashSession({
    store,
    marks,
    onEvent: (event) => told.push(event),
    wrap: (log) => {
      dying = dyingLog(log, n, when);
      return dying;
    },
  });
  await first.engine.send(CRASH_CLIENT, [{ type: "text", text: "go" }]).done.catch(() => undefined);
  await first.log.release();

  const left = await judge(store, marks);
  expect({ ...left, events: 0, marks: 0, orphans: [] }).toEqual({
    events: 0,
    marks: 0,
    twice: [],
    unrecorded: [],
    orphans: [],
    miscounted: [],
  });
  expect((await readAll(store)).slice(0, told.length)).toEqual(told);

  const second = await openCrashSession({ store, marks, onEvent: () => undefined });
  await second.engine.begin();
  expect(second.engine.recovery.orphans.map(({ callId }) => callId)).toEqual(left.orphans);
  for (const { callId } of second.engine.recovery.orphans) {
    await second.engine.recovery.resolve(callId, "failed", CRASH_CLIENT);
  }
  await second.engine.send(CRASH_CLIENT, [{ type: "text", text: "again" }]).done;
  await second.log.release();
  const after = await judge(store, marks);
  expect(after).toMatchObject({ twice: [], unrecorded: [], orphans: [], miscounted: [] });
  const kinds = (await readAll(store)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "TurnEnded")).toHaveLength(
    kinds.filter((kind) => kind === "TurnStarted").length,
  );
  await store.close();
  return dying?.commits ?? 0;
}

test.each(["before", "after"] as const)("dies %s each commit of a turn, one after the other", async (when) => {
  let n = 1;
  // Past the last commit nothing dies and the turn makes fewer commits than that.
  while ((await dieAndResume(n, when)) >= n) n += 1;
  expect(n).toBeGreaterThan(12);
});
