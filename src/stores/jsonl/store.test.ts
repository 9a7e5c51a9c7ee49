import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../../test/fakes/manual-clock.ts";
import { createRng, newSigningKey, sampleDrafts, writeTurns } from "../../../test/fakes/tampering.ts";
import { append, killWriter, NOW, newSession, sessionId, textDraft } from "../../../test/store-suite.ts";
import type { ArchiveStore } from "../archive.ts";
import { verifyEvidence } from "../verify.ts";
import { openJsonlStore } from "./store.ts";

const clock = createManualClock();
let root: string;
let folder: string;
let events: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "harness-jsonl-"));
  folder = join(root, ".harness", "threads", sessionId(1));
  events = join(folder, "events.jsonl");
});
afterEach(() => rmSync(root, { recursive: true }));

const open = () => openJsonlStore({ root, clock });

/** A store with one session of the events "a" and "b". */
async function openWithTwo() {
  const store = await open();
  await store.create(newSession(1));
  await append(store, sessionId(1), [textDraft("a")], NOW);
  await append(store, sessionId(1), [textDraft("b")], NOW);
  return store;
}

describe("the files", () => {
  it("are private, out of version control, and hold canonical envelopes with evidence", async () => {
    const store = await openWithTwo();
    const mode = (path: string) => statSync(path).mode & 0o777;
    const threads = join(root, ".harness", "threads");
    expect([threads, folder].map(mode)).toEqual([0o700, 0o700]);
    expect(readdirSync(folder).sort()).toEqual(["events.jsonl", "meta.json"]);
    expect([events, join(folder, "meta.json")].map(mode)).toEqual([0o600, 0o600]);
    expect(readFileSync(join(threads, ".gitignore"), "utf8")).toBe("*\n");
    const lines = readFileSync(events, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual([
      ["id", "kind", "session", "ts", "payload", "x_evidence", "x_stored_at"],
      ["id", "kind", "session", "ts", "payload", "x_evidence", "x_stored_at"],
    ]);
    await store.close();
  });

  it("keep a chain that can be checked", async () => {
    const store = await openWithTwo();
    await store.close();
    const again = await open();
    await append(again, sessionId(1), [textDraft("c"), textDraft("d")], NOW);
    expect(await verifyEvidence(again.readEvidence(sessionId(1)), { trustedKeys: [] })).toMatchObject({
      events: 4,
      unsealed: 4,
      findings: [],
    });
    await again.close();
  });

  it("keep what was signed beside the events, and the next writer mends it after a crash", async () => {
    const key = newSigningKey();
    const signing = () => openJsonlStore({ root, clock, signer: key });
    const verdict = (store: ArchiveStore) =>
      verifyEvidence(store.readEvidence(sessionId(1)), { trustedKeys: [key.publicKey] });
    const first = await signing();
    await first.create(newSession(1));
    await writeTurns(first, sessionId(1), createRng(1), sampleDrafts(createRng(1), 2));
    expect(await verdict(first)).toMatchObject({ checkpoints: 3, unsealed: 0, findings: [] });
    const log = await first.acquire(sessionId(1));
    await log.append(sampleDrafts(createRng(2), 1), NOW);
    await first.close();
    const signed = join(folder, "checkpoints.jsonl");
    expect(statSync(signed).mode & 0o777).toBe(0o600);
    appendFileSync(signed, '{"x_checkpoint":{"ses');
    const second = await signing();
    expect((await verdict(second)).findings.map(({ what }) => what)).toEqual(["unsigned"]);
    const next = await second.acquire(sessionId(1));
    expect(await verdict(second)).toMatchObject({ checkpoints: 4, unsealed: 0, findings: [] });
    await next.release();
    appendFileSync(signed, "nonsense\n");
    await expect(verdict(second)).rejects.toMatchObject({ reason: "LogCorrupt" });
    await second.close();
  });

  it("have a checkpoint a moment after the end of a turn", async () => {
    const key = newSigningKey();
    const store = await openJsonlStore({ root, clock, signer: key });
    await store.create(newSession(1));
    const log = await store.acquire(sessionId(1));
    await log.append(sampleDrafts(createRng(1), 1), NOW);
    const verdict = () => verifyEvidence(store.readEvidence(sessionId(1)), { trustedKeys: [key.publicKey] });
    await vi.waitFor(async () => expect((await verdict()).findings).toEqual([]), 30_000);
    await log.release();
    expect(await verdict()).toMatchObject({ checkpoints: 1, unsealed: 0 });
    await store.close();
  });

  it("are split at \\n only", async () => {
    const store = await open();
    await store.create(newSession(1));
    await append(store, sessionId(1), [textDraft("a\u2028b\u2029c\r\nd"), textDraft("e")], NOW);
    expect(readFileSync(events, "utf8")).toContain("a\u2028b\u2029c");
    expect(await store.read(sessionId(1), { after: 0, limit: 9 })).toMatchObject([
      { payload: { text: "a\u2028b\u2029c\r\nd" } },
      { payload: { text: "e" } },
    ]);
    await store.close();
  });

  it("are found again deep in a long session", async () => {
    const store = await open();
    await store.create(newSession(1));
    const log = await store.acquire(sessionId(1));
    for (let page = 0; page < 5; page++) {
      await log.append(
        Array.from({ length: 300 }, (_, index) => textDraft(`${page * 300 + index + 1}`)),
        NOW,
      );
    }
    for (const after of [1400, 3, 511, 512, 513, 1400]) {
      const [event] = await store.read(sessionId(1), { after, limit: 1 });
      expect(event).toMatchObject({ id: after + 1, payload: { text: `${after + 1}` } });
    }
    await store.close();
  });

  it("are refused where a repository planted a link", async () => {
    mkdirSync(join(root, "elsewhere"));
    symlinkSync(join(root, "elsewhere"), join(root, ".harness"));
    await expect(open()).rejects.toMatchObject({ reason: "ConfigInvalid" });
    expect(readdirSync(join(root, "elsewhere"))).toEqual([]);
  });

  it("are named when a folder cannot be used", async () => {
    writeFileSync(join(root, ".harness"), "");
    await expect(open()).rejects.toMatchObject({ reason: "ConfigInvalid", message: expect.stringContaining(root) });
  });

  it("lose what a killed process left half made, after a day", async () => {
    await (await open()).close();
    const leftover = join(root, ".harness", "threads", ".new-0123456789abcdef");
    mkdirSync(leftover);
    utimesSync(leftover, clock.now() / 1000, clock.now() / 1000);
    await (await open()).close();
    expect(readdirSync(join(root, ".harness", "threads"))).toContain(".new-0123456789abcdef");
    utimesSync(leftover, clock.now() / 1000 - 90_000, clock.now() / 1000 - 90_000);
    await (await open()).close();
    expect(readdirSync(join(root, ".harness", "threads"))).toEqual([".gitignore"]);
  });
});

describe("a write that was cut off", () => {
  it.each([
    ["a line without its end", '{"id":3,"kind":"TextDelta","se'],
    ["a whole line without the mark of its append", '{"id":3,"kind":"TextDelta","cut":', "copy"],
    ["zeros", "\0".repeat(300)],
    ["zeros and an end", `${"\0".repeat(300)}\n`],
  ])("%s is hidden from readers, cut off by the next writer, and told", async (_, tail, copy?: string) => {
    const store = await openWithTwo();
    const size = statSync(events).size;
    const lastLine = readFileSync(events, "utf8").trimEnd().split("\n").at(-1) ?? "";
    const unmarked = lastLine.replace('"id":2', '"id":3').replace(/,"x_stored_at":"[^"]*"/, "");
    const torn = copy === undefined ? tail : `${unmarked}\n`;
    appendFileSync(events, torn);
    expect(await store.get(sessionId(1))).toMatchObject({ lastEventId: 2 });
    expect(await store.read(sessionId(1), { after: 0, limit: 9 })).toHaveLength(2);
    const log = await store.acquire(sessionId(1));
    expect(log.repairs).toEqual([expect.stringMatching(`${events} ended .*last ${torn.length} bytes`)]);
    expect(statSync(events).size).toBe(size);
    expect(await log.append([textDraft("c")], NOW)).toBe(3);
    expect(await store.read(sessionId(1), { after: 0, limit: 9 })).toHaveLength(3);
    await log.release();
    expect((await store.acquire(sessionId(1))).repairs).toEqual([]);
    await store.close();
  });

  it("is repaired at every length of the last append", async () => {
    const store = await openWithTwo();
    const before = statSync(events).size;
    await append(store, sessionId(1), [textDraft("c"), textDraft("d")], NOW);
    const whole = readFileSync(events);
    for (let size = before; size < whole.length; size += 7) {
      writeFileSync(events, whole.subarray(0, size));
      expect(await append(store, sessionId(1), [textDraft("e")], NOW)).toBe(3);
    }
    truncateSync(events, 0);
    expect(await append(store, sessionId(1), [textDraft("first")], NOW)).toBe(1);
    await store.close();
  });
});

describe("a damaged file", () => {
  const damage = (change: (lines: string[]) => void): void => {
    const lines = readFileSync(events, "utf8").split("\n");
    change(lines);
    writeFileSync(events, lines.join("\n"));
  };

  it.each([
    ["a line in the middle", (lines: string[]) => void lines.splice(0, 1, "{broken"), /line 1: it is not JSON/],
    ["a line that is missing", (lines: string[]) => void lines.splice(0, 1), /line 1 holds event 2/],
    [
      "an event of another session",
      (lines: string[]) => void lines.splice(0, 1, (lines[0] ?? "").replaceAll(sessionId(1), sessionId(2))),
      /line 1 belongs to/,
    ],
  ])("%s is told with its line, and nothing is cut off", async (_, change, message) => {
    const store = await openWithTwo();
    damage(change);
    const before = readFileSync(events);
    const read = store.read(sessionId(1), { after: 0, limit: 9 });
    await expect(read).rejects.toMatchObject({ reason: "LogCorrupt", message: expect.stringMatching(message) });
    expect(readFileSync(events).equals(before)).toBe(true);
    await store.close();
  });

  it("whose last whole line is no event is not taken for a write that was cut off", async () => {
    const store = await openWithTwo();
    damage((lines) => void lines.splice(1, 1, "{broken"));
    await expect(store.acquire(sessionId(1))).rejects.toMatchObject({ reason: "LogCorrupt" });
    expect(readdirSync(folder).filter((name) => name.startsWith("lock"))).toEqual([]);
    await store.close();
  });

  it("is told when the description of a session is broken", async () => {
    const store = await openWithTwo();
    writeFileSync(join(folder, "meta.json"), '{"format":1}');
    await expect(store.get(sessionId(1))).rejects.toMatchObject({ reason: "LogCorrupt" });
    await store.close();
  });
});

describe("a disk that is full", () => {
  it("rejects the append, keeps what was there, and goes on when there is room", async () => {
    await (await openWithTwo()).close();
    // A limit on the size of files stands in for the disk: 4096 bytes.
    const child = startChild(
      `const store = await openJsonlStore({ root, clock });
      const log = await store.acquire(${JSON.stringify(sessionId(1))});
      const draft = ${JSON.stringify(textDraft("x".repeat(6000)))};
      const failure = await log.append([draft], draft.ts).catch((error) => error.reason);
      const next = await log.append([{ ...draft, payload: { ...draft.payload, text: "small" } }], draft.ts);
      writeSync(1, JSON.stringify([failure, next]));`,
      "ulimit -f 8; ",
    );
    let told = "";
    for await (const chunk of child.stdout ?? []) told += chunk;
    expect(JSON.parse(told)).toEqual(["StoreFailed", 3]);
    const store = await open();
    expect(await store.read(sessionId(1), { after: 0, limit: 9 })).toMatchObject([
      {},
      {},
      { payload: { text: "small" } },
    ]);
    await store.close();
  });

  it("leaves nothing of a session that could not be restored", async () => {
    const store = await openWithTwo();
    const meta = await store.get(sessionId(1));
    const records = await store.records(sessionId(1), { after: 0, limit: 9 });
    const breaking = function* () {
      yield* records;
      throw new Error("no more");
    };
    if (meta === undefined) throw new Error("the session is there");
    const { lastEventId: _, ...archived } = { ...meta, id: sessionId(2) };
    await expect(store.restore(archived, breaking())).rejects.toThrow("no more");
    expect(readdirSync(join(root, ".harness", "threads")).sort()).toEqual([".gitignore", sessionId(1)]);
    await store.close();
  });
});

describe("several processes", () => {
  it("have one writer, and the lock of a dead one is taken over", async () => {
    const store = await openWithTwo();
    const child = startChild(`const store = await openJsonlStore({ root, clock });
      await store.acquire(${JSON.stringify(sessionId(1))});
      writeSync(1, "have it");
      setInterval(() => undefined, 1000);`);
    for await (const _ of child.stdout ?? []) break;
    await expect(store.acquire(sessionId(1))).rejects.toMatchObject({ reason: "SessionBusy" });
    await expect(store.delete(sessionId(1))).rejects.toMatchObject({ reason: "SessionBusy" });
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await append(store, sessionId(1), [textDraft("c")], NOW)).toBe(3);
    await store.close();
  });

  it("never have two writers when many come at once", async () => {
    await (await openWithTwo()).close();
    const children = [1, 2, 3].map(() =>
      startChild(`const store = await openJsonlStore({ root, clock });
        const draft = ${JSON.stringify(textDraft("x"))};
        for (let done = 0; done < 20; ) {
          const log = await store.acquire(${JSON.stringify(sessionId(1))}).catch(() => undefined);
          if (log === undefined) continue;
          await log.append([draft], draft.ts);
          await log.release();
          done += 1;
        }`),
    );
    const exits = await Promise.all(children.map((child) => once(child, "exit")));
    expect(exits.map(([code]) => code)).toEqual([0, 0, 0]);
    const store = await open();
    expect(await store.read(sessionId(1), { after: 0, limit: 99 })).toHaveLength(62);
    await store.close();
  });

  it("lose nothing that was acknowledged when one is killed", () =>
    killWriter(open, (body) => startChild(`const store = await openJsonlStore({ root, clock });\n${body}`)));

  it("tell a writer whose lock was taken away", async () => {
    const store = await openWithTwo();
    const log = await store.acquire(sessionId(1));
    for (const name of readdirSync(folder)) if (name.startsWith("lock.")) rmSync(join(folder, name));
    await expect(log.append([textDraft("c")], NOW)).rejects.toMatchObject({ reason: "StoreFailed" });
    await store.close();
  });
});

let children = 0;

/** Runs `body` in a process of its own with the store at hand; `before` are shell commands that bind it. */
function startChild(body: string, before = ""): ChildProcess {
  const script = `import { writeSync } from "node:fs";
    import { openJsonlStore } from ${JSON.stringify(new URL("./store.ts", import.meta.url).href)};
    const root = ${JSON.stringify(root)};
    const clock = { now: () => 0 };
    ${body}`;
  // A file for each: one that is written again is empty for a moment, and a child that starts then does nothing.
  const path = join(root, `child-${++children}.mjs`);
  writeFileSync(path, script);
  const command = `${before}exec "${process.execPath}" "${path}"`;
  return spawn("/bin/sh", ["-c", command], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
  });
}
