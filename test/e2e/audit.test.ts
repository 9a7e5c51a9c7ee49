/** `harness audit` as people call it: a session that was really run, its export, anchors in a file and in a git note. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type SessionId, SessionId as SessionIds } from "#protocol";
import { machineKey } from "#stores";
import { openDatabase } from "../../src/stores/sqlite/driver.ts";
import { callCli } from "../fakes/cli-call.ts";
import { type CliHome, createCliHome, offlineModel, runCli } from "../fakes/cli-process.ts";
import { createManualClock } from "../fakes/manual-clock.ts";

const clock = createManualClock();
let home: CliHome;
let session: SessionId;
let database: string;

beforeEach(async () => {
  home = createCliHome(offlineModel);
  database = join(home.env.XDG_DATA_HOME ?? "", "harness", "sessions.db");
  const { out } = await callCli(home, ["run", "--json", "hello"]);
  const id = /"session":"(sess_\w+)"/.exec(out)?.[1] ?? "";
  if (!SessionIds.is(id)) throw new Error(`no session in ${out}`);
  session = id;
});

function tamper(sql: string): void {
  const db = openDatabase({ path: database, clock, key: machineKey(home.env) });
  db.exec(sql);
  db.close();
}

function heads(): string {
  return join(home.env.HOME ?? "", ".local", "state", "harness", "heads");
}

async function exported(): Promise<string> {
  const file = join(home.workspace, "export.jsonl");
  expect(await callCli(home, ["sessions", "export", session, "-o", file])).toMatchObject({ code: 0 });
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
  const bad = await callCli(home, ["audit", "verify", session]);
  expect(bad).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^event \d+: altered: .*content.* was changed\n$/),
    err: expect.stringContaining("EvidenceBroken"),
  });
  const json = await callCli(home, ["audit", "verify", session, "--json"]);
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
  const key = (await callCli(home, ["audit", "key"])).out.trim();
  expect(await callCli(home, ["audit", "verify", file])).toMatchObject({ code: 0 });
  expect(await callCli(home, ["audit", "verify", file, "--key", key])).toMatchObject({ code: 0 });
  const stranger = await callCli(home, ["audit", "verify", file, "--key", "ab".repeat(32)]);
  expect(stranger).toMatchObject({ code: 1, out: expect.stringContaining("unknown-key") });
  expect(script(file, key)).toMatchObject({ code: 0, out: expect.stringContaining("intact") });
  writeFileSync(file, readFileSync(file, "utf8").replace("hello", "hullo"));
  expect(await callCli(home, ["audit", "verify", file])).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^event 2: altered/),
  });
  expect(script(file, key)).toMatchObject({ code: 1, out: expect.stringMatching(/^event 2: altered/) });
  writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from([0xff])]));
  expect((await callCli(home, ["audit", "verify", file])).out).toContain("unreadable");
  writeFileSync(file, "");
  const empty = await callCli(home, ["audit", "verify", file]);
  expect(empty).toMatchObject({ code: 1, err: expect.stringContaining("EvidenceBroken: The log was altered") });
});

test("an anchor in a file and one in a git note show that the tail was cut", async () => {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: home.workspace, env: { ...home.env } });
  // A second run goes on behind what the first one signed.
  await callCli(home, ["run", "--resume", session, "again"]);
  git("init", "-q");
  git("-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--allow-empty", "-m", "first");
  const hook = join(home.workspace, ".git", "hooks", "reference-transaction");
  writeFileSync(hook, `#!/bin/sh\ntouch ${join(home.workspace, "hook-ran")}\n`);
  chmodSync(hook, 0o755);
  const anchored = await callCli(home, ["audit", "anchor", session, "--file", "anchors.txt", "--git-note"]);
  expect(anchored).toMatchObject({ code: 0, err: "", out: expect.stringContaining("git note on ") });
  expect(existsSync(join(home.workspace, "hook-ran"))).toBe(false);
  // A second one, on the same note and in the same file.
  await callCli(home, ["audit", "anchor", session, "--file", "anchors.txt", "--git-note", "--json"]);
  const both = ["--anchor", "anchors.txt", "--git-note"];
  expect(await callCli(home, ["audit", "verify", session, ...both])).toMatchObject({
    code: 0,
    out: expect.stringContaining("4 anchors"),
  });
  tamper(`DELETE FROM checkpoints WHERE event > (SELECT min(event) FROM checkpoints);
    DELETE FROM events WHERE id > (SELECT max(event) FROM checkpoints);
    UPDATE sessions SET head_event = (SELECT event FROM checkpoints), head = (SELECT hash FROM checkpoints)`);
  // The last known head tells it too, on this machine; anchors tell it where that is gone.
  expect(await callCli(home, ["audit", "verify", session])).toMatchObject({ code: 3 });
  rmSync(heads(), { recursive: true });
  expect(await callCli(home, ["audit", "verify", session])).toMatchObject({ code: 0 });
  for (const flags of [["--anchor", "anchors.txt"], ["--git-note"]]) {
    const cut = await callCli(home, ["audit", "verify", session, ...flags]);
    expect(cut).toMatchObject({ code: 1, out: expect.stringContaining("truncated: there is an anchor") });
  }
});

test("a session is named by the beginning of its id, also in the JSONL log, which is signed as well", async () => {
  expect(await callCli(home, ["audit", "verify", session.slice(0, 20)])).toMatchObject({
    code: 0,
    out: expect.stringContaining(`intact: ${session}`),
  });
  const { out } = await callCli(home, ["run", "--store", "jsonl", "--json", "hello"]);
  const id = /"session":"(sess_\w+)"/.exec(out)?.[1] ?? "";
  const jsonl = ["--store", "jsonl", "--root", home.workspace];
  expect(await callCli(home, ["audit", "verify", id.slice(5, 22), ...jsonl])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^intact: sess_\w+ \(\d+ events, 1 checkpoint, 0 anchors\)\n$/),
  });
  expect(await callCli(home, ["audit", "anchor", id, "--file", "anchors.txt", ...jsonl])).toMatchObject({ code: 0 });
  const folder = join(home.workspace, ".harness", "threads", id);
  cpSync(folder, `${home.workspace}-copy`, { recursive: true });
  await callCli(home, ["run", "--store", "jsonl", "--resume", id, "again"]);
  rmSync(folder, { recursive: true });
  expect(await callCli(home, ["audit", "verify", id, ...jsonl])).toMatchObject({ code: 3, out: `gone: ${id}\n` });
  cpSync(`${home.workspace}-copy`, folder, { recursive: true });
  expect(await callCli(home, ["audit", "verify", id, ...jsonl])).toMatchObject({
    code: 3,
    err: expect.stringContaining(`harness audit accept ${id} --store jsonl --root ${home.workspace}`),
  });
  const file = join(folder, "events.jsonl");
  writeFileSync(file, readFileSync(file, "utf8").replace("hello", "hullo"));
  const bad = await callCli(home, ["audit", "verify", id, ...jsonl, "--anchor", "anchors.txt"]);
  expect(bad).toMatchObject({ code: 1, out: expect.stringContaining("altered") });
});

describe("a data folder that was put back to an older copy", () => {
  const verify = (...flags: string[]) => callCli(home, ["audit", "verify", ...flags]);
  let lost: string;

  /** The copy has one turn of the session, and not the second session. */
  beforeEach(async () => {
    const data = home.env.XDG_DATA_HOME ?? "";
    cpSync(data, `${data}-copy`, { recursive: true });
    await callCli(home, ["run", "--resume", session, "again"]);
    lost = /"session":"(sess_\w+)"/.exec((await callCli(home, ["run", "--json", "another"])).out)?.[1] ?? "";
    expect(await verify("--all")).toMatchObject({ code: 0, err: "" });
    rmSync(data, { recursive: true });
    cpSync(`${data}-copy`, data, { recursive: true });
  });

  test("is intact and older than the last known head, with an exit code of its own, and lost sessions are named", async () => {
    expect(await verify(session)).toMatchObject({
      code: 3,
      out: expect.stringMatching(/^intact, but older than the last known head \(event \d+, 20\S+Z\): sess_\w+ \(/),
      err: expect.stringContaining(`HeadMismatch: The log of ${session} ends before its last known head`),
    });
    const json = await verify(session, "--json");
    expect(json.code).toBe(3);
    expect(JSON.parse(json.out)).toMatchObject({
      intact: true,
      reason: "HeadMismatch",
      session,
      head: { state: "older", event: expect.any(Number), ts: expect.any(String) },
      findings: [],
    });
    expect(await verify(lost)).toMatchObject({ code: 3, out: `gone: ${lost}\n`, err: expect.stringContaining(lost) });
    const all = await verify("--all", "--json");
    expect(all.code).toBe(3);
    const states = all.out.trimEnd().split("\n");
    expect(states.map((line) => JSON.parse(line).head.state)).toEqual(["older", "gone"]);
    const doctor = await callCli(home, ["doctor", "--json"]);
    expect(doctor).toMatchObject({ code: 1, out: expect.stringContaining("ends before its last known head") });
    expect(await callCli(home, ["sessions", "doctor"])).toMatchObject({ code: 1, out: expect.stringContaining(lost) });
    const anchor = await callCli(home, ["audit", "anchor", session, "--file", "anchors.txt"]);
    expect({ code: anchor.code, isThere: existsSync(join(home.workspace, "anchors.txt")) }).toEqual({
      code: 3,
      isThere: false,
    });
  });

  test("is told to whoever goes on with a session, stays found, and a person can accept it", async () => {
    const resumed = await callCli(home, ["run", "--resume", session, "--json", "on from the copy"]);
    expect(resumed).toMatchObject({ code: 0, out: expect.stringContaining("HeadMismatch") });
    expect(await verify(session, "--json")).toMatchObject({ code: 3 });
    expect(await callCli(home, ["audit", "accept", session])).toMatchObject({ code: 2 });
    const accepted = await callCli(home, ["audit", "accept", session, "--yes"]);
    expect(accepted).toMatchObject({ code: 0, out: expect.stringMatching(/^Event \d+ is now the last known head/) });
    expect(await callCli(home, ["audit", "accept", lost, "--yes"])).toMatchObject({ code: 0 });
    expect(await verify("--all")).toMatchObject({ code: 0, err: "" });
    await callCli(home, ["run", "--resume", session, "once more"]);
    expect(await verify(session)).toMatchObject({ code: 0, err: "" });
  });

  test("is intact with a note where the state folder is empty, and a head that was changed is told", async () => {
    const [log = ""] = readdirSync(heads());
    const file = join(heads(), log, session);
    writeFileSync(file, readFileSync(file, "latin1").replace(/ \d+ /, " 1 "));
    expect(await verify(session)).toMatchObject({
      code: 3,
      out: expect.stringMatching(/^intact, but the last known head was tampered with: /),
    });
    rmSync(heads(), { recursive: true });
    expect(await verify(session)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^intact: /),
      err: expect.stringMatching(/^This machine has no last known head of sess_\w+/),
    });
  });
});

test.runIf(process.platform === "linux")(
  "with audit.keychain, folders that were put back together are noticed until a person accepts it",
  async () => {
    const { HOME = "", XDG_DATA_HOME: data = "", XDG_CONFIG_HOME: config = "", PATH } = home.env;
    const state = join(HOME, ".local", "state");
    const folder = join(HOME, "bin");
    const kept = join(HOME, "kept-by-keychain");
    mkdirSync(folder);
    const script = `#!/bin/sh\ncase "$1" in store) cat > ${kept};; lookup) cat ${kept};; clear) rm ${kept};; esac\n`;
    writeFileSync(join(folder, "secret-tool"), script, { mode: 0o755 });
    appendFileSync(join(config, "harness", "config.toml"), "\n[audit]\nkeychain = true\n");
    const own = { ...home, env: { ...home.env, PATH: `${folder}:${PATH}` } };
    for (const path of [data, state]) cpSync(path, `${path}-copy`, { recursive: true });
    await callCli(own, ["run", "--resume", session, "again"]);
    expect(await callCli(own, ["audit", "verify", session])).toMatchObject({ code: 0, err: "" });
    for (const path of [data, state]) {
      rmSync(path, { recursive: true });
      cpSync(`${path}-copy`, path, { recursive: true });
    }
    const other = await callCli(own, ["run", "another"]);
    expect(other).toMatchObject({ code: 0, err: expect.stringContaining(`${session} is newer there than here`) });
    const older = await callCli(own, ["audit", "verify", session]);
    expect(older).toMatchObject({ code: 3, out: expect.stringMatching(/^intact, but older than the last known head/) });
    expect(await callCli(own, ["audit", "accept", session, "--yes"])).toMatchObject({ code: 0 });
    expect(await callCli(own, ["audit", "verify", "--all"])).toMatchObject({ code: 0, err: "" });
  },
);

test("a session that was deleted is not missed, and a new machine key changes nothing", async () => {
  expect(await callCli(home, ["sessions", "rekey"])).toMatchObject({ code: 0 });
  expect(await callCli(home, ["audit", "verify", "--all"])).toMatchObject({ code: 0, err: "" });
  expect(await callCli(home, ["sessions", "delete", session, "--yes"])).toMatchObject({ code: 0 });
  expect(await callCli(home, ["audit", "verify", "--all"])).toMatchObject({ code: 0, out: "", err: "" });
  expect(await callCli(home, ["audit", "verify", session])).toMatchObject({ code: 2 });
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
      ["verify", session, "--all"],
      ["accept", "sess_01ARZ3NDEKTSV4RRFFQ69G5FAV", "--yes"],
    ];
    const codes = await Promise.all(calls.map(async (call) => (await callCli(home, ["audit", ...call])).code));
    expect(codes).toEqual(calls.map(() => 2));
  });

  test("a broken session is not anchored", async () => {
    tamper("UPDATE events SET ts = '2020-01-01T00:00:00.000Z' WHERE id = 1");
    const { code, out } = await callCli(home, ["audit", "anchor", session, "--file", "anchors.txt"]);
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringContaining("broken-link") });
    expect(existsSync(join(home.workspace, "anchors.txt"))).toBe(false);
  });

  test("a signing key that others may read stops the run", async () => {
    chmodSync(join(home.env.XDG_CONFIG_HOME ?? "", "harness", "signing.key"), 0o644);
    expect(await callCli(home, ["run", "hello"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("KeyInvalid"),
    });
  });
});
