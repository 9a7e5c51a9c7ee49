import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startMark } from "#world";
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

  test("five starts at the same moment give one daemon", async () => {
    const home = createDaemonHome();
    const pids = await Promise.all(Array.from({ length: 5 }, () => home.start()));
    expect(new Set(pids).size).toBe(1);
    // One that came too late may still be about to step back.
    while (readdirSync(home.claims).length > 2) await new Promise((resolve) => setTimeout(resolve, 25));
    expect(await home.status()).toMatchObject({ state: "running", pid: pids[0] });
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
      first = existsSync(home.claims) ? (readdirSync(home.claims).find((name) => name.includes(".lock.")) ?? "") : "";
    }
    const killed = Number(decodeURIComponent(first).split(":")[1]);
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
});
