/** `harness sessions …` as users and scripts call it: real processes on real logs. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { EventDraft } from "#engine";
import { SessionId } from "#protocol";
import { parseEvent } from "#protocol/schemas";
import { createMemoryStore, loadPortability } from "#sessions";
import { type CliHome, createCliHome, openCliTerminal, runCli } from "../fakes/cli-process.ts";
import { callDrafts, sessionStarted, turnDrafts } from "../fakes/session-drafts.ts";

const NOW = "2026-01-01T00:00:00.000Z";
const FIRST = SessionId.from("01ARZ3NDEKTSV4RRFFQ69G5FA1");
const SECOND = SessionId.from("01ARZ3NDEKTSV4RRFFQ69G5FA2");

let home: CliHome;
beforeEach(() => {
  home = createCliHome();
});

const sessions = (...args: string[]) => runCli(home, ["sessions", ...args]);

/** Puts a session with these events into the log by way of an export. */
async function put(id: SessionId, drafts: readonly EventDraft[], ...flags: string[]): Promise<string> {
  const store = createMemoryStore();
  await store.create({ id, workingDir: home.workspace, profile: "default", model: "scripted:x", createdAt: NOW });
  const log = await store.acquire(id);
  await log.append(drafts, NOW);
  const { exportLines, readRecords } = await loadPortability();
  const meta = await store.get(id);
  if (meta === undefined) throw new Error("the session is there");
  const lines = await Array.fromAsync(exportLines(meta, readRecords(store, id), "0.1.0"));
  const file = home.put(`${id}.jsonl`, `${lines.join("\n")}\n`);
  expect(await sessions("import", file, ...flags)).toMatchObject({ code: 0, out: `${id}\n` });
  return file;
}

const twoTurns = (second: string): EventDraft[] => [
  sessionStarted(),
  ...turnDrafts(1, "begin", "the same answer", callDrafts(1, { command: "ls" }, "a.txt")),
  ...turnDrafts(2, "go on", second),
];

describe("reading", () => {
  test("list, show and replay what run has written", async () => {
    home.put("note.txt", "a note");
    await runCli(home, ["run", "read note.txt"]);
    const listed = await sessions("list");
    expect(listed.out).toMatch(/^SESSION .* TITLE\nsess_[0-9A-Z]{26} .* scripted:offline {2}read note\.txt\n$/);
    const [meta] = JSON.parse((await sessions("list", "--json", "--here")).out);
    expect(meta).toMatchObject({ working_dir: home.workspace, title: "read note.txt", pinned: false, parent: null });
    const shown = await sessions("show", meta.id);
    expect(shown.code).toBe(0);
    expect(shown.out).toMatch(/## Turn 1\n\n.*\n\n> read note\.txt\n\n\*\*Read\*\* · ok/);
    expect(shown.out).toContain("a note");
    const { session, turns } = JSON.parse((await sessions("show", meta.id, "--json")).out);
    expect(session.id).toBe(meta.id);
    expect(turns).toMatchObject([{ number: 1, outcome: "answered", steps: 2 }]);
    const replayed = await sessions("replay", meta.id);
    expect(replayed.out.trimEnd().split("\n")).toHaveLength(meta.last_event_id);
    const events = (await sessions("replay", meta.id, "--json")).out.trimEnd().split("\n");
    expect(events.map((line) => parseEvent(JSON.parse(line)).id)).toEqual(events.map((_, index) => index + 1));
  });

  test("names sessions by the beginning of their id, when only one begins so", async () => {
    await put(FIRST, twoTurns("x"));
    await put(SECOND, twoTurns("y"));
    expect(await sessions("show", FIRST.slice(5).toLowerCase(), "--turn", "2")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^## Turn 2\n[\s\S]*go on/),
    });
    const refused = async (message: string, ...args: string[]) => {
      expect(await sessions(...args)).toMatchObject({ code: 2, out: "", err: expect.stringContaining(message) });
    };
    await refused(
      `2 sessions begin with 'sess_01ARZ': ${SECOND}, ${FIRST}. Give more of the id.`,
      "show",
      "sess_01ARZ",
    );
    await refused("no session begins with 'zzz'. harness sessions list", "show", "zzz");
    await refused("There is no session sess_01ARZ3NDEKTSV4RRFFQ69G5FA9", "show", "sess_01ARZ3NDEKTSV4RRFFQ69G5FA9");
    await refused("has 2 turns; there is no turn 3", "show", FIRST, "--turn", "3");
    await refused("has 2 turns; there is no turn 3", "replay", FIRST, "--turn", "3");
    await refused("--root goes with --store jsonl", "list", "--root", ".");
    await refused("unknown command 'lst'", "lst");
  });

  test("fits the terminal, and steps through a session by keys", async () => {
    await put(FIRST, [sessionStarted(), ...turnDrafts(1, "a long question ".repeat(20), "an answer")]);
    const list = openCliTerminal(home, ["sessions", "list"]);
    const shown = await list.see("…");
    for (const line of shown.split(/\r?\n/)) expect(line.length).toBeLessThanOrEqual(120);
    expect(await list.exit).toBe(0);
    const replay = openCliTerminal(home, ["sessions", "replay", FIRST]);
    await replay.see("1  00:00:00.000  turn 0  SessionStarted");
    replay.type("\r");
    await replay.see("2  00:00:00.000  turn 1  TurnStarted");
    replay.type("s 2\r");
    await replay.see("3  00:00:00.000  turn 1  TextDelta");
    replay.type("p\r");
    await replay.see("2  00:00:00.000  turn 1  TurnStarted");
    replay.type("e 5\r");
    await replay.see("5  00:00:00.000  turn 1  TurnEnded");
    replay.type("n\r");
    await replay.see("This was the last event.");
    replay.type("q\r");
    expect(await replay.exit).toBe(0);
  });
});

describe("branching and comparing", () => {
  test("branch cuts at the end of a turn, twice the same, and says where it can", async () => {
    await put(FIRST, twoTurns("x"));
    const branch = JSON.parse((await sessions("branch", FIRST, "--turn", "1", "--json")).out);
    expect(branch).toMatchObject({ source: FIRST, at: 11, created: true });
    expect(await sessions("branch", FIRST, "--at", "11")).toMatchObject({
      code: 0,
      out: `${branch.session}\n`,
      err: expect.stringContaining("was made before"),
    });
    const another = JSON.parse((await sessions("branch", FIRST, "--at", "11", "--new", "--json")).out);
    expect(another.session).not.toBe(branch.session);
    expect(await sessions("branch", FIRST, "--at", "12")).toMatchObject({
      code: 2,
      err: expect.stringContaining("the nearest turns end at event 11 and event 15"),
    });
    expect((await sessions("list")).out.match(/ branch /g)).toHaveLength(2);
    const { out } = await sessions("diff", branch.session, FIRST);
    expect(out).toContain("The first 1 turns are the same; they part in turn 2.");
    expect(out).toContain("+> go on");
    expect(out).not.toMatch(/^-[^-]/m);
  });

  test("diff shows the first turn that differs, and nothing when none does", async () => {
    await put(FIRST, twoTurns("the first end"));
    await put(SECOND, twoTurns("the other end"));
    const { code, out } = await sessions("diff", FIRST, SECOND);
    expect(code).toBe(0);
    expect(out).toContain(`--- ${FIRST}\n+++ ${SECOND}\n`);
    expect(out).toContain("they part in turn 2");
    expect(out.match(/^[-+][^-+].*$/gm)).toEqual(["-the first end", "+the other end"]);
    const json = JSON.parse((await sessions("diff", FIRST, SECOND, "--json")).out);
    expect(json).toEqual({
      a: FIRST,
      b: SECOND,
      first_differing_turn: 2,
      changes: ["-the first end", "+the other end"],
    });
    expect((await sessions("diff", FIRST, FIRST)).out).toBe("The two sessions read the same.\n");
  });
});

describe("moving", () => {
  test("export and import bring a session to another store unchanged", async () => {
    const file = await put(FIRST, twoTurns("x"));
    const { out } = await sessions("export", FIRST);
    expect(out).toBe(readFileSync(file, "utf8"));
    expect(await sessions("export", FIRST, "-o", "out.jsonl")).toMatchObject({ code: 0, out: "" });
    const written = join(home.workspace, "out.jsonl");
    expect([readFileSync(written, "utf8"), statSync(written).mode & 0o777]).toEqual([out, 0o600]);
    expect(await sessions("export", FIRST, "-o", "out.jsonl")).toMatchObject({
      code: 2,
      err: expect.stringContaining("it exists already"),
    });
    const jsonl = ["--store", "jsonl", "--root", "elsewhere"];
    expect(await runCli(home, ["sessions", "import", "-", ...jsonl], out)).toMatchObject({
      code: 0,
      out: `${FIRST}\n`,
      err: expect.stringContaining("its evidence was checked"),
    });
    expect((await sessions("export", FIRST, ...jsonl)).out).toBe(out);
    const markdown = await sessions("export", FIRST, "--format", "markdown", ...jsonl);
    expect(markdown.out).toMatch(/^# Session\n[\s\S]*## Turn 2\n[\s\S]*_Turn 2: answered .*_\n$/);
  });

  test("import refuses what is there already, what was changed and what is no export", async () => {
    const file = await put(FIRST, twoTurns("x"));
    const refused = async (message: string, ...args: string[]) => {
      const { code, err } = await sessions("import", ...args);
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
    };
    await refused("--new-id", file);
    const fresh = JSON.parse((await sessions("import", file, "--new-id", "--json")).out);
    expect(fresh).toEqual({ session: expect.stringMatching(SessionId.pattern), events: 15, evidence: "made" });
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(FIRST, SECOND).replace("begin", "began"));
    await refused(`${file}, line 2: the evidence does not follow`, file);
    await refused("cannot be used: ENOENT", "missing.jsonl");
    await refused("'x_export' is missing", home.put("other.json", "{}\n"));
    writeFileSync(file, Buffer.from([0xff, 0x0a]));
    await refused("line 1 is not UTF-8", file);
    expect(JSON.parse((await sessions("list", "--json")).out)).toHaveLength(2);
  });

  test("pin, unpin and delete", async () => {
    await put(FIRST, twoTurns("x"));
    await sessions("pin", FIRST);
    expect((await sessions("list")).out).toContain(" pinned ");
    await sessions("unpin", FIRST);
    expect((await sessions("list")).out).not.toContain("pinned");
    expect(await sessions("delete", FIRST)).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
    const terminal = openCliTerminal(home, ["sessions", "delete", FIRST]);
    await terminal.see("15 events for good? [y/N]");
    terminal.type("n\r");
    await terminal.see("Nothing was deleted.");
    expect(await terminal.exit).toBe(1);
    expect(await sessions("delete", FIRST, "--yes")).toMatchObject({ code: 0 });
    expect(await sessions("list")).toMatchObject({ code: 0, out: "", err: "There are no sessions in this log.\n" });
  });

  test("run writes to the workspace with --store jsonl, and the other commands read it there", async () => {
    expect(await runCli(home, ["run", "hello", "--store", "jsonl"])).toMatchObject({ code: 0 });
    const [meta] = JSON.parse((await sessions("list", "--store", "jsonl", "--json")).out);
    const events = join(home.workspace, ".harness", "threads", meta.id, "events.jsonl");
    expect(readFileSync(events, "utf8").trimEnd().split("\n")).toHaveLength(meta.last_event_id);
    expect(JSON.parse((await sessions("list", "--json")).out)).toEqual([]);
  });
});
