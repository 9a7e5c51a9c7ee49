/** `harness sessions …` as users and scripts call it: real processes on real logs. */
import { appendFileSync, chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { EventDraft } from "#engine";
import { SessionId } from "#protocol";
import { parseEvent } from "#protocol/schemas";
import { callCli } from "../fakes/cli-call.ts";
import { type CliHome, createCliHome, offlineModel, openCliTerminal, runCli } from "../fakes/cli-process.ts";
import { exportedSession } from "../fakes/exported-session.ts";
import { sessionStarted, turnDrafts, twoTurns } from "../fakes/session-drafts.ts";

const FIRST = SessionId.from("01ARZ3NDEKTSV4RRFFQ69G5FA1");

const WRITING = `
name: writing
rules:
  - when: {tool: exec}
    reply: [{text: "Done."}]
otherwise: [{tool: exec, args: {command: "printf two > a.txt"}}]
`;

let home: CliHome;
beforeEach(() => {
  home = createCliHome(offlineModel);
});

const sessions = (...args: string[]) => callCli(home, ["sessions", ...args]);

/** Puts a session with these events into the log by way of an export. */
async function put(id: SessionId, drafts: readonly EventDraft[], ...flags: string[]): Promise<string> {
  const file = home.put(`${id}.jsonl`, await exportedSession(id, drafts, home.workspace));
  expect(await sessions("import", file, ...flags)).toMatchObject({ code: 0, out: `${id}\n` });
  return file;
}

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

test("a branch, its pin, and the difference to its source", async () => {
  await put(FIRST, twoTurns("x"));
  const branch = (await sessions("branch", FIRST, "--turn", "1")).out.trim();
  expect(await sessions("pin", branch)).toMatchObject({ code: 0 });
  expect((await sessions("list")).out).toMatch(new RegExp(`^${branch} .* pinned, branch `, "m"));
  const { code, out } = await sessions("diff", branch, FIRST);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("The first difference is in turn 2.") });
  expect(out).toContain("+> go on");
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
    expect(await callCli(home, ["sessions", "import", "-", ...jsonl], out)).toMatchObject({
      code: 0,
      out: `${FIRST}\n`,
      err: expect.stringContaining("its evidence was checked"),
    });
    expect((await sessions("export", FIRST, ...jsonl)).out).toBe(out);
    const markdown = await sessions("export", FIRST, "--format", "markdown", ...jsonl);
    expect(markdown.out).toMatch(/^# Session\n[\s\S]*## Turn 2\n[\s\S]*_Turn 2: answered .*_\n$/);
  });

  test("delete asks on a terminal", async () => {
    await put(FIRST, twoTurns("x"));
    const terminal = openCliTerminal(home, ["sessions", "delete", FIRST]);
    await terminal.see("15 events permanently? [y/N]");
    terminal.type("n\r");
    await terminal.see("Nothing was deleted.");
    expect(await terminal.exit).toBe(1);
    expect(await sessions("delete", FIRST, "--yes")).toMatchObject({ code: 0 });
    expect(await sessions("list")).toMatchObject({ code: 0, out: "", err: "There are no sessions in this log.\n" });
  });

  test("run writes to the workspace with --store jsonl, and the other commands read it there", async () => {
    expect(await callCli(home, ["run", "hello", "--store", "jsonl"])).toMatchObject({ code: 0 });
    const [meta] = JSON.parse((await sessions("list", "--store", "jsonl", "--json")).out);
    const events = join(home.workspace, ".harness", "threads", meta.id, "events.jsonl");
    expect(readFileSync(events, "utf8").trimEnd().split("\n")).toHaveLength(meta.last_event_id);
    expect(JSON.parse((await sessions("list", "--json")).out)).toEqual([]);
  });
});

describe("looking after the log", () => {
  test("doctor finds nothing wrong with a fresh log, and says what is wrong with a damaged one", async () => {
    const home = createCliHome(offlineModel);
    await callCli(home, ["run", "hello"]);
    expect(await callCli(home, ["sessions", "doctor"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("nothing is wrong"),
    });
    chmodSync(join(home.env.XDG_DATA_HOME ?? "", "harness/sessions.db"), 0o644);
    expect(await callCli(home, ["sessions", "doctor"])).toMatchObject({ out: expect.stringMatching(/mode/) });
    const other = { ...home, env: { ...home.env, HARNESS_MACHINE_KEY: "0".repeat(64) } };
    const wrong = await callCli(other, ["sessions", "doctor", "--json"]);
    expect(wrong.code).toBe(1);
    expect(JSON.parse(wrong.out)).toMatchObject({
      findings: expect.arrayContaining([expect.objectContaining({ level: "error" })]),
    });
  });

  test("rekey changes the key file, and the sessions and what undo keeps are still there", async () => {
    const home = createCliHome(offlineModel);
    home.put("writing.yaml", WRITING);
    home.put("a.txt", "one");
    await callCli(home, ["run", "--model", "scripted:./writing.yaml", "--auto-approve", "hello"]);
    expect(readFileSync(join(home.workspace, "a.txt"), "utf8")).toBe("two");
    const key = join(home.env.XDG_CONFIG_HOME ?? "", "harness/machine.key");
    const before = readFileSync(key);
    expect(await callCli(home, ["sessions", "rekey"])).toMatchObject({ code: 0 });
    expect(readFileSync(key).equals(before)).toBe(false);
    expect(JSON.parse((await callCli(home, ["sessions", "list", "--json"])).out)).toHaveLength(1);
    expect(await callCli(home, ["undo"])).toMatchObject({ code: 0, out: expect.stringContaining("a.txt  restored") });
    const [{ id }] = JSON.parse((await callCli(home, ["sessions", "list", "--json"])).out) as [{ id: string }];
    const deleted = await callCli(home, ["sessions", "delete", id, "--yes"]);
    expect(deleted).toMatchObject({ code: 0, err: expect.stringContaining("with its undo data") });
    expect(await callCli(home, ["redo"])).toMatchObject({ code: 1, err: expect.stringContaining("NothingToUndo") });
    const given = { ...home, env: { ...home.env, HARNESS_PASSPHRASE: "x" } };
    expect(await callCli(given, ["sessions", "rekey"])).toMatchObject({ code: 2 });
  });

  test("a torn end of a readable log is repaired and told, once", async () => {
    const home = createCliHome(offlineModel);
    const readable = ["run", "--store", "jsonl"];
    const first = await callCli(home, [...readable, "--json", "hello"]);
    const { session } = JSON.parse(first.out.slice(0, first.out.indexOf("\n"))) as { session: string };
    appendFileSync(join(home.workspace, ".harness/threads", session, "events.jsonl"), '{"id":9');
    const repaired = await callCli(home, [...readable, "--resume", session, "hello again"]);
    expect(repaired).toMatchObject({
      code: 0,
      err: expect.stringContaining("the last 7 bytes, which it had never acknowledged"),
    });
    const again = await callCli(home, [...readable, "--resume", session, "and again"]);
    expect(again).toMatchObject({ code: 0, err: expect.not.stringContaining("never acknowledged") });
  });

  test.each(["sqlite", "jsonl"])("--resume takes the beginning of an id, as other commands do (%s)", async (store) => {
    const home = createCliHome(offlineModel);
    const run = ["run", "--store", store, "--json"];
    const sessionOf = (out: string) => /"session":"(sess_\w+)"/.exec(out)?.[1];
    const session = sessionOf((await callCli(home, [...run, "hello"])).out);
    const resumed = await callCli(home, [...run, "--resume", session?.slice("sess_".length, -1) ?? "", "hello again"]);
    expect({ code: resumed.code, session: sessionOf(resumed.out) }).toEqual({ code: 0, session });
    expect(await callCli(home, ["run", "--store", store, "--resume", "sess_NONE", "hello"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("To list the sessions, run: harness sessions list"),
    });
  });

  test("content goes when its time is over, and the session can still be read", async () => {
    const home = createCliHome(offlineModel);
    home.configure("[retention]\ncontent_days = 0.000000001\n");
    await callCli(home, ["run", "a secret question"]);
    expect(await callCli(home, ["sessions", "expire"])).toMatchObject({ code: 0 });
    const [session] = JSON.parse((await callCli(home, ["sessions", "list", "--json"])).out) as { id: string }[];
    const shown = await callCli(home, ["sessions", "show", session?.id ?? ""]);
    expect(shown.code).toBe(0);
    expect(shown.out).not.toContain("a secret question");
    expect(await callCli(home, ["sessions", "doctor"])).toMatchObject({ code: 0 });
  });
});
