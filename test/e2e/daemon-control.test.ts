/** `harness daemon start|stop|status|restart`: one daemon, whatever the one before left behind, and nobody else's process touched. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isSameProcess, processPlace, startMark } from "#world";
import { runCli, startCli } from "../fakes/cli-process.ts";
import { createDaemonHome, type DaemonHome, textBody } from "../fakes/daemon-home.ts";

const SCENARIO = `
name: daemon
rules:
  - when: { input: "/^hi/" }
    reply: [{ text: "hello from the daemon" }]
otherwise: [{ text: "hello from the daemon" }]
`;

function isAlive(pid: number): boolean {
  return startMark(pid) !== undefined;
}

function claimFile(home: DaemonHome): string {
  const [name = ""] = readdirSync(home.claims).filter((file) => file.endsWith(".json"));
  return join(home.claims, name);
}

/** A process that is not ours to end. */
function bystander(): { readonly pid: number; readonly mark: string } {
  const child = spawn("sleep", ["300"], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const { pid = 0 } = child;
  return { pid, mark: startMark(pid) ?? "" };
}

describe("harness daemon", () => {
  test("a restart with flags that do not work leaves the daemon that was there, as it was", async () => {
    const home = createDaemonHome();
    const pid = await home.start("--listen", "127.0.0.1:0");
    const failed = await home.daemon("restart", "--listen", "nowhere");
    expect(failed).toMatchObject({ code: 2, err: expect.stringContaining("nowhere: write HOST:PORT") });
    expect(failed.err).toContain("runs again with its previous flags");
    const { pid: now, state, health } = await home.status();
    expect(state).toBe("running");
    expect(now).not.toBe(pid);
    expect(health.transport_status.http).toEqual(["unix", "tcp"]);
  });

  test("start, status, restart and stop", async () => {
    const home = createDaemonHome();
    expect(await home.daemon("status")).toMatchObject({ code: 1, out: "no daemon runs\n" });
    const pid = await home.start();
    expect(statSync(home.socket).mode & 0o777).toBe(0o600);
    expect(statSync(claimFile(home)).mode & 0o777).toBe(0o600);
    expect(await home.start()).toBe(pid);
    expect(await home.daemon("start")).toMatchObject({
      err: "",
      out: expect.stringContaining(`a daemon is already running (process ${pid})`),
    });
    for (const json of [[], ["--json"]]) {
      const { err } = await home.daemon("start", "--max-steps", "3", ...json);
      expect(err).toContain("It keeps the flags that it was started with.");
    }
    expect(await home.status()).toMatchObject({
      state: "running",
      pid,
      background: true,
      health: {
        service: "harness",
        status: "ok",
        subsystems: {
          store: { state: "ok", kind: "sqlite" },
          redaction: { state: "loaded" },
          credential_helper: { state: "not started" },
          sandbox: { state: "not tried", mode: "auto" },
          log: { state: "ok" },
        },
      },
    });
    const restarted = JSON.parse((await home.daemon("restart", "--json")).out) as { pid: number };
    expect(restarted.pid).not.toBe(pid);
    expect(isAlive(pid)).toBe(false);
    expect(await home.daemon("stop")).toMatchObject({ code: 0, out: expect.stringContaining("has stopped") });
    expect(existsSync(home.socket)).toBe(false);
    expect(readdirSync(home.claims)).toEqual([]);
    expect(await home.daemon("stop")).toMatchObject({ code: 0, out: "no daemon runs\n" });
    const stages = home.logged().flatMap(({ component, stage }) => (component === "daemon" ? [stage] : []));
    expect(stages.slice(0, 7)).toEqual(["begin", "claimed", "opened", "ready", "drain", "drained", "ended"]);
  });

  test("five starts at the same moment give one daemon", async () => {
    const home = createDaemonHome();
    const pids = await Promise.all(Array.from({ length: 5 }, () => home.start()));
    expect(new Set(pids).size).toBe(1);
    // One that came too late may still be about to step back.
    while (readdirSync(home.claims).length > 1) await new Promise((resolve) => setTimeout(resolve, 25));
    expect(await home.status()).toMatchObject({ state: "running", pid: pids[0] });
  });

  test("a killed one is replaced, and its session goes on", async () => {
    const home = createDaemonHome();
    home.put("scenario.yaml", SCENARIO);
    const flags = ["-m", "scripted:./scenario.yaml"];
    const first = await home.start(...flags);
    await home.ask("GET", "/v1/handshake");
    const { id } = (await home.ask("POST", "/v1/sessions", { working_dir: home.workspace })).json;
    const turn = `/v1/sessions/${id}/input?wait=turn`;
    expect((await home.ask("POST", turn, textBody("hi"))).json.answer).toBe("hello from the daemon");
    process.kill(first, "SIGKILL");
    const second = await home.start(...flags);
    expect(second).not.toBe(first);
    await home.ask("GET", "/v1/handshake");
    expect(await home.ask("POST", "/v1/sessions", { resume: id })).toMatchObject({ status: 200 });
    expect((await home.ask("POST", turn, textBody("again"))).json.answer).toBe("hello from the daemon");
  });

  test("the token of a killed one is revoked by the next; that of a server that lives is not", async () => {
    const home = createDaemonHome();
    const first = await home.start();
    const stolen = readFileSync(home.tokenFile, "utf8").trim();
    const file = join(home.workspace, "other.token");
    const other = startCli(home, ["daemon", "run", "--listen", "127.0.0.1:0", "--token-file", file]);
    for await (const chunk of other.stderr.setEncoding("utf8")) if (String(chunk).includes("the token is in")) break;
    process.kill(first, "SIGKILL");
    await home.start();
    const check = (token: string) =>
      runCli({ ...home, env: { ...home.env, HARNESS_TOKEN: token } }, ["token", "check"]);
    expect(await check(stolen)).toMatchObject({ code: 2, err: expect.stringContaining("TokenRevoked") });
    expect(await check(readFileSync(file, "utf8").trim())).toMatchObject({ code: 0 });
    expect(await home.ask("GET", "/v1/health")).toMatchObject({ status: 200 });
    expect(home.logged()).toContainEqual(
      expect.objectContaining({ component: "auth", revoked: [expect.stringMatching(/^tok_/)] }),
    );
  });

  test("one that is killed before it answers is started again", async () => {
    const home = createDaemonHome();
    const starting = home.start();
    let first = "";
    while (first === "") {
      await new Promise((resolve) => setTimeout(resolve, 5));
      first = existsSync(home.claims) ? (readdirSync(home.claims).find((name) => name.endsWith(".json")) ?? "") : "";
    }
    const killed = Number(first.split(".")[1]);
    process.kill(killed, "SIGKILL");
    expect(await starting).not.toBe(killed);
  });

  test("two that stop it at the same moment let it drain", async () => {
    const home = createDaemonHome();
    await home.start();
    const stops = await Promise.all([home.daemon("stop"), home.daemon("stop")]);
    expect(stops.map(({ code }) => code)).toEqual([0, 0]);
    expect(home.logged()).toContainEqual(expect.objectContaining({ stage: "drained" }));
    expect(await home.status()).toMatchObject({ state: "none" });
  });

  test("one that was stopped by a signal is replaced", async () => {
    const home = createDaemonHome();
    const first = await home.start();
    process.kill(first, "SIGSTOP");
    expect(await home.daemon("status", "--json")).toMatchObject({
      code: 1,
      out: expect.stringContaining("was stopped"),
    });
    const second = await home.start();
    expect(second).not.toBe(first);
    expect(isAlive(first)).toBe(false);
    process.kill(second, "SIGSTOP");
    expect(await home.daemon("stop")).toMatchObject({ code: 0 });
    expect(isAlive(second)).toBe(false);
  });

  test("one of another build is replaced, with the flags it had", async () => {
    const home = createDaemonHome();
    home.put("scenario.yaml", SCENARIO);
    const first = await home.start("-m", "scripted:./scenario.yaml");
    const file = claimFile(home);
    writeFileSync(file, readFileSync(file, "utf8").replace(/"version":"[^"]*"/, '"version":"0.0.1"'));
    const { out, code } = await home.daemon("start", "--json");
    expect({ code, ...(JSON.parse(out) as object) }).toMatchObject({
      code: 0,
      started: true,
      recycled: [`a daemon of version 0.0.1 runs (process ${first})`],
    });
    expect(isAlive(first)).toBe(false);
    expect((await home.status()).health.subsystems.providers.model).toBe("scripted:./scenario.yaml");
  });

  test("one whose socket was taken away is replaced", async () => {
    const home = createDaemonHome();
    const first = await home.start();
    rmSync(home.socket);
    expect(await home.start()).not.toBe(first);
    expect(isAlive(first)).toBe(false);
  });

  test("a process that got the id of a dead daemon is left alone", async () => {
    const home = createDaemonHome();
    const { pid, mark } = bystander();
    mkdirSync(home.claims, { recursive: true, mode: 0o700 });
    const facts = { state: "ready", version: "0.1.0", commit: "source", startedAt: "2020-01-01T00:00:00.000Z" };
    const stale = join(home.claims, `${processPlace()}.${pid}.1${mark}.abc.json`);
    writeFileSync(stale, JSON.stringify(facts), { mode: 0o600 });
    writeFileSync(home.socket, "");
    rmSync(home.socket);
    await home.start();
    expect(isSameProcess(pid, mark)).toBe(true);
    expect(existsSync(stale)).toBe(false);
    await home.daemon("stop");
    expect(isSameProcess(pid, mark)).toBe(true);
  });

  test("one that nobody needs ends by itself, after its sessions", async () => {
    const home = createDaemonHome();
    home.configure("[daemon]\nidle_minutes = 0.03\nsession_idle_minutes = 0.005\n");
    const pid = await home.start();
    await home.ask("GET", "/v1/handshake");
    const { id } = (await home.ask("POST", "/v1/sessions", { working_dir: home.workspace })).json;
    const isOpen = async (): Promise<boolean> =>
      (await home.ask("GET", `/v1/sessions/${id}`)).json.activity !== undefined;
    while (await isOpen()) await new Promise((resolve) => setTimeout(resolve, 50));
    const { json } = await home.ask("POST", `/v1/sessions/${id}/input?wait=turn`, textBody("hi"));
    expect(json).toMatchObject({ outcome: "answered" });
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(existsSync(home.socket)).toBe(false);
    const lines = home.logged();
    expect(lines).toContainEqual(expect.objectContaining({ msg: "session ended", session: id, reason: "idle" }));
    expect(lines).toContainEqual(expect.objectContaining({ stage: "drain", why: "idle" }));
    expect(await home.start()).not.toBe(pid);
  });

  test("one that ends without a word is told with where to look", async () => {
    const dies = "data:text/javascript,if(process.argv.includes('--background'))process.exit(3)";
    const home = createDaemonHome({ NODE_OPTIONS: `--import ${dies}` });
    const { code, err } = await runCli(home, ["daemon", "start"]);
    expect({ code, err }).toEqual({
      code: 1,
      err: "✗ DaemonFailed: The daemon cannot be used: it ended with 3 and printed nothing. To find out what is wrong: harness doctor.\n",
    });
  });

  test("a start that cannot work says why", async () => {
    const home = createDaemonHome();
    const broken = await home.daemon("start", "-m", "nobody:nothing");
    expect(broken).toMatchObject({ code: 2, err: expect.stringContaining("no provider 'nobody'") });
    home.configure("[log]\nlevel = 7\n");
    expect(await home.daemon("start")).toMatchObject({ code: 2, err: expect.stringContaining("config.toml:2") });
    expect(await home.daemon("start", "--log-level", "loud")).toMatchObject({ code: 2 });
  });
});
