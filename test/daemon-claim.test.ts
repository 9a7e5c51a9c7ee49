/** Who is the daemon: never two at a time, whoever comes at the same moment, dies or leaves something behind. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { hostname, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createSystemClock, processPlace, startMark } from "#world";
import { createOutward } from "../src/cli/outward.ts";
import { claimDaemon, type DaemonFacts, findClaim } from "../src/daemon/claim.ts";
import { createDaemonRevival } from "../src/daemon/revival.ts";
import { daemonPlaces, lookForDaemon, START_PATIENCE_MS } from "../src/daemon/state.ts";
import { createManualClock } from "./fakes/manual-clock.ts";
import { quietCliPorts } from "./fakes/quiet-cli-ports.ts";

const module = resolve(import.meta.dirname, "../src/daemon/claim.ts");
const world = resolve(import.meta.dirname, "../src/world/index.ts");
const clock = createSystemClock();
const facts: DaemonFacts = {
  version: "1.0.0",
  commit: "abc",
  builtAt: "",
  startedAt: "2026-01-01T00:00:00.000Z",
  startedUpMs: clock.uptimeMs(),
  addresses: [],
  tokenFile: "/t",
  args: ["-m", "x:y"],
  cwd: "/",
  background: true,
};

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "harness-claim-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return join(path, "daemon");
}

/** Claims again and again; while it has the claim, a file says so that nobody else may have made. */
const CONTENDER = `
  import { rmSync, writeFileSync } from "node:fs";
  const { claimDaemon } = await import(${JSON.stringify(module)});
  const { createSystemClock } = await import(${JSON.stringify(world)});
  const [folder, inside, rounds] = process.argv.slice(1);
  let held = 0;
  for (let round = 0; round < Number(rounds); round++) {
    const claimed = await claimDaemon(folder, ${JSON.stringify(facts)}, createSystemClock());
    if (!("held" in claimed)) continue;
    held += 1;
    writeFileSync(inside, "", { flag: "wx" });
    await new Promise((resolve) => setTimeout(resolve, 3));
    rmSync(inside);
    claimed.held.release();
  }
  process.stdout.write(String(held));
`;

test("many processes that claim at once have it one after the other", async () => {
  const path = folder();
  const contenders = Array.from({ length: 6 }, async () => {
    const args = ["--input-type=module", "-e", CONTENDER, path, `${path}-inside`, "25"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { held: Number(out), err };
  });
  const results = await Promise.all(contenders);
  expect(results.map(({ err }) => err).join("")).toBe("");
  expect(results.reduce((sum, { held }) => sum + held, 0)).toBeGreaterThanOrEqual(25);
  expect(readdirSync(path)).toEqual([]);
});

test("tells what it is while it is, and is gone after", async () => {
  const path = folder();
  expect(findClaim(path)).toBeUndefined();
  const claimed = await claimDaemon(path, facts, clock);
  if (!("held" in claimed)) throw new Error("nobody else is here");
  const { pid } = process;
  expect(findClaim(path)).toEqual({ pid, mark: startMark(pid), state: "starting", facts });
  claimed.held.ready({ ...facts, addresses: ["unix:/s"] });
  expect(findClaim(path)).toMatchObject({ state: "ready", facts: { addresses: ["unix:/s"] } });
  expect(await claimDaemon(path, facts, clock)).toMatchObject({ by: { pid, state: "ready" } });
  claimed.held.ending();
  expect(findClaim(path)).toMatchObject({ state: "ending" });
  claimed.held.release();
  expect(findClaim(path)).toBeUndefined();
});

test("files of the dead, of nobody and of elsewhere are in nobody's way", async () => {
  const path = folder();
  const first = await claimDaemon(path, facts, clock);
  if ("held" in first) first.held.release();
  const { pid } = process;
  const here = processPlace();
  const mark = startMark(pid) ?? "";
  const dead = `${hostname()}:${pid}:9${mark}:ab`;
  const put = (file: string, ageDays = 0): string => {
    const at = join(path, file);
    writeFileSync(at, JSON.stringify({ pid, mark: `9${mark}`, state: "ready" }), { mode: 0o600 });
    const when = Date.now() / 1000 - ageDays * 24 * 60 * 60;
    utimesSync(at, when, when);
    return at;
  };
  const left = put(`${here}.lock.${encodeURIComponent(dead)}`);
  put(`${here}.json`);
  const half = put(`${here}.json.0123456789ab.tmp`);
  const other = "0123456789ab";
  const elsewhere = [put(`${other}.json`), put(`${other}.lock.host%3A${pid}%3A${mark}%3Aab`)];
  const longGone = put("ba9876543210.json", 30);
  const odd = put("notes", 30);
  expect(findClaim(path)).toBeUndefined();
  const claimed = await claimDaemon(path, facts, clock);
  expect(claimed).toHaveProperty("held");
  expect(findClaim(path)).toEqual({ pid, mark, state: "starting", facts });
  expect([left, half, longGone].filter((file) => existsSync(file))).toEqual([]);
  expect([...elsewhere, odd].filter((file) => !existsSync(file))).toEqual([]);
  if ("held" in claimed) claimed.held.release();
});

test("whoever has the lock counts, also when its file cannot be read or is that of another", async () => {
  const path = folder();
  const { pid } = process;
  const mark = startMark(pid) ?? "";
  const claimed = await claimDaemon(path, facts, clock);
  const file = join(path, `${processPlace()}.json`);
  for (const [content, mode] of [
    ["", 0o600],
    ["[]", 0o600],
    [JSON.stringify({ pid, mark, state: "king" }), 0o600],
    [JSON.stringify({ pid, mark: `9${mark}`, state: "ready" }), 0o600],
    [JSON.stringify({ pid, mark, state: "ready" }), 0o644],
  ] as const) {
    rmSync(file);
    writeFileSync(file, content, { mode });
    expect(findClaim(path)).toEqual({ pid, mark, state: "claiming" });
  }
  if ("held" in claimed) claimed.held.release();
});

test("a daemon that begins to listen after the look for its claim is known by it all the same", async () => {
  const home = dirname(folder());
  const env = { HOME: home, XDG_DATA_HOME: home };
  const places = daemonPlaces(env);
  mkdirSync(dirname(places.socket), { recursive: true });
  const server = createServer((_request, response) => {
    void claimDaemon(places.claims, facts, clock).then((claimed) => {
      if ("held" in claimed) claimed.held.ready(facts);
      response.writeHead(401, { "content-type": "application/json" }).end('{"error":{"reason":"TokenInvalid"}}');
    });
  });
  onTestFinished(() => void server.close());
  server.listen(places.socket);
  await once(server, "listening");
  const build = { version: facts.version, commit: facts.commit, builtAt: "" };
  const state = await lookForDaemon({ env, clock, build });
  expect(state).toMatchObject({ kind: "running", claim: { pid: process.pid }, version: "1.0.0", isOtherBuild: false });
});

test("one that is starting is young by the time that has passed, whatever the wall clock says", async () => {
  const home = dirname(folder());
  const env = { HOME: home, XDG_DATA_HOME: home };
  const manual = createManualClock();
  const about = { ...facts, startedAt: new Date(manual.now()).toISOString(), startedUpMs: manual.uptimeMs() };
  const claimed = await claimDaemon(daemonPlaces(env).claims, about, clock);
  if (!("held" in claimed)) throw new Error("somebody else is the daemon");
  onTestFinished(() => claimed.held.release());
  const build = { version: facts.version, commit: facts.commit, builtAt: "" };
  const look = () => lookForDaemon({ env, clock: manual, build });
  manual.stepWall(60 * 60 * 1000);
  expect(await look()).toMatchObject({ kind: "starting" });
  manual.stepWall(-2 * 60 * 60 * 1000);
  await manual.advance(START_PATIENCE_MS);
  expect(await look()).toMatchObject({ kind: "hung", how: "silent" });
});

test("who was the daemon is known after its end: what it was asked for is told from what the next one is", async () => {
  const home = dirname(folder());
  const env = { HOME: home, XDG_DATA_HOME: home };
  const claimed = await claimDaemon(daemonPlaces(env).claims, facts, clock);
  if (!("held" in claimed)) throw new Error("somebody else is the daemon");
  const ports = quietCliPorts({ out: "", err: "" }, { cwd: home, env });
  const revival = createDaemonRevival({ ...ports, outward: createOutward(ports) });
  const id = `${process.pid}.${startMark(process.pid)}`;
  expect(revival.process()).toBe(id);
  claimed.held.release();
  expect(revival.process()).toBe(id);
});

test("a daemon that is killed again and again is not started for ever", async () => {
  const home = dirname(folder());
  const env = { HOME: home, XDG_DATA_HOME: home };
  const places = daemonPlaces(env);
  mkdirSync(dirname(places.socket), { recursive: true });
  const tokenFile = join(home, "token");
  writeFileSync(tokenFile, "token", { mode: 0o600 });
  const about = { ...facts, tokenFile, startedAt: new Date().toISOString() };
  const build = { version: facts.version, commit: facts.commit, builtAt: "" };
  let killed = async (): Promise<void> => undefined;
  let starts = 0;
  const begin = async (): Promise<void> => {
    const claimed = await claimDaemon(places.claims, about, clock);
    if (!("held" in claimed)) throw new Error("nobody else is here");
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end('{"service":"harness"}');
    });
    await once(server.listen(places.socket), "listening");
    claimed.held.ready(about);
    killed = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      claimed.held.release();
    };
  };
  onTestFinished(() => killed());
  await begin();
  const said = { out: "", err: "" };
  const ports = {
    ...quietCliPorts(said, { cwd: home, env, clock }),
    build,
    relaunch() {
      starts += 1;
      void begin();
      return { pid: process.pid, ended: () => undefined };
    },
  };
  const revival = createDaemonRevival({ ...ports, outward: createOutward(ports) });
  const lives = async (): Promise<void> => {
    for (let life = 0; life < 20; life++) {
      await killed();
      killed = async () => undefined;
      await revival.beforeRetry();
    }
  };
  await expect(lives()).rejects.toMatchObject({
    reason: "DaemonFailed",
    message: expect.stringMatching(/killed 8 times within a minute/),
  });
  expect(starts).toBe(8);
});
