/** A disk that is really full or really read-only: every write says so, what was there stays, and it works again with room. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { EventDraft, SessionStore } from "#engine";
import { createDailyFiles, createOperationLog } from "#logs";
import { SessionId, TurnId } from "#protocol";
import { type ArchiveStore, createKnownHeads, loadAudit, loadPortability, openSqliteStore } from "#stores";
import { createSystemClock } from "#world";
import { createCliHome, offlineModel, runCli } from "./fakes/cli-process.ts";
import { calls, createHarnessRig, says } from "./fakes/harness-rig.ts";
import { createSmallDisk, type SmallDisk, whyNoDisk } from "./fakes/small-disk.ts";

const NOW = "2026-01-01T00:00:00.000Z";
const turn = TurnId.from("0".repeat(26));
const clock = createSystemClock();
const key = { bytes: Buffer.alloc(32, 7), source: "the test" };
const sessionId = (n: number): SessionId => SessionId.from(String(n).padStart(26, "0"));
const newSession = (n: number) => ({
  id: sessionId(n),
  workingDir: "/w",
  profile: "default",
  model: "scripted:x",
  createdAt: NOW,
});
/** More than the file system can hide in pages it has already. */
const large = (): EventDraft => ({
  kind: "TextDelta",
  ts: NOW,
  payload: { turn, step: 1, block: 0, text: randomBytes(64 * 1024).toString("hex") },
});

const missing = whyNoDisk();
if (missing !== undefined) process.stderr.write(`test/disk.test.ts is skipped: ${missing}\n`);

const stores: Record<string, (disk: SmallDisk) => Promise<ArchiveStore>> = {
  sqlite: ({ path }) => openSqliteStore({ path: join(path, "sessions.db"), clock, key }),
  jsonl: async ({ path }) => (await loadPortability()).openJsonlStore({ root: path, clock }),
};

async function lastEvents(store: SessionStore): Promise<number[]> {
  return (await store.read(sessionId(1), { after: 0, limit: 1000 })).map(({ id }) => id);
}

describe.skipIf(missing !== undefined).each(Object.entries(stores))("a full disk under the %s store", (_, open) => {
  test("refuses every write with the reason, keeps what was there, and goes on when there is room", async () => {
    const disk = createSmallDisk();
    const store = await open(disk);
    await store.create(newSession(1));
    const log = await store.acquire(sessionId(1));
    await log.append([large(), large()], NOW);
    disk.fill();

    const full = { reason: "StoreFailed", message: expect.stringMatching(/disk is full|no space/i) };
    // What fits into pages that are there may still be written; what does not fit is refused whole.
    for (let n = 0; n < 3; n++) await expect(log.append([large(), large()], NOW)).rejects.toMatchObject(full);
    expect(await lastEvents(store)).toEqual([1, 2]);
    const records = await store.records(sessionId(1), { after: 0, limit: 10 });
    const copy = { ...newSession(3), updatedAt: NOW, title: "", state: "active", pinned: false } as const;
    await expect(store.restore(copy, records)).rejects.toMatchObject(full);
    expect(await store.get(sessionId(3))).toBeUndefined();
    const pieces = [randomBytes(64 * 1024).toString("hex")];
    if (log.snapshots !== undefined) {
      await expect(log.snapshots.write({ format: 1, event: 2, follows: 0, pieces })).rejects.toMatchObject(full);
      expect(await log.snapshots.read()).toBeUndefined();
    }

    disk.makeRoom();
    expect(await log.append([large()], NOW)).toBe(3);
    await log.release();
    await store.create(newSession(2));
    await store.update(sessionId(1), { title: "still here" });
    await store.close();

    const again = await open(disk);
    expect(await lastEvents(again)).toEqual([1, 2, 3]);
    expect(await again.get(sessionId(1))).toMatchObject({ title: "still here" });
    const { verifyEvidence } = await loadAudit();
    expect(await verifyEvidence(again.readEvidence(sessionId(1)), { trustedKeys: [] })).toMatchObject({ findings: [] });
    await again.delete(sessionId(1));
    await again.close();
  });

  test("refuses what several sessions write at the same time, and all of them go on where they were", async () => {
    const disk = createSmallDisk();
    const store = await open(disk);
    for (const n of [1, 2, 3]) await store.create(newSession(n));
    const logs = await Promise.all([1, 2, 3].map((n) => store.acquire(sessionId(n))));
    await Promise.all(logs.map((log) => log.append([large()], NOW)));
    disk.fill();
    const tries = await Promise.allSettled(logs.map((log) => log.append([large(), large()], NOW)));
    for (const result of tries) expect(result).toMatchObject({ status: "rejected", reason: { reason: "StoreFailed" } });
    disk.makeRoom();
    expect(await Promise.all(logs.map((log) => log.append([large()], NOW)))).toEqual([2, 2, 2]);
    for (const log of logs) await log.release();
    await store.close();
  });

  test("refuses new sessions and changes that do not fit, and has them whole or not at all", async () => {
    const disk = createSmallDisk();
    const store = await open(disk);
    await store.create(newSession(1));
    disk.fill();
    const tries = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) => store.create({ ...newSession(n + 2), workingDir: `/${"w".repeat(4000)}` })),
    );
    const refused = tries.filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThan(0);
    for (const result of refused) expect(result).toMatchObject({ reason: { reason: "StoreFailed" } });
    expect(await store.list({ limit: 100 })).toHaveLength(1 + tries.length - refused.length);
    await expect(store.update(sessionId(1), { title: "t".repeat(100_000) })).rejects.toMatchObject({
      reason: "StoreFailed",
    });
    expect(await store.get(sessionId(1))).toMatchObject({ title: "" });
    disk.makeRoom();
    await store.update(sessionId(1), { title: "t".repeat(100_000) });
    await store.close();
  });
});

describe.skipIf(missing !== undefined)("the end of a writer on a full disk", () => {
  test("says so, and the same process can have the session again", async () => {
    const disk = createSmallDisk();
    const store = await openSqliteStore({ path: join(disk.path, "sessions.db"), clock, key });
    await store.create(newSession(1));
    const log = await store.acquire(sessionId(1));
    await log.append([large()], NOW);
    disk.fill();
    await expect(log.release()).rejects.toMatchObject({ reason: "StoreFailed" });
    disk.makeRoom();
    const again = await store.acquire(sessionId(1));
    expect(await again.append([large()], NOW)).toBe(2);
    await again.release();
    await store.close();
  });
});

describe.skipIf(missing !== undefined)("a full disk under the operation log", () => {
  test("costs lines, which are counted, and no line that follows", () => {
    const disk = createSmallDisk();
    const files = createDailyFiles({ folder: join(disk.path, "log"), clock });
    const levels = { level: "info", components: {} } as const;
    const log = createOperationLog({ clock, levels, clean: (value) => value, sinks: [files.write] });
    log.of("test").info("first");
    disk.fill();
    for (let line = 0; line < 10; line++) log.of("test").info("x".repeat(1_500));
    const full = log.counters();
    expect(full).toMatchObject({ problem: expect.stringContaining("ENOSPC") });
    expect(full.lost).toBeGreaterThan(0);
    disk.makeRoom();
    log.of("test").info("last");
    expect(log.counters()).toEqual({ written: full.written + 1, withheld: 0, lost: full.lost });
    const lines = readFileSync(files.path(), "utf8").trimEnd().split("\n");
    // What was cut off stands on a line of its own.
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ msg: "last" });
  });
});

describe.skipIf(missing !== undefined)("a full disk under the state folder", () => {
  test("loses no event and says once that heads cannot be kept; the next writer keeps them", async () => {
    const [disk, state] = [createSmallDisk(), createSmallDisk()];
    const problems: string[] = [];
    const onProblem = (message: string): void => void problems.push(message);
    const heads = { directory: join(state.path, "heads"), key: () => key, clock, onProblem };
    const path = join(disk.path, "sessions.db");
    const known = createKnownHeads(heads, path);
    const store = await openSqliteStore({ path, clock, key, heads });
    for (const n of [1, 2]) await store.create(newSession(n));
    const write = async (n: number): Promise<void> => {
      const log = await store.acquire(sessionId(n));
      await log.append([large()], NOW);
      await log.release();
    };
    await write(1);
    state.fill();
    // What is there already is written over.
    for (const n of [1, 2, 2]) await write(n);
    expect(problems).toEqual([expect.stringMatching(/could not store the last known head.*(no space|full)/i)]);
    expect(known.read(sessionId(1))).toMatchObject({ head: { event: 2 } });
    expect(known.read(sessionId(2))).toEqual({ kind: "none" });
    state.makeRoom();
    await write(2);
    expect(known.read(sessionId(2))).toMatchObject({ head: { event: 3 } });
    await store.close();
  });
});

describe.skipIf(missing !== undefined)("a full disk under a session", () => {
  test("ends the turn with the reason; the next turn goes on when there is room", async () => {
    const disk = createSmallDisk();
    const words = randomBytes(100_000).toString("hex");
    const path = join(disk.path, "sessions.db");
    const rig = await createHarnessRig([says("one")], { store: { kind: "sqlite", path, key: () => key } });
    expect(await rig.send("first")).toMatchObject({ outcome: "answered" });
    const told = rig.events.length;
    disk.fill();
    await expect(rig.send(words)).rejects.toMatchObject({ reason: "StoreFailed" });
    expect(JSON.stringify(rig.events.slice(told))).not.toContain(words);
    disk.makeRoom();

    // This time the input is stored and the answer does not fit any more.
    const watcher = rig.harness.control.connect({
      identityClass: "agent",
      interactive: false,
      onEvent: ({ kind }) => void (kind === "TurnStarted" && disk.fill()),
    });
    await watcher.submit({ kind: "AttachSession", session: rig.session });
    rig.vendor.reply(says(words));
    await expect(rig.send("second")).rejects.toMatchObject({ reason: "StoreFailed" });
    expect(JSON.stringify(rig.events.slice(told))).not.toContain(words);
    watcher.disconnect();
    disk.makeRoom();

    rig.vendor.reply(says("three"));
    expect(await rig.send("third")).toMatchObject({ outcome: "answered" });
    // The first input was refused; of the second, whose turn had begun, every client is told that no event will end it.
    expect(rig.of("TurnLost")).toMatchObject([{ reason: "StoreFailed" }]);
    const stored = rig.events.filter(({ kind }) => kind !== "TurnLost");
    const ids = stored.map(({ id }) => id);
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    const store = await openSqliteStore({ path, clock, key });
    expect(await store.read(rig.session, { after: 0, limit: 1000 })).toEqual(stored);
    await store.close();
  });

  test("does not let a call change what could not be kept for undo", async () => {
    const disk = createSmallDisk("2m");
    const rig = await createHarnessRig([calls(["exec", { command: "printf two > a.txt" }])], {
      autoApprove: true,
      undo: { directory: join(disk.path, "undo"), key: Buffer.alloc(32, 1) },
    });
    rig.workspace.put("a.txt", randomBytes(64 * 1024).toString("hex"));
    disk.fill();
    expect(await rig.send("go")).toMatchObject({ outcome: "error", reason: "StoreFailed" });
    expect(rig.of("ToolResult")).toMatchObject([
      { outcome: "error", reason: "StoreFailed", content: [{ text: expect.stringMatching(/no space is left.*undo/) }] },
    ]);
    expect(rig.of("Error")).toMatchObject([{ reason: "StoreFailed", terminal: true }]);
    expect(readFileSync(join(rig.workspace.root, "a.txt"), "utf8")).not.toBe("two");
    disk.makeRoom();
    rig.vendor.reply(calls(["exec", { command: "printf two > a.txt" }]), says("done"));
    await rig.send("again");
    expect(readFileSync(join(rig.workspace.root, "a.txt"), "utf8")).toBe("two");
    expect((await rig.submit({ kind: "UndoTurn" })).result).toMatchObject({ outcome: "done" });
    expect(readFileSync(join(rig.workspace.root, "a.txt"), "utf8")).not.toBe("two");
  });
});

describe.skipIf(missing !== undefined)("the program", () => {
  test("on a full disk says so with exit code 1 or 2, and works when there is room", async () => {
    const disk = createSmallDisk();
    const folders = { XDG_DATA_HOME: join(disk.path, "data"), XDG_CONFIG_HOME: join(disk.path, "config") };
    const home = createCliHome({ ...folders, ...offlineModel });
    disk.fill();
    const first = await runCli(home, ["run", "hello"]);
    expect([1, 2]).toContain(first.code);
    expect(first.err).toMatch(/no space|disk is full/i);
    disk.makeRoom();
    const filled = await runCli(home, ["run", "hello"]);
    expect(filled).toMatchObject({ code: 0 });
    disk.fill();
    const again = await runCli(home, ["run", randomBytes(40_000).toString("hex")]);
    expect([1, 2]).toContain(again.code);
    expect(again.err).toMatch(/sessions\.db.*(no space|disk is full)/i);
    const looked = await runCli(home, ["doctor"]);
    expect(looked).toMatchObject({ code: 1, out: expect.stringContaining("Free disk space") });
    // Nobody is told to put a good log away.
    expect(looked.out).not.toMatch(/move it away|backup/);
    disk.makeRoom();
    expect(await runCli(home, ["sessions", "doctor"])).toMatchObject({ code: 0 });
    expect(await runCli(home, ["run", "hello"])).toMatchObject({ code: 0 });
  });

  test.each(["sqlite", "jsonl"])("in a read-only place (%s) says so and changes nothing", async (store) => {
    const disk = createSmallDisk();
    const home = createCliHome({
      ...offlineModel,
      XDG_DATA_HOME: join(disk.path, "data"),
      XDG_CONFIG_HOME: join(disk.path, "config"),
    });
    const folder = join(disk.path, "workspace");
    const run = ["run", "--store", store, "-C", folder, "--undo", "off", "hello"];
    await runCli(home, ["run", "--store", "memory", "hello"]);
    mkdirSync(folder);
    expect(await runCli(home, run)).toMatchObject({ code: 0 });
    const file = join(disk.path, "data/harness/sessions.db");
    const before = existsSync(file) ? readFileSync(file) : undefined;
    disk.makeReadOnly();
    const refused = await runCli(home, run);
    expect([1, 2]).toContain(refused.code);
    expect(refused.err).toMatch(/read-only|EROFS/i);
    expect(refused.err).not.toMatch(/\n\s+at /);
    const looked = await runCli(home, ["doctor"]);
    expect(looked).toMatchObject({ code: 1, out: expect.stringContaining("mounted read-only") });
    expect(looked.out).not.toMatch(/chmod u\+w|move it away/);
    if (before !== undefined) expect(readFileSync(file).equals(before)).toBe(true);
  });
});
