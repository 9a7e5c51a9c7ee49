/** Schedules through the whole program: what a daemon refuses, what a kill leaves, who may add one, and where they are listed. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { mintClaims, signToken, tokenParts } from "#program";
import type { ScheduleRow } from "#program/schedules";
import { TokenId } from "#protocol";
import { createSystemClock } from "#world";
import { runCli } from "../fakes/cli-process.ts";
import { createDaemonHome, type DaemonHome } from "../fakes/daemon-home.ts";

const OFFLINE = ["-m", "scripted:offline"];

async function add(home: DaemonHome, name: string, ...flags: string[]): Promise<void> {
  const { code, err } = await runCli(home, ["schedule", "add", name, "--every", "1d", ...flags, "Say hello."]);
  expect(code, err).toBe(0);
}

async function rows(home: DaemonHome): Promise<ScheduleRow[]> {
  return JSON.parse((await runCli(home, ["schedule", "list", "--json"])).out) as ScheduleRow[];
}

describe("a daemon with schedules", () => {
  test("is there after the command, runs them with their limits, and lists them over HTTP", async () => {
    const home = createDaemonHome();
    const scenario = join(home.workspace, "loop.yaml");
    home.put("loop.yaml", 'name: loop\nrules:\n  - reply: [{ tool: fs.list, args: { path: "." } }]\n');
    await add(home, "loops", "-m", `scripted:${scenario}`, "--max-steps", "2");
    const { code, out } = await runCli(home, ["schedule", "run", "loops", "--json"]);
    expect([code, JSON.parse(out)]).toMatchObject([
      1,
      { state: "failed", message: expect.stringContaining("StepLimit") },
    ]);
    const { schedules } = (await home.ask("GET", "/v1/schedules")).json;
    expect(schedules).toEqual(await rows(home));
    expect(JSON.stringify(schedules)).not.toContain("Say hello");
    expect(home.logged()).toContainEqual(
      expect.objectContaining({ msg: "schedule", schedule: "loops", state: "failed" }),
    );
  });

  test("refuses a run in a folder whose files nobody has acked, and says so", async () => {
    const home = createDaemonHome();
    home.put("harness.md", "---\nversion: 1\n---\nBe kind.\n");
    await add(home, "a", ...OFFLINE);
    const { code, out } = await runCli(home, ["schedule", "run", "a"]);
    expect(code).toBe(1);
    expect(out).toContain("a: refused: NonInteractiveAckRefused");
  });

  test("that is killed during a run reports it as lost, and does not run it again", async () => {
    const home = createDaemonHome();
    const scenario = join(home.workspace, "slow.yaml");
    home.put("slow.yaml", "name: slow\nrules:\n  - reply: [{ pause_ms: 25000 }, { text: hello }]\n");
    await add(home, "slow", "-m", `scripted:${scenario}`);
    const run = runCli(home, ["schedule", "run", "slow"]);
    await expect.poll(async () => (await rows(home))[0]?.ticks[0]?.state, { timeout: 20_000 }).toBe("running");
    const { pid = 0 } = await home.status();
    process.kill(pid, "SIGKILL");
    await run;
    await home.start();
    await expect.poll(async () => (await rows(home))[0]?.ticks[0]?.state, { timeout: 20_000 }).toBe("lost");
    const [row] = await rows(home);
    expect(row).toMatchObject({
      totals: { claimed: 1, lost: 1 },
      ticks: [{ message: "the daemon ended during the run" }],
    });
    expect(row?.ticks).toHaveLength(1);
  });
});

test("a program with an agent's token changes no schedules; no file has the prompt or a secret of it", async () => {
  const home = createDaemonHome();
  const secret = `ghp_${"a1B2".repeat(9)}`;
  const { code } = await runCli(home, ["schedule", "add", "a", "--every", "1d", ...OFFLINE, `Use ${secret}.`]);
  expect(code).toBe(0);
  const run = await runCli(home, ["schedule", "run", "a", "--json"]);
  const { session } = JSON.parse(run.out) as { session: string };
  const folder = join(home.env.HOME ?? "", "data", "harness", "schedules");
  expect(readFileSync(join(folder, "a.schedule")).includes("Use ")).toBe(false);
  const exported = await runCli(home, ["sessions", "export", session]);
  expect([exported.out.includes("redacted:github-pat"), exported.out.includes(secret)]).toEqual([true, false]);
  const nowMs = Date.now();
  const jti = TokenId.from("0".repeat(26));
  const asked = {
    sessions: "all",
    commands: ["SendInput"],
    identityClass: "agent",
    ttlSeconds: 600,
    canMint: false,
  } as const;
  const { key } = tokenParts({ env: home.env, clock: createSystemClock() });
  const token = signToken(mintClaims(asked, { jti, nowMs, knownCommands: ["SendInput"] }), key());
  const withToken = { ...home, env: { ...home.env, HARNESS_TOKEN: token } };
  for (const args of [
    ["add", "b", "--every", "1d", "x"],
    ["remove", "a"],
    ["run", "a"],
  ]) {
    const refused = await runCli(withToken, ["schedule", ...args]);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("NotAllowed")]);
  }
  expect(readdirSync(folder)).toEqual(["a.schedule"]);
});
