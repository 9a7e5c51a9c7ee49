/**
 * Kills a daemon with SIGKILL again and again: while it starts, in the middle of a turn, while it stops. After each kill the next
 * `daemon start` must work and the session must go on. Real processes in a home of its own; no test library, for benchmarks too.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { endDaemons } from "./end-daemons.ts";
import { launcher, sharedCompileCache } from "./launcher.ts";

const PHASES = ["starting", "turn", "stopping"] as const;
/** About as long as a start takes, and more. */
const START_MS = 700;
const TURN_MS = 250;
const STOP_MS = 120;
const READY_TRIES = 200;

const SCENARIO = `
name: kills
rules:
  - when: { tool: exec }
    reply: [{ text: "done" }]
  - when: { input: "/^work/" }
    reply: [{ tool: exec, args: { command: "sleep 0.1 && echo line >> made.txt" } }]
otherwise: [{ text: "still here" }]
`;

export interface KillReport {
  readonly kills: Readonly<Record<(typeof PHASES)[number], number>>;
  /** Of `daemon start` after a kill. */
  readonly startMs: readonly number[];
  readonly orphans: number;
  readonly events: number;
  readonly failures: readonly string[];
}

/** `random` gives numbers below 1. */
export async function killDaemons(count: number, random: () => number): Promise<KillReport> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "harness-kills-")));
  const workspace = join(home, "workspace");
  mkdirSync(workspace);
  writeFileSync(join(home, "scenario.yaml"), SCENARIO);
  const data = join(home, "data", "harness");
  const [socket, claims] = [join(data, "control.sock"), join(data, "daemon")];
  const tokenFile = join(home, "state", "harness", "control.token");
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    XDG_DATA_HOME: join(home, "data"),
    XDG_STATE_HOME: join(home, "state"),
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_CACHE_HOME: join(home, "cache"),
    ...sharedCompileCache,
  };
  const flags = ["-m", `scripted:${join(home, "scenario.yaml")}`, "--allow", "Bash(*)", "--sandbox", "off"];
  const kills = { starting: 0, turn: 0, stopping: 0 };
  const startMs: number[] = [];
  const failures: string[] = [];
  let orphans = 0;
  let session = "";

  const launch = (...args: string[]): ChildProcessByStdio<null, Readable, Readable> =>
    spawn(process.execPath, [launcher, ...args], { cwd: workspace, env, stdio: ["ignore", "pipe", "pipe"] });

  async function run(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
    const child = launch(...args);
    const ended = new Promise<number | null>((done) => child.once("close", done));
    const [out, err, code] = await Promise.all([textOf(child.stdout), textOf(child.stderr), ended]);
    return { code, out, err };
  }

  function ask(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; json: Record<string, unknown> }> {
    return new Promise((done, failed) => {
      const headers = { host: "localhost", "x-harness-token": readFileSync(tokenFile, "utf8").trim() };
      const asked = request({ socketPath: socket, method, path, headers, agent: false }, (response) => {
        textOf(response).then((text) => {
          const json = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
          done({ status: response.statusCode ?? 0, json });
        }, failed);
      });
      asked.on("error", failed);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  const input = (text: string) => ({ content: [{ type: "text", text }] });

  /** A daemon that answers; how long that took when one had to be started. */
  async function start(): Promise<number> {
    const began = performance.now();
    const { code, out, err } = await run("daemon", "start", "--json", ...flags);
    if (code !== 0) throw new Error(`daemon start ended with ${code}: ${err}`);
    const { pid, started } = JSON.parse(out) as { pid: number; started: boolean };
    if (started) startMs.push(performance.now() - began);
    return pid;
  }

  /** The session goes on: it opens, what was cut off is settled, and a turn is answered. */
  async function goOn(): Promise<void> {
    await ask("GET", "/v1/handshake");
    if (session === "") session = String((await ask("POST", "/v1/sessions", { working_dir: workspace })).json.id);
    else {
      const { status, json } = await ask("POST", "/v1/sessions", { resume: session });
      if (status !== 200) throw new Error(`the session does not open: ${JSON.stringify(json)}`);
    }
    for (let tries = 0; ; tries++) {
      const { json } = await ask("POST", `/v1/sessions/${session}/input?wait=turn`, input("hello"));
      if (json.answer === "still here") return;
      if (tries > READY_TRIES) throw new Error(`no turn is answered: ${JSON.stringify(json)}`);
      orphans += await settleOrphans();
      await pause(10);
    }
  }

  async function settleOrphans(): Promise<number> {
    const events = await readLog();
    const settled = new Set(
      events.flatMap(({ kind, payload }) => (kind === "OrphanResolved" ? [payload.call_id] : [])),
    );
    const open = events.filter(({ kind, payload }) => kind === "OrphanedCall" && !settled.has(payload.call_id));
    for (const { payload } of open) {
      const body = { kind: "ResolveOrphan", call_id: payload.call_id, resolution: "failed" };
      await ask("POST", `/v1/sessions/${session}/commands`, body);
    }
    return open.length;
  }

  async function readLog() {
    const events: { id: number; kind: string; payload: { call_id?: string; turn?: string } }[] = [];
    for (let after = 0; ; after = events.at(-1)?.id ?? 0) {
      const { json } = await ask("GET", `/v1/sessions/${session}/log?after=${after}`);
      const page = json.events as typeof events;
      if (page.length === 0 || (page.at(-1)?.id ?? 0) <= after) return events;
      events.push(...page.filter(({ id }) => id > after));
    }
  }

  async function killWhile(phase: (typeof PHASES)[number]): Promise<void> {
    if (phase === "starting") {
      await run("daemon", "stop");
      const child = launch("daemon", "run", ...flags);
      child.stdout.resume();
      child.stderr.resume();
      const gone = new Promise((done) => child.once("close", done));
      await pause(random() * START_MS);
      child.kill("SIGKILL");
      await gone;
      return;
    }
    const pid = await start();
    await goOn();
    void ask("POST", `/v1/sessions/${session}/input`, input("work")).catch(() => undefined);
    await pause(random() * TURN_MS);
    if (phase === "stopping") {
      process.kill(pid, "SIGTERM");
      await pause(random() * STOP_MS);
    }
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended in an orderly way already, which is fine.
    }
  }

  try {
    for (let index = 0; index < count; index++) {
      const phase = PHASES[index % PHASES.length] ?? "turn";
      try {
        await killWhile(phase);
        kills[phase] += 1;
        await start();
        await goOn();
      } catch (error) {
        failures.push(`kill ${index} (${phase}): ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    const events = await readLog();
    failures.push(...problemsOf(events));
    // The lock and what the daemon says about itself.
    if (readdirSync(claims).length !== 2) failures.push(`claims are left: ${readdirSync(claims).join(" ")}`);
    await run("daemon", "stop");
    for (const path of [socket, tokenFile]) if (existsSync(path)) failures.push(`${path} is left behind`);
    const verified = await run("audit", "verify", session);
    if (verified.code !== 0) failures.push(`the log does not verify: ${verified.out}${verified.err}`);
    return { kills, startMs, orphans, events: events.length, failures };
  } finally {
    endDaemons(claims);
    rmSync(home, { recursive: true, force: true });
  }
}

function problemsOf(events: readonly { id: number; kind: string; payload: { turn?: string } }[]): string[] {
  const gaps = events.filter(({ id }, index) => id !== index + 1).map(({ id }) => `the log has a gap before ${id}`);
  const count = (kind: string, turn: string | undefined): number =>
    events.filter((event) => event.kind === kind && event.payload.turn === turn).length;
  const turns = events.filter(({ kind }) => kind === "TurnStarted");
  const odd = turns.filter(({ payload }) => count("TurnEnded", payload.turn) !== 1);
  return [...gaps.slice(0, 5), ...odd.map(({ payload }) => `${payload.turn} has not ended once`)];
}
