/** `harness daemon start|stop|status|restart`: one daemon, whatever the one before left behind, and nobody else's process touched. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isSameProcess, processPlace, startMark } from "#world";
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
          engine: { state: "ok", detail: "0 sessions open, 0 running" },
          control_plane: { state: "listening", detail: `unix:${home.socket}` },
          credential_store: { state: "none" },
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

  test("a process that got the id of a dead daemon is left alone", async () => {
    const home = createDaemonHome();
    const { pid, mark } = bystander();
    mkdirSync(home.claims, { recursive: true, mode: 0o700 });
    const facts = { state: "ready", version: "0.1.0", commit: "source", startedAt: "2020-01-01T00:00:00.000Z" };
    const owner = encodeURIComponent(`${hostname()}:${pid}:1${mark}:abc`);
    const stale = join(home.claims, `${processPlace()}.lock.${owner}`);
    writeFileSync(stale, "", { mode: 0o600 });
    const claim = join(home.claims, `${processPlace()}.json`);
    writeFileSync(claim, JSON.stringify({ pid, mark: `1${mark}`, ...facts }), { mode: 0o600 });
    writeFileSync(home.socket, "");
    rmSync(home.socket);
    await home.start();
    expect(isSameProcess(pid, mark)).toBe(true);
    expect(existsSync(stale)).toBe(false);
    await home.daemon("stop");
    expect(isSameProcess(pid, mark)).toBe(true);
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
