/** `harness audit` as people call it: a session that was really run, its export, anchors in a file and in a git note. */
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type SessionId, SessionId as SessionIds } from "#protocol";
import { machineKey } from "#sessions";
import { openDatabase } from "../../src/sessions/sqlite-driver.ts";
import { type CliHome, createCliHome, runCli } from "../fakes/cli-process.ts";
import { createManualClock } from "../fakes/manual-clock.ts";

const clock = createManualClock();
let home: CliHome;
let session: SessionId;
let database: string;

beforeEach(async () => {
  home = createCliHome();
  database = join(home.env.XDG_DATA_HOME ?? "", "harness", "sessions.db");
  const { out } = await runCli(home, ["run", "--json", "hello"]);
  const id = /"session":"(sess_\w+)"/.exec(out)?.[1] ?? "";
  if (!SessionIds.is(id)) throw new Error(`no session in ${out}`);
  session = id;
});

function tamper(sql: string): void {
  const db = openDatabase({ path: database, clock, key: machineKey(home.env) });
  db.exec(sql);
  db.close();
}

async function exported(): Promise<string> {
  const file = join(home.workspace, "export.jsonl");
  expect(await runCli(home, ["sessions", "export", session, "-o", file])).toMatchObject({ code: 0 });
  return file;
}

/** The verifier that needs nothing of the program. */
function script(file: string, key: string): { code: number | null; out: string } {
  const path = join(import.meta.dirname, "../../scripts/verify-log.mjs");
  const { status, stdout } = spawnSync(process.execPath, [path, file, "--key", key], { encoding: "utf8", env: {} });
  return { code: status, out: stdout };
}

test("a session is signed as it runs, verifies, and an edit in the log is told", async () => {
  const good = await runCli(home, ["audit", "verify", session]);
  expect(good).toMatchObject({
    code: 0,
    err: "",
    out: expect.stringMatching(/^intact: sess_\w+ \(\d+ events, \d+ checkpoints?, 0 anchors\)\n$/),
  });
  tamper("UPDATE events SET payload = replace(payload, 'hello', 'goodbye') WHERE kind = 'TurnStarted'");
  const bad = await runCli(home, ["audit", "verify", session]);
  expect(bad).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^event \d+: altered: .*content.* was changed\n$/),
    err: expect.stringContaining("EvidenceBroken"),
  });
  const json = await runCli(home, ["audit", "verify", session, "--json"]);
  expect(json.code).toBe(1);
  expect(JSON.parse(json.out)).toMatchObject({
    intact: false,
    reason: "EvidenceBroken",
    session,
    findings: [{ event: 2, what: "altered" }],
  });
});

test("an export verifies with the key, not with another, and not after an edit", async () => {
  const file = await exported();
  const key = (await runCli(home, ["audit", "key"])).out.trim();
  expect(await runCli(home, ["audit", "verify", file])).toMatchObject({ code: 0 });
  expect(await runCli(home, ["audit", "verify", file, "--key", key])).toMatchObject({ code: 0 });
  const stranger = await runCli(home, ["audit", "verify", file, "--key", "ab".repeat(32)]);
  expect(stranger).toMatchObject({ code: 1, out: expect.stringContaining("unknown-key") });
  expect(script(file, key)).toMatchObject({ code: 0, out: expect.stringContaining("intact") });
  writeFileSync(file, readFileSync(file, "utf8").replace("hello", "hullo"));
  expect(await runCli(home, ["audit", "verify", file])).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^event 2: altered/),
  });
  expect(script(file, key)).toMatchObject({ code: 1, out: expect.stringMatching(/^event 2: altered/) });
  writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from([0xff])]));
  expect((await runCli(home, ["audit", "verify", file])).out).toContain("unreadable");
  writeFileSync(file, "");
  const empty = await runCli(home, ["audit", "verify", file]);
  expect(empty).toMatchObject({ code: 1, err: expect.stringContaining("EvidenceBroken: The log is not as it was") });
});

test("an anchor in a file and one in a git note show that the tail was cut", async () => {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: home.workspace, env: { ...home.env } });
  // A second run goes on behind what the first one signed.
  await runCli(home, ["run", "--resume", session, "again"]);
  git("init", "-q");
  git("-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--allow-empty", "-m", "first");
  const hook = join(home.workspace, ".git", "hooks", "reference-transaction");
  writeFileSync(hook, `#!/bin/sh\ntouch ${join(home.workspace, "hook-ran")}\n`);
  chmodSync(hook, 0o755);
  const anchored = await runCli(home, ["audit", "anchor", session, "--file", "anchors.txt", "--git-note"]);
  expect(anchored).toMatchObject({ code: 0, err: "", out: expect.stringContaining("git note on ") });
  expect(existsSync(join(home.workspace, "hook-ran"))).toBe(false);
  // A second one, on the same note and in the same file.
  await runCli(home, ["audit", "anchor", session, "--file", "anchors.txt", "--git-note", "--json"]);
  const both = ["--anchor", "anchors.txt", "--git-note"];
  expect(await runCli(home, ["audit", "verify", session, ...both])).toMatchObject({
    code: 0,
    out: expect.stringContaining("4 anchors"),
  });
  tamper(`DELETE FROM checkpoints WHERE event > (SELECT min(event) FROM checkpoints);
    DELETE FROM events WHERE id > (SELECT max(event) FROM checkpoints);
    UPDATE sessions SET head_event = (SELECT event FROM checkpoints), head = (SELECT hash FROM checkpoints)`);
  expect(await runCli(home, ["audit", "verify", session])).toMatchObject({ code: 0 });
  for (const flags of [["--anchor", "anchors.txt"], ["--git-note"]]) {
    const cut = await runCli(home, ["audit", "verify", session, ...flags]);
    expect(cut).toMatchObject({ code: 1, out: expect.stringContaining("truncated: there is an anchor") });
  }
});

test("a session is named by the beginning of its id, also in the JSONL log, which is signed as well", async () => {
  expect(await runCli(home, ["audit", "verify", session.slice(0, 20)])).toMatchObject({
    code: 0,
    out: expect.stringContaining(`intact: ${session}`),
  });
  const { out } = await runCli(home, ["run", "--store", "jsonl", "--json", "hello"]);
  const id = /"session":"(sess_\w+)"/.exec(out)?.[1] ?? "";
  const jsonl = ["--store", "jsonl", "--root", home.workspace];
  expect(await runCli(home, ["audit", "verify", id.slice(5, 22), ...jsonl])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^intact: sess_\w+ \(\d+ events, 1 checkpoint, 0 anchors\)\n$/),
  });
  expect(await runCli(home, ["audit", "anchor", id, "--file", "anchors.txt", ...jsonl])).toMatchObject({ code: 0 });
  const file = join(home.workspace, ".harness", "threads", id, "events.jsonl");
  writeFileSync(file, readFileSync(file, "utf8").replace("hello", "hullo"));
  const bad = await runCli(home, ["audit", "verify", id, ...jsonl, "--anchor", "anchors.txt"]);
  expect(bad).toMatchObject({ code: 1, out: expect.stringContaining("altered") });
});

describe("usage", () => {
  test("what cannot be checked is exit code 2", async () => {
    appendFileSync(home.put("bad.txt", ""), "harness-anchor-1 x\n");
    const calls = [
      ["verify", "missing.jsonl"],
      ["verify", "sess_01ARZ3NDEKTSV4RRFFQ69G5FAV"],
      ["verify", session, "--key", "short"],
      ["verify", session, "--anchor", "missing.txt"],
      ["verify", session, "--anchor", "bad.txt"],
      ["verify", session, "--git-note"],
      ["anchor", session],
      ["anchor", "nothing", "--file", "anchors.txt"],
      ["verify"],
    ];
    const codes = await Promise.all(calls.map(async (call) => (await runCli(home, ["audit", ...call])).code));
    expect(codes).toEqual(calls.map(() => 2));
  });

  test("a broken session is not anchored", async () => {
    tamper("UPDATE events SET ts = '2020-01-01T00:00:00.000Z' WHERE id = 1");
    const { code, out } = await runCli(home, ["audit", "anchor", session, "--file", "anchors.txt"]);
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringContaining("broken-link") });
    expect(existsSync(join(home.workspace, "anchors.txt"))).toBe(false);
  });

  test("a signing key that others may read stops the run", async () => {
    chmodSync(join(home.env.XDG_CONFIG_HOME ?? "", "harness", "signing.key"), 0o644);
    expect(await runCli(home, ["run", "hello"])).toMatchObject({ code: 2, err: expect.stringContaining("KeyInvalid") });
  });
});
