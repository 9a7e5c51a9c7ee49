import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EventDraft } from "#engine";
import { SessionId } from "#protocol";
import { exportedSession } from "../../test/fakes/exported-session.ts";
import { quietCliPorts } from "../../test/fakes/quiet-cli-ports.ts";
import { sessionStarted, turnDrafts, twoTurns } from "../../test/fakes/session-drafts.ts";
import { runCli } from "./program.ts";

const FIRST = SessionId.from("01ARZ3NDEKTSV4RRFFQ69G5FA1");
const SECOND = SessionId.from("01ARZ3NDEKTSV4RRFFQ69G5FA2");

let home: string;
let workspace: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "harness-sessions-")));
  workspace = join(home, "workspace");
  mkdirSync(workspace);
});
afterEach(() => rmSync(home, { recursive: true }));

function putFile(name: string, content: string): string {
  const path = join(workspace, name);
  writeFileSync(path, content);
  return path;
}

/** The program in this process; nobody is at its terminal. */
async function sessions(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: "", err: "" };
  const env = { XDG_DATA_HOME: join(home, "data"), HOME: home };
  const code = await runCli(["sessions", ...args], quietCliPorts(said, { env, cwd: workspace }));
  return { code, ...said };
}

/** Puts a session with these events into the log by way of an export. */
async function put(id: SessionId, drafts: readonly EventDraft[], ...flags: string[]): Promise<string> {
  const file = putFile(`${id}.jsonl`, await exportedSession(id, drafts, workspace));
  expect(await sessions("import", file, ...flags)).toMatchObject({ code: 0, out: `${id}\n` });
  return file;
}

test("sessions are named by the beginning of their id, when only one begins so", async () => {
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
    `2 session ids begin with 'sess_01ARZ': ${SECOND}, ${FIRST}. Type more of the id.`,
    "show",
    "sess_01ARZ",
  );
  await refused("no session id begins with 'zzz'. To list the sessions, run: harness sessions list", "show", "zzz");
  await refused("There is no session sess_01ARZ3NDEKTSV4RRFFQ69G5FA9", "show", "sess_01ARZ3NDEKTSV4RRFFQ69G5FA9");
  await refused("has 2 turns; there is no turn 3", "show", FIRST, "--turn", "3");
  await refused("has 2 turns; there is no turn 3", "replay", FIRST, "--turn", "3");
  await refused("--root needs --store jsonl", "list", "--root", ".");
  await refused("unknown command 'lst'", "lst");
});

test("list has titles, and those of this folder first", async () => {
  await put(FIRST, twoTurns("x"));
  const elsewhere = putFile("elsewhere.jsonl", await exportedSession(SECOND, twoTurns("y"), home));
  await sessions("import", elsewhere);
  const ids = async (...flags: string[]) =>
    (JSON.parse((await sessions("list", "--json", ...flags)).out) as { id: string }[]).map(({ id }) => id);
  expect(await ids()).toEqual([FIRST, SECOND]);
  expect(await ids("--limit", "1")).toEqual([FIRST]);
  expect(await ids("--here")).toEqual([FIRST]);
  expect((await sessions("list")).out).toMatch(/TITLE\n.*begin\s*\n/);
});

describe("branching and comparing", () => {
  test("branch cuts at the end of a turn, twice the same, and says where it can", async () => {
    await put(FIRST, twoTurns("x"));
    const branch = JSON.parse((await sessions("branch", FIRST, "--turn", "1", "--json")).out);
    expect(branch).toMatchObject({ source: FIRST, at: 11, created: true });
    expect(await sessions("branch", FIRST, "--at", "11")).toMatchObject({
      code: 0,
      out: `${branch.session}\n`,
      err: expect.stringContaining("already exists"),
    });
    const another = JSON.parse((await sessions("branch", FIRST, "--at", "11", "--new", "--json")).out);
    expect(another.session).not.toBe(branch.session);
    expect(await sessions("branch", FIRST, "--at", "12")).toMatchObject({
      code: 2,
      err: expect.stringContaining("the nearest turns end at event 11 and event 15"),
    });
    expect((await sessions("list")).out.match(/ branch /g)).toHaveLength(2);
    const { out } = await sessions("diff", branch.session, FIRST);
    expect(out).toContain("The first difference is in turn 2.");
    expect(out).toContain("+> go on");
    expect(out).not.toMatch(/^-[^-]/m);
  });

  test("diff shows the first turn that differs, and nothing when none does", async () => {
    await put(FIRST, twoTurns("the first end"));
    await put(SECOND, twoTurns("the other end"));
    const { code, out } = await sessions("diff", FIRST, SECOND);
    expect(code).toBe(0);
    expect(out).toContain(`--- ${FIRST}\n+++ ${SECOND}\n`);
    expect(out).toContain("The first difference is in turn 2.");
    expect(out.match(/^[-+][^-+].*$/gm)).toEqual(["-the first end", "+the other end"]);
    const json = JSON.parse((await sessions("diff", FIRST, SECOND, "--json")).out);
    expect(json).toEqual({
      a: FIRST,
      b: SECOND,
      first_differing_turn: 2,
      changes: ["-the first end", "+the other end"],
    });
    expect((await sessions("diff", FIRST, FIRST)).out).toBe("The two sessions have the same transcript.\n");
  });
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
  await refused("the payload is not the one that was recorded", file);
  await refused("cannot be used: ENOENT", "missing.jsonl");
  await refused("'x_export' is missing", putFile("other.json", "{}\n"));
  writeFileSync(file, Buffer.from([0xff, 0x0a]));
  await refused("line 1 is not UTF-8", file);
  expect(JSON.parse((await sessions("list", "--json")).out)).toHaveLength(2);
});

test("pin, unpin, and delete only when it was said", async () => {
  await put(FIRST, twoTurns("x"));
  await sessions("pin", FIRST);
  expect((await sessions("list")).out).toContain(" pinned ");
  await sessions("unpin", FIRST);
  expect((await sessions("list")).out).not.toContain("pinned");
  expect(await sessions("delete", FIRST)).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
  expect(await sessions("delete", FIRST, "--yes")).toMatchObject({ code: 0 });
  expect(await sessions("list")).toMatchObject({ code: 0, out: "", err: "There are no sessions in this log.\n" });
});

test("a configuration that cannot be read says nothing about secrets, so nothing of the log is shown", async () => {
  await put(FIRST, [sessionStarted(), ...turnDrafts(1, "badge B-120394 here", "It is B-120394.")]);
  const config = join(home, ".config", "harness", "config.toml");
  mkdirSync(join(config, ".."), { recursive: true });
  const pattern = '[redaction]\npatterns = [{ kind = "badge", pattern = "B-[0-9]{6}" }]\n';
  const ways = [["list"], ["show", FIRST], ["export", FIRST], ["replay", FIRST]];

  writeFileSync(config, pattern);
  for (const way of ways) expect(JSON.stringify(await sessions(...way)), way[0]).not.toContain("120394");

  writeFileSync(config, `${pattern}this is [ broken\n`);
  for (const way of ways) {
    const { code, out, err } = await sessions(...way);
    expect({ way, code, out, err }).toEqual({ way, code: 2, out: "", err: expect.stringContaining("ConfigInvalid") });
  }
});
