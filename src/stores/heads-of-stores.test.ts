import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createRng, exported, newSigningKey, sampleDrafts } from "../../test/fakes/tampering.ts";
import { append, NOW, newSession, sessionId, TEST_KEY, textDraft } from "../../test/store-suite.ts";
import type { ArchiveStore } from "./archive.ts";
import { branchSession } from "./branch.ts";
import { diagnoseStore } from "./doctor.ts";
import { compareHead } from "./head-comparison.ts";
import { importSession } from "./import.ts";
import { openJsonlStore } from "./jsonl/store.ts";
import { createKnownHeads, type HeadsPlace, type KnownHeads } from "./known-heads.ts";
import { defaultRetention, runRetention } from "./retention.ts";
import { openSqliteStore } from "./sqlite/store.ts";
import { verifyEvidence } from "./verify.ts";

const clock = createManualClock();
const key = TEST_KEY;
const signer = newSigningKey();
const one = sessionId(1);
/** A turn of some events and its end. */
const turn = sampleDrafts(createRng(3), 1).slice(0, -1);
let directory: string;
let data: string;
let problems: string[];
let place: HeadsPlace;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "harness-heads-"));
  data = join(directory, "data");
  problems = [];
  const onProblem = (message: string): void => void problems.push(message);
  place = { directory: join(directory, "state", "heads"), key: () => key, clock, onProblem };
});
afterEach(() => rmSync(directory, { recursive: true }));

interface StoreKind {
  open(): Promise<ArchiveStore>;
  readonly log: () => string;
}

const sqlite: StoreKind = {
  open: () => openSqliteStore({ path: join(data, "sessions.db"), clock, key, signer, heads: place }),
  log: () => join(data, "sessions.db"),
};
const jsonl: StoreKind = {
  open: () => openJsonlStore({ root: data, clock, signer, heads: place }),
  log: () => join(data, ".harness", "threads"),
};

/** What `harness audit verify` asks. */
async function verify({ open }: StoreKind, heads: KnownHeads, session = one) {
  const head = heads.read(session);
  const store = await open();
  const { findings, head: standing } = await verifyEvidence(store.readEvidence(session), {
    trustedKeys: [signer.publicKey],
    session,
    head,
  });
  await store.close();
  return { findings, standing };
}

async function turns({ open }: StoreKind, count: number): Promise<number> {
  const store = await open();
  if ((await store.get(one)) === undefined) await store.create(newSession(1));
  for (let n = 0; n < count; n++) await append(store, one, turn, NOW);
  const { lastEventId = 0 } = (await store.get(one)) ?? {};
  await store.close();
  return lastEventId;
}

/** Puts the data folder back to how it was when the first call was made. */
function backup(): () => void {
  const copy = join(directory, "copy");
  cpSync(data, copy, { recursive: true });
  return () => {
    rmSync(data, { recursive: true });
    cpSync(copy, data, { recursive: true });
  };
}

describe.each([
  ["sqlite", sqlite],
  ["jsonl", jsonl],
])("the last known head of a %s log", (_, kind) => {
  let heads: KnownHeads;
  beforeEach(() => {
    mkdirSync(data);
    heads = createKnownHeads(place, kind.log());
  });

  it("is reached by the log as it is, and shows that the whole folder was put back to an older copy", async () => {
    await turns(kind, 2);
    const restore = backup();
    const event = await turns(kind, 2);
    const ts = new Date(clock.now()).toISOString();
    expect(await verify(kind, heads)).toEqual({ findings: [], standing: { state: "reached", event, ts } });
    restore();
    expect(await verify(kind, heads)).toEqual({ findings: [], standing: { state: "older", event, ts } });
  });

  it("is not moved by a session that goes on from an older copy, and the writer says so", async () => {
    await turns(kind, 1);
    const restore = backup();
    const event = await turns(kind, 1);
    restore();
    const store = await kind.open();
    const log = await store.acquire(one);
    expect(log.headProblem).toMatch(
      /ends before its last known head \(event \d+, .*\): someone replaced it with an older copy/,
    );
    // Other content than before, so that the chain goes another way.
    await log.append([textDraft("another way"), ...turn, ...turn], NOW);
    await log.release();
    await store.close();
    expect(await verify(kind, heads)).toMatchObject({ findings: [], standing: { state: "replaced", event } });
  });

  it("is unknown when the state is gone, and known again after the next writer", async () => {
    const event = await turns(kind, 1);
    rmSync(place.directory, { recursive: true });
    expect(await verify(kind, heads)).toEqual({ findings: [], standing: { state: "unknown" } });
    const store = await kind.open();
    const log = await store.acquire(one);
    expect(log.headProblem).toBeUndefined();
    await log.release();
    await store.close();
    expect(await verify(kind, heads)).toMatchObject({ standing: { state: "reached", event } });
  });

  it("may be behind the log: a crash came before it was written", async () => {
    const event = await turns(kind, 1);
    const store = await kind.open();
    const log = await store.acquire(one);
    await log.append(turn, NOW);
    await store.close();
    expect(heads.read(one)).toMatchObject({ kind: "known", head: { event } });
    expect(await verify(kind, heads)).toMatchObject({ standing: { state: "reached", event } });
  });

  it("is kept a moment after the end of a turn, while the session is open", async () => {
    const store = await kind.open();
    await store.create(newSession(1));
    const log = await store.acquire(one);
    await log.append(turn, NOW);
    await vi.waitFor(() => expect(heads.read(one)).toMatchObject({ head: { event: turn.length } }), 30_000);
    await log.append([textDraft("more")], NOW);
    expect(heads.read(one)).toMatchObject({ head: { event: turn.length } });
    await log.release();
    expect(heads.read(one)).toMatchObject({ head: { event: turn.length + 1 } });
    await store.close();
  });

  it("goes with a session that is deleted, and tells of one that is lost", async () => {
    await turns(kind, 1);
    const store = await kind.open();
    expect(heads.list()).toEqual([one]);
    await store.delete(one);
    expect(heads.list()).toEqual([]);
    await store.close();
    rmSync(data, { recursive: true });
    mkdirSync(data);
    const event = await turns(kind, 1);
    rmSync(data, { recursive: true });
    mkdirSync(data);
    expect(compareHead(heads.read(one), undefined)).toMatchObject({ state: "gone", event });
  });

  it("is there for a branch and an import, and an older import does not move it", async () => {
    await turns(kind, 1);
    const store = await kind.open();
    const { session: branch } = await branchSession(store, one, { now: NOW });
    expect(heads.list().toSorted()).toEqual([one, branch].toSorted());
    const lines = await exported(store, one);
    await append(store, one, turn, NOW);
    const known = heads.read(one);
    await store.close();
    rmSync(data, { recursive: true });
    mkdirSync(data);
    const other = await kind.open();
    await importSession(other, { lines: () => lines, name: "export", now: NOW });
    await other.close();
    expect(heads.read(one)).toEqual(known);
    expect(await verify(kind, heads)).toMatchObject({ findings: [], standing: { state: "older" } });
  });

  it("that cannot be kept is told once, and no event is lost", async () => {
    writeFileSync(join(directory, "state"), "no folder");
    const event = await turns(kind, 3);
    expect(event).toBe(3 * turn.length);
    const told = /^Harness could not store the last known head of sess_\w+ in .*heads.*The log is intact/;
    expect(problems).toEqual([expect.stringMatching(told)]);
  });

  it("is whole for whoever reads while several processes write", async () => {
    const ids = [1, 2, 3, 4].map(sessionId);
    const store = await kind.open();
    for (const n of [1, 2, 3, 4]) await store.create(newSession(n));
    await store.close();
    const children = ids.map((id) => startWriter(kind === sqlite ? "sqlite" : "jsonl", id));
    let running = children.length;
    for (const child of children) child.once("exit", () => (running -= 1));
    const wrong = new Set<string>();
    while (running > 0) {
      for (const id of ids) {
        const reading = heads.read(id);
        if (reading.kind === "tampered") wrong.add(reading.why);
      }
      await new Promise(setImmediate);
    }
    expect([...wrong]).toEqual([]);
    expect(children.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
    expect(heads.list().toSorted()).toEqual(ids);
    for (const id of ids) {
      const { standing } = await verify(kind, heads, id);
      expect(standing).toMatchObject({ state: "reached", event: 60 });
    }
    expect(readdirSync(place.directory)).toHaveLength(1);
  });
});

describe("beside the encrypted log", () => {
  beforeEach(() => mkdirSync(data));

  it("a head holds when content expires", async () => {
    const event = await turns(sqlite, 2);
    const late = { now: () => clock.now() + 2 * defaultRetention.contentTtlMs };
    const { expiredEvents } = runRetention({ path: sqlite.log(), key, clock: late, policy: defaultRetention });
    expect(expiredEvents).toBeGreaterThan(0);
    const heads = createKnownHeads(place, sqlite.log());
    expect(await verify(sqlite, heads)).toMatchObject({ standing: { state: "reached", event } });
  });

  it("the doctor finds an older copy, a lost session, a lost log and a state that was emptied", async () => {
    const heads = createKnownHeads(place, sqlite.log());
    const diagnose = () =>
      diagnoseStore({ path: sqlite.log(), clock, key, heads }).filter(
        ({ what }) => !what.startsWith("Other users can"),
      );
    await turns(sqlite, 1);
    const restore = backup();
    await turns(sqlite, 1);
    const store = await sqlite.open();
    await store.create(newSession(2));
    await append(store, sessionId(2), turn, NOW);
    await store.close();
    expect(diagnose()).toEqual([]);
    restore();
    expect(diagnose()).toMatchObject([
      { level: "error", what: expect.stringMatching(/ends before its last known head/) },
      { level: "error", what: expect.stringMatching(/no longer contains sess_0+2/) },
    ]);
    rmSync(data, { recursive: true });
    expect(diagnose()).toMatchObject([
      { level: "error", what: expect.stringMatching(/is missing, but Harness knows of 2 sessions/) },
    ]);
    cpSync(join(directory, "copy"), data, { recursive: true });
    rmSync(place.directory, { recursive: true });
    expect(diagnose()).toMatchObject([{ level: "warning", what: expect.stringMatching(/no last known head/) }]);
  });
});

/** A process that writes 60 events in turns of five to a session of its own, one writer after the other. */
function startWriter(kind: "sqlite" | "jsonl", session: string): ChildProcess {
  const from = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);
  const ended = turn.at(-1);
  const script = `import { openSqliteStore } from ${from("./sqlite/store.ts")};
    import { openJsonlStore } from ${from("./jsonl/store.ts")};
    const clock = { now: () => Date.now() };
    const key = { bytes: Buffer.alloc(32, 7), source: "the test" };
    const heads = { directory: ${JSON.stringify(place.directory)}, key: () => key, clock, onProblem(message) { throw new Error(message); } };
    const store = ${
      kind === "sqlite"
        ? `await openSqliteStore({ path: ${JSON.stringify(sqlite.log())}, clock, key, heads })`
        : `await openJsonlStore({ root: ${JSON.stringify(data)}, clock, heads })`
    };
    const drafts = [...Array(4).fill(${JSON.stringify(textDraft("x"))}), ${JSON.stringify(ended)}];
    for (let n = 0; n < 12; n++) {
      const log = await store.acquire(${JSON.stringify(session)});
      await log.append(drafts, ${JSON.stringify(NOW)});
      await log.release();
    }
    await store.close();`;
  return spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: ["ignore", "ignore", "inherit"] });
}
