import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defined } from "#base";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import {
  createRng,
  exported,
  itemsOf,
  newSigningKey,
  pieces,
  type SampleLog,
  sampleDrafts,
  tamperings,
  writeTurns,
} from "../../test/fakes/tampering.ts";
import { append, NOW, newSession, sessionId, TEST_KEY } from "../../test/store-suite.ts";
import { anchorLine, type Checkpoint, parseAnchors } from "./checkpoint.ts";
import { evidenceLine, readEvidenceLines } from "./evidence-lines.ts";
import { applyRetention, defaultRetention } from "./retention.ts";
import { openDatabase } from "./sqlite/driver.ts";
import { createSqliteStore } from "./sqlite/store.ts";
import { type Verdict, verifyEvidence } from "./verify.ts";

/** Several of each kind; `bench/audit.ts` has thousands. */
const SHORT_CAMPAIGN = 36;
const script = resolve(import.meta.dirname, "../../scripts/verify-log.mjs");
const key = newSigningKey();
const clock = createManualClock();
let directory: string;
let log: SampleLog;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "harness-verify-"));
  log = await sampleLog("sample.db");
});
afterAll(() => rmSync(directory, { recursive: true }));

async function sampleLog(file: string): Promise<SampleLog> {
  const store = createSqliteStore(openDatabase({ path: join(directory, file), clock, key: TEST_KEY }), clock, key);
  await store.create(newSession(1));
  await writeTurns(store, sessionId(1), createRng(1), sampleDrafts(createRng(1), 3));
  const lines = await exported(store, sessionId(1));
  await store.close();
  const head = (await itemsOf(lines)).at(-1);
  if (head?.type !== "head") throw new Error("an export ends with the head");
  const { lastEventId: event, hash } = head.head;
  return { lines, key, anchor: key.sign({ session: sessionId(1), event, hash, ts: NOW }) };
}

function check(lines: readonly string[], anchors?: readonly Checkpoint[]): Promise<Verdict> {
  const options = { trustedKeys: [key.publicKey], ...defined({ anchors }) };
  return verifyEvidence(readEvidenceLines(pieces(lines)), options);
}

const kinds = ({ findings }: Pick<Verdict, "findings">) => findings.map(({ event, what }) => `${event} ${what}`);

describe("an untouched log", () => {
  it("is intact, with and without its anchor, in pieces of any size", async () => {
    const events = log.lines.filter((line) => line.startsWith('{"id"')).length;
    const intact = {
      session: sessionId(1),
      events,
      checkpoints: 4,
      anchors: 0,
      expired: 0,
      unsealed: 0,
      findings: [],
      findingsLeftOut: 0,
    };
    expect(await check(log.lines)).toEqual(intact);
    expect(await check(log.lines, [log.anchor])).toEqual({ ...intact, anchors: 1 });
    const text = `${log.lines.join("\n")}\n`;
    async function* crumbs() {
      for (let at = 0; at < text.length; at += 7) yield text.slice(at, at + 7);
    }
    expect(await verifyEvidence(readEvidenceLines(crumbs()), { trustedKeys: [key.publicKey] })).toEqual(intact);
  });

  it("stays intact when content expires, and tells how much", async () => {
    const path = join(directory, "expired.db");
    const db = openDatabase({ path, clock, key: TEST_KEY });
    const store = createSqliteStore(db, clock, key);
    await store.create(newSession(1));
    await append(store, sessionId(1), sampleDrafts(createRng(2), 2), NOW);
    const later = { now: () => Date.parse("2027-01-01") };
    const { expiredEvents: expired } = applyRetention(db, { clock: later, policy: defaultRetention });
    expect(expired).toBeGreaterThan(2);
    const verdict = await verifyEvidence(store.readEvidence(sessionId(1)), { trustedKeys: [key.publicKey] });
    expect(verdict).toMatchObject({ expired, findings: [] });
    const lines = await exported(store, sessionId(1));
    expect(await check(lines)).toMatchObject({ expired, findings: [] });
    expect(runScript(lines)).toEqual({ code: 0, kinds: [], expired });
    db.prepare("UPDATE events SET payload = '{«ttl-expired»' WHERE id = 2").run();
    const broken = await verifyEvidence(store.readEvidence(sessionId(1)), { trustedKeys: [key.publicKey] });
    expect(kinds(broken)).toEqual(["2 altered"]);
    // Nothing but what retention leaves counts as expired.
    const more = lines.map((line) => line.replace('"text":"«ttl-expired»"}', '"text":"«ttl-expired»","more":1}'));
    const ended = lines.map((line) => line.replace('"outcome":"answered"', '"outcome":"«ttl-expired»"'));
    expect(kinds(await check(ended))).toHaveLength(2);
    expect(runScript(ended)).toEqual({ code: 1, kinds: kinds(await check(ended)), expired });
    const findings = kinds(await check(more));
    expect(findings.length).toBeGreaterThan(0);
    expect(runScript(more)).toEqual({ code: 1, kinds: findings, expired: expect.any(Number) });
    await store.close();
  });

  it("without events is intact in a store and not as an export without its end", async () => {
    const store = createSqliteStore(
      openDatabase({ path: join(directory, "empty.db"), clock, key: TEST_KEY }),
      clock,
      key,
    );
    await store.create(newSession(1));
    const lines = await exported(store, sessionId(1));
    expect(await check(lines)).toMatchObject({ events: 0, findings: [] });
    expect(kinds(await check(lines.slice(0, 1)))).toEqual(["0 truncated"]);
    await store.close();
  });
});

describe("what is found", () => {
  const wanted = (pattern: RegExp) => log.lines.findIndex((line) => pattern.test(line));

  it("names the event and what is wrong with it", async () => {
    const third = wanted(/^\{"id":3,/);
    // Events that were written together are proven together: the first of them is named.
    const before = log.lines.slice(0, third).findLast((line) => line.includes('"x_evidence"')) ?? '{"id":0';
    const start = Number(/"id":(\d+)/.exec(before)?.[1]) + 1;
    const edited = log.lines.with(third, (log.lines[third] ?? "").replace('"step":1', '"step":2'));
    expect(kinds(await check(edited))).toEqual([`${start} altered`]);
    const backdated = log.lines.with(third, (log.lines[third] ?? "").replace("2026", "2025"));
    expect(kinds(await check(backdated))).toEqual([`${start} broken-link`]);
    expect(kinds(await check(log.lines.toSpliced(third, 1)))).toEqual(["3 missing"]);
    expect(kinds(await check(log.lines.toSpliced(third, 0, log.lines[third] ?? "")))).toEqual(["3 out-of-order"]);
    const ends = log.lines.flatMap((line) => (line.includes('"kind":"TurnEnded"') ? [JSON.parse(line).id] : []));
    const unsigned = log.lines.filter((line) => !line.startsWith('{"x_checkpoint"'));
    expect(kinds(await check(unsigned))).toEqual(ends.map((end) => `${end} unsigned`));
    // What a later one covers needs no checkpoint of its own.
    expect(kinds(await check(log.lines.toSpliced(wanted(/^\{"x_checkpoint"/), 1)))).toEqual([]);
  });

  it("tells a key that nobody vouched for once, and accepts it when somebody does", async () => {
    const stranger = newSigningKey();
    const verdict = await verifyEvidence(readEvidenceLines(pieces(log.lines)), { trustedKeys: [stranger.publicKey] });
    expect(verdict.findings).toEqual([
      { event: expect.any(Number), what: "unknown-key", detail: expect.stringContaining(key.publicKey) },
    ]);
    const both = { trustedKeys: [stranger.publicKey, key.publicKey] };
    expect((await verifyEvidence(readEvidenceLines(pieces(log.lines)), both)).findings).toEqual([]);
  });

  it("sees a cut tail and a replaced chain only against an anchor, and misses no anchor quietly", async () => {
    const cut = tamperings.find(({ name }) => name.startsWith("the tail is cut after"));
    const replaced = tamperings.find(({ name }) => name.startsWith("the whole"));
    const cutLines = (await cut?.apply(log, createRng(3))) ?? [];
    const replacedLines = (await replaced?.apply(log, createRng(3))) ?? [];
    expect(kinds(await check(cutLines))).toEqual([]);
    expect(kinds(await check(cutLines, [log.anchor]))).toEqual([`${log.anchor.event} truncated`]);
    expect(kinds(await check(replacedLines))).toEqual([]);
    expect(kinds(await check(replacedLines, [log.anchor]))).toEqual([`${log.anchor.event} replaced`]);
    const other = key.sign({ ...log.anchor, session: sessionId(2) });
    expect(kinds(await check(log.lines, [other]))).toEqual(["0 no-anchor"]);
    const forged = { ...log.anchor, ts: "2020-01-01T00:00:00.000Z" };
    expect(kinds(await check(log.lines, [forged]))).toEqual([`${log.anchor.event} forged`]);
  });

  it("sees rows that are removed from the store, or a tail that was rewritten there", async () => {
    const db = openDatabase({ path: join(directory, "sample.db"), clock, key: TEST_KEY });
    const store = createSqliteStore(db, clock);
    const verify = () => verifyEvidence(store.readEvidence(sessionId(1)), { trustedKeys: [key.publicKey] });
    expect((await verify()).findings).toEqual([]);
    const { event } = log.anchor;
    db.prepare("DELETE FROM events WHERE id = ?").run(event);
    expect(kinds(await verify())).toEqual([`${event} truncated`, `${event} truncated`]);
    await store.close();
  });
});

it(`detects ${SHORT_CAMPAIGN} random tamperings, and the separate script says the same`, async () => {
  const rng = createRng(42);
  for (let n = 0; n < SHORT_CAMPAIGN; n++) {
    const tampering = tamperings[n % tamperings.length];
    if (tampering === undefined) throw new Error("there are tamperings");
    const lines = await tampering.apply(log, rng);
    if (lines.join("\n") === log.lines.join("\n")) continue;
    const verdict = await check(lines, tampering.needsAnchor ? [log.anchor] : undefined);
    expect(verdict.findings, `${n}: ${tampering.name}`).not.toEqual([]);
    // A process for each would take long: one of each kind.
    if (n >= tamperings.length) continue;
    const told = runScript(lines, tampering.needsAnchor ? [log.anchor] : undefined);
    expect(told, tampering.name).toEqual({ code: 1, kinds: kinds(verdict), expired: verdict.expired });
  }
});

it("is confirmed by the separate script when it is intact, which is short enough to read", () => {
  expect(readFileSync(script, "utf8").split("\n").length).toBeLessThanOrEqual(250);
  expect(runScript(log.lines)).toEqual({ code: 0, kinds: [], expired: 0 });
  expect(runScript(log.lines, [log.anchor])).toEqual({ code: 0, kinds: [], expired: 0 });
});

interface Told {
  readonly code: number;
  readonly kinds: string[];
  readonly expired: number;
}

function runScript(lines: readonly string[], anchors?: readonly Checkpoint[]): Told {
  const file = join(directory, "export.jsonl");
  const anchorFile = join(directory, "anchors.txt");
  writeFileSync(file, `${lines.join("\n")}\n`);
  writeFileSync(anchorFile, `# anchors\n${(anchors ?? []).map(anchorLine).join("\n")}\n`);
  const args = [script, file, "--json", "--key", key.publicKey, ...(anchors ? ["--anchor", anchorFile] : [])];
  const told = (code: number, out: string): Told => {
    const verdict = JSON.parse(out) as Verdict;
    return { code, kinds: kinds(verdict), expired: verdict.expired };
  };
  try {
    return told(0, execFileSync(process.execPath, args, { encoding: "utf8", env: {} }));
  } catch (error) {
    // What execFileSync throws when the exit code is not 0.
    const { status, stdout } = error as { status: number; stdout: string };
    return told(status, stdout);
  }
}

describe("anchors as text", () => {
  it("come back as they were written, and a line that is none is told", () => {
    const text = `# kept outside\n\n${anchorLine(log.anchor)}\n`;
    expect(parseAnchors(text)).toEqual({ anchors: [log.anchor], wrong: [] });
    expect(parseAnchors(`${anchorLine(log.anchor)} more\nharness-anchor-1 x\n`)).toEqual({
      anchors: [],
      wrong: [1, 2],
    });
  });
});

describe("lines of an export", () => {
  it("hold the payload as it is stored", async () => {
    const items = await itemsOf(log.lines);
    const again = items.flatMap((item) =>
      item.type === "header" || item.type === "unreadable" ? [] : evidenceLine(item),
    );
    expect(again).toEqual(log.lines.slice(1));
  });

  it("are refused when they hide a second field or say it in another spelling", async () => {
    const line = log.lines[1] ?? "";
    for (const other of [line.replace("{", '{"kind":"X",'), line.replace(":", ": "), `${line} `, `\ufeff${line}`]) {
      expect((await itemsOf([log.lines[0] ?? "", other])).at(-1)).toMatchObject({ type: "unreadable", line: 2 });
    }
  });
});
