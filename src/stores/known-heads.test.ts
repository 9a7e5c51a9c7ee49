import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { sessionId, TEST_KEY } from "../../test/store-suite.ts";
import { createKnownHeads, forgetLostLogs, type HeadsPlace, sealHeadsFor } from "./known-heads.ts";
import type { MachineKey } from "./machine-key.ts";

const clock = createManualClock();
const otherKey: MachineKey = { bytes: Buffer.alloc(32, 8), source: "another machine" };
const one = sessionId(1);
const two = sessionId(2);
const end = (lastEventId: number) => ({ lastEventId, hash: String(lastEventId % 10).repeat(64) });
let directory: string;
let log: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "harness-known-heads-"));
  log = join(directory, "sessions.db");
  writeFileSync(log, "");
});
afterEach(() => rmSync(directory, { recursive: true }));

const placeWith = (key: MachineKey): HeadsPlace => ({
  directory: join(directory, "heads"),
  key: () => key,
  clock,
  onProblem(message) {
    throw new Error(message);
  },
});
const open = (path = log, key = TEST_KEY) => createKnownHeads(placeWith(key), path);
const folder = () => join(directory, "heads", readdirSync(join(directory, "heads"))[0] ?? "");
const tampered = { kind: "tampered", why: expect.stringContaining(one) };

it("reads what was kept last, and nothing where nothing was", async () => {
  expect(open().read(one)).toEqual({ kind: "none" });
  expect(open().list()).toEqual([]);
  expect(open().keep(one, end(3))).toBe(true);
  expect(open().keep(one, end(17))).toBe(true);
  const ts = new Date(clock.now()).toISOString();
  expect(open().read(one)).toEqual({ kind: "known", head: { session: one, event: 17, hash: "7".repeat(64), ts } });
  expect(open().list()).toEqual([one]);
  await open().forget(one);
  await open().forget(one);
  expect(open().read(one)).toEqual({ kind: "none" });
  expect(readdirSync(folder())).toEqual(["log"]);
});

it("is one sector of a private file, whatever it holds", () => {
  for (const event of [1, Number.MAX_SAFE_INTEGER]) {
    open().keep(one, { lastEventId: event, hash: "a".repeat(64) });
    expect(readFileSync(join(folder(), one))).toHaveLength(512);
    expect(open().read(one)).toMatchObject({ head: { event } });
  }
});

it("holds for one log, also by way of a link to its folder", () => {
  open().keep(one, end(3));
  symlinkSync(directory, join(directory, "link"));
  expect(open(join(directory, "link", "sessions.db")).read(one)).toMatchObject({ kind: "known" });
  expect(open(join(directory, "other.db")).read(one)).toEqual({ kind: "none" });
});

describe("a head that this machine did not write so", () => {
  beforeEach(() => void open().keep(one, end(42)));

  const changes: [string, (text: string) => string][] = [
    ["a lower event", (text) => text.replace(" 42 ", " 12 ")],
    ["another hash", (text) => text.replace("2".repeat(64), "3".repeat(64))],
    ["another time", (text) => text.replace(/ 2\d\d\d-/, " 2001-")],
    ["another session", (text) => text.replace(one, two)],
    ["an event that is spelt otherwise", (text) => text.replace(" 42 ", " 4e1 ")],
    ["no seal", (text) => text.trimEnd().split(" ").slice(0, -1).join(" ").padEnd(511).concat("\n")],
    ["nothing at all", () => ""],
    ["zeros", () => "\0".repeat(512)],
    ["more than it should", (text) => `${text} `],
  ];
  it.each(changes)("is told: %s", (_, change) => {
    const path = join(folder(), one);
    const text = readFileSync(path, "latin1");
    expect(change(text)).not.toBe(text);
    writeFileSync(path, change(text));
    expect(open().read(one)).toEqual(tampered);
    expect(open().list()).toEqual([one]);
  });

  it("is told: one of another key, of another log, a link, and one that others can write", () => {
    expect(open(log, otherKey).read(one)).toEqual(tampered);
    const path = join(folder(), one);
    const own = folder();
    const other = join(directory, "other.db");
    open(other).keep(one, end(7));
    const foreign = readdirSync(join(directory, "heads")).find((name) => !own.endsWith(name)) ?? "";
    writeFileSync(join(directory, "heads", foreign, one), readFileSync(path));
    expect(open(other).read(one)).toEqual(tampered);
    chmodSync(path, 0o666);
    expect(open().read(one)).toEqual(tampered);
    rmSync(path);
    symlinkSync("/etc/hostname", path);
    expect(open().read(one)).toEqual(tampered);
  });
});

it("counts with either key once it is sealed for both, and one that did not count stays as it was", () => {
  open().keep(one, end(3));
  open(log, otherKey).keep(two, end(4));
  const next: MachineKey = { bytes: Buffer.alloc(32, 9), source: "the next" };
  const before = readFileSync(join(folder(), two));
  // Interrupted, and done again.
  for (const _ of [1, 2]) expect(sealHeadsFor(join(directory, "heads"), { from: TEST_KEY, to: next })).toBe(1);
  for (const key of [TEST_KEY, next]) expect(open(log, key).read(one)).toMatchObject({ head: { event: 3 } });
  expect(readFileSync(join(folder(), two))).toEqual(before);
  open(log, next).keep(one, end(5));
  expect(open(log, next).read(one)).toMatchObject({ head: { event: 5 } });
  expect(open().read(one)).toEqual(tampered);
});

it("goes with a log that has been gone for long, but not with the user's own", () => {
  const heads = join(directory, "heads");
  const elsewhere = join(directory, "project", "threads");
  open().keep(one, end(3));
  open(elsewhere).keep(one, end(3));
  const inDays = (days: number): number => Date.now() + days * 24 * 60 * 60 * 1000;
  rmSync(log);
  forgetLostLogs(heads, { own: log, nowMs: inDays(89) });
  expect(readdirSync(heads)).toHaveLength(2);
  forgetLostLogs(heads, { own: log, nowMs: inDays(91) });
  expect(open(elsewhere).list()).toEqual([]);
  expect(open().list()).toEqual([one]);
  const there = join(directory, "there");
  writeFileSync(there, "");
  open(there).keep(one, end(3));
  forgetLostLogs(heads, { own: log, nowMs: inDays(91) });
  expect(readdirSync(heads)).toHaveLength(2);
});

describe("a witness outside the folders", () => {
  const kept = new Map<string, string>();
  const problems: string[] = [];
  const witness = {
    store: async (name: string, text: string) => void kept.set(name, text),
    lookup: async (name: string) => kept.get(name),
    remove: async (name: string) => void kept.delete(name),
  };
  const witnessed = (key = TEST_KEY) =>
    createKnownHeads({ ...placeWith(key), witness, onProblem: (message) => void problems.push(message) }, log);

  beforeEach(async () => {
    kept.clear();
    problems.length = 0;
    const heads = witnessed();
    heads.keep(one, end(9));
    await heads.testify(one);
  });

  it("knows a head that the state folder lost, once it is asked", async () => {
    rmSync(join(directory, "heads"), { recursive: true });
    const heads = witnessed();
    expect(heads.read(one)).toEqual({ kind: "none" });
    await heads.consult();
    expect(heads.read(one)).toMatchObject({ kind: "known", head: { event: 9 } });
    expect(heads.list()).toEqual([one]);
    expect(heads.read(two)).toEqual({ kind: "none" });
  });

  it("counts only where it is later, and only with the seal of this machine", async () => {
    const heads = witnessed();
    heads.keep(one, end(12));
    await heads.consult();
    expect(heads.read(one)).toMatchObject({ head: { event: 12 } });
    rmSync(join(directory, "heads"), { recursive: true });
    const other = witnessed(otherKey);
    await other.consult();
    expect(other.read(one)).toEqual({ kind: "none" });
  });

  it("is not overwritten while it knows more than the state folder", async () => {
    rmSync(join(directory, "heads"), { recursive: true });
    const heads = witnessed();
    heads.keep(two, end(3));
    await heads.testify(two);
    expect(problems).toEqual([expect.stringContaining(`${one} is newer there than here`)]);
    expect([...kept.values()][0]).toContain(one);
    await heads.forget(one);
    await heads.testify(two);
    expect([...kept.values()][0]).toContain(two);
  });
});
