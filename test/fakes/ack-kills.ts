/**
 * Kills a server with SIGKILL up to five milliseconds after it has acknowledged something, over every wire, and looks in the log
 * for everything that it ever acknowledged. Real processes in a home of their own; no test library, for benchmarks too.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { ACK_KINDS, ACK_SCENARIO, type AckKind, type Acknowledgement, type Place } from "./ack-kinds.ts";
import { ackProject } from "./ack-project.ts";
import { connectRest, connectRpc, connectWire, type LoggedEvent, type Looker, type WireName } from "./ack-wires.ts";
import { launcher, sharedCompileCache } from "./launcher.ts";

/** From the acknowledgement to the kill. */
const MAX_DELAY_MS = 5;
/** Acknowledged in the same life, one after the other, before those that are followed by the kill. */
const EARLIER_ACKS = 2;
/** Sent at once; the kill follows the last acknowledgement. */
const LAST_ACKS = 3;
/** Of a guard that takes its time before a turn begins: what is promised too early is then not there for as long. */
const SLOW_HOOK = `---
event: turn.start
timeout_ms: 5000
script: |
  def handle(event, payload):
      sleep(0.01)
      return allow()
---

# slow

Takes its time.
`;
const SETTLE_POLL_MS = 5;
const SETTLE_POLLS = 2000;

export interface AckTally {
  kills: number;
  acknowledged: number;
  lost: number;
  twice: number;
}

export interface AckReport {
  /** By wire, then by kind: what was acknowledged, and what the log said of it afterwards. */
  readonly tallies: ReadonlyMap<string, ReadonlyMap<string, AckTally>>;
  readonly total: AckTally;
  /** A line for each thing that is lost or happened twice, and for what went wrong otherwise. */
  readonly findings: readonly string[];
  readonly failures: readonly string[];
}

interface Told {
  readonly wire: WireName;
  readonly kind: string;
  readonly ack: Acknowledgement;
}

/** What is acknowledged last before a kill, and over which wire. */
export interface KillPlan {
  readonly wire: WireName;
  readonly kind: string;
}

/** Every wire with everything that it acknowledges. */
export const everyPair: readonly KillPlan[] = ACK_KINDS.flatMap(({ name: kind, wires }) =>
  wires.map((wire) => ({ wire, kind })),
);

/** Takes the plans in turn, in an order that meets all kinds and wires early. `random` gives numbers below 1. */
export async function killAfterAcks(
  kills: number,
  random: () => number,
  plans: readonly KillPlan[] = everyPair,
): Promise<AckReport> {
  const home = await createHome();
  const tallies = new Map<string, Map<string, AckTally>>();
  const total: AckTally = { kills: 0, acknowledged: 0, lost: 0, twice: 0 };
  const findings: string[] = [];
  const failures: string[] = [];
  /** By the server that has its log; not looked for yet. */
  const pending: Record<ServerName, Told[]> = { daemon: [], rpc: [] };
  let marks = 0;

  function tallyOf(wire: string, kind: string): AckTally {
    const ofWire = tallies.get(wire) ?? new Map<string, AckTally>();
    tallies.set(wire, ofWire);
    const tally = ofWire.get(kind) ?? { kills: 0, acknowledged: 0, lost: 0, twice: 0 };
    ofWire.set(kind, tally);
    return tally;
  }

  function count(told: Pick<Told, "wire" | "kind">, what: keyof AckTally): void {
    tallyOf(told.wire, told.kind)[what] += 1;
    total[what] += 1;
  }

  function report(told: Told, problems: readonly string[]): void {
    for (const problem of problems) {
      count(told, problem.startsWith("twice") ? "twice" : "lost");
      findings.push(`${told.wire}: ${problem} (${told.ack.session})`);
    }
  }

  /** Everything that was acknowledged before the last kill is looked for, first as it was left, then with its session open again. */
  async function look(server: ServerName, looker: Looker): Promise<void> {
    for (const told of pending[server].splice(0)) {
      const { ack } = told;
      const found = await looker.stored(ack.session).catch(() => undefined);
      if (found === undefined) {
        report(told, ["lost: the session"]);
        continue;
      }
      const config = existsSync(home.config) ? readFileSync(home.config, "utf8") : "";
      const problems = ack.kept(await looker.log(ack.session), { ...found, config });
      report(told, problems);
      if (found.state === "ended" || problems.length > 0) continue;
      const settled = await settle(looker, ack.session);
      report(told, [...ack.settled(settled), ...gaps(settled)]);
      await looker.submit(ack.session, { kind: "EndSession" });
    }
  }

  async function life(wire: WireName, last: AckKind): Promise<void> {
    const name = serverOf(wire);
    const server = await home.start[name]();
    try {
      await look(name, server.looker);
      const connection = await server.connect(wire);
      const others = ACK_KINDS.filter(({ wires }) => wires.includes(wire));
      const earlier = Array.from({ length: EARLIER_ACKS }, () => others[Math.floor(random() * others.length)] ?? last);
      const place = (): Place => {
        marks += 1;
        const workspace = marks % 2 === 0 ? home.workspace : home.hooked;
        return { wire: connection, workspace, mark: `m${marks}`, otherModel: home.otherModel };
      };
      const note = (kind: AckKind, ack: Acknowledgement): void => {
        pending[name].push({ wire, kind: kind.name, ack });
        count({ wire, kind: kind.name }, "acknowledged");
      };
      for (const kind of earlier) note(kind, await (await kind.prepare(place())).send());
      const ready = await Promise.all(Array.from({ length: LAST_ACKS }, () => last.prepare(place())));
      const acks = await Promise.all(ready.map((one) => one.send()));
      // Most of them at once: the shorter, the more is still to be written where too much was promised.
      await wait(random() ** 3 * MAX_DELAY_MS);
      server.child.kill("SIGKILL");
      count({ wire, kind: last.name }, "kills");
      for (const ack of acks) note(last, ack);
      connection.close();
    } finally {
      server.child.kill("SIGKILL");
      await server.ended;
    }
  }

  try {
    for (let at = 0; at < kills; at++) {
      const plan = plans[(at * PLAN_STRIDE) % plans.length];
      const kind = ACK_KINDS.find(({ name }) => name === plan?.kind);
      if (plan === undefined || kind === undefined) throw new Error("there is no such plan");
      const { wire } = plan;
      try {
        await life(wire, kind);
      } catch (error) {
        failures.push(`kill ${at} (${wire}, ${kind.name}): ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    for (const name of ["daemon", "rpc"] as const) {
      const last = await home.start[name]();
      try {
        await look(name, last.looker);
      } finally {
        last.child.kill("SIGKILL");
        await last.ended;
      }
    }
    for (const store of ["sqlite", "jsonl"]) {
      const verified = await home.run("audit", "verify", "--all", "--store", store);
      if (verified.code !== 0) failures.push(`the ${store} log does not verify: ${verified.text.slice(-1000)}`);
    }
    return { tallies, total, findings, failures };
  } finally {
    rmSync(home.root, { recursive: true, force: true });
  }
}

/** A daemon has the log of the user, a program on pipes the one of its folder. */
type ServerName = "daemon" | "rpc";

function serverOf(wire: WireName): ServerName {
  return wire === "rpc" ? "rpc" : "daemon";
}

/** A prime, so that every plan is met before any of them twice, unless there are so many plans or a multiple of that. */
const PLAN_STRIDE = 17;

/** Shorter than the timers of the system are exact. */
async function wait(ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() < until) await new Promise((resolve) => setImmediate(resolve));
}

/** The session is opened again, what was cut off is answered, what waits is delivered; its log then. */
async function settle(looker: Looker, session: string): Promise<readonly LoggedEvent[]> {
  await looker.resume(session);
  for (let poll = 0; poll < SETTLE_POLLS; poll++) {
    const log = await looker.log(session);
    const of = (kind: string): readonly LoggedEvent[] => log.filter((event) => event.kind === kind);
    const resolved = new Set(of("OrphanResolved").map(({ payload }) => payload.call_id));
    const orphan = of("OrphanedCall").find(({ payload }) => !resolved.has(payload.call_id));
    const delivered = new Set(of("TurnStarted").map(({ payload }) => payload.queued));
    if (orphan !== undefined) {
      const { call_id } = orphan.payload;
      await looker.submit(session, { kind: "ResolveOrphan", call_id, resolution: "failed" });
    } else if (
      of("TurnStarted").length <= of("TurnEnded").length &&
      of("InputQueued").every(({ id }) => delivered.has(id))
    ) {
      return log;
    }
    await pause(SETTLE_POLL_MS);
  }
  throw new Error(`${session} does not come to rest after the restart`);
}

function gaps(log: readonly LoggedEvent[]): readonly string[] {
  const gap = log.find(({ id }, index) => id !== index + 1);
  return gap === undefined ? [] : [`lost: an event before ${gap.id}`];
}

/** One home for all lives of the servers. */
async function createHome() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "harness-acks-")));
  const workspace = join(root, "workspace");
  const hooked = join(root, "hooked");
  mkdirSync(workspace);
  mkdirSync(join(hooked, ".harness", "hooks"), { recursive: true });
  writeFileSync(join(hooked, ".harness", "hooks", "slow.md"), SLOW_HOOK);
  const scenario = join(root, "scenario.yaml");
  const other = join(root, "other.yaml");
  writeFileSync(scenario, ACK_SCENARIO);
  writeFileSync(other, ACK_SCENARIO);
  const [socket, tokenFile] = [join(root, "c.sock"), join(root, "token")];
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: root,
    XDG_DATA_HOME: join(root, "data"),
    XDG_STATE_HOME: join(root, "state"),
    XDG_CONFIG_HOME: join(root, "config"),
    XDG_CACHE_HOME: join(root, "cache"),
    ...sharedCompileCache,
  };
  await ackProject({ workspace: hooked, env });
  const flags = ["-m", `scripted:${scenario}`, "--sandbox", "off"];

  function begin(...args: readonly string[]) {
    const child = spawn(process.execPath, [launcher, ...args], { cwd: workspace, env });
    return { child, ended: new Promise<number | null>((done) => child.once("close", done)) };
  }

  return {
    root,
    workspace,
    hooked,
    config: join(root, "config", "harness", "config.toml"),
    otherModel: `scripted:${other}`,
    start: {
      async daemon() {
        const { child, ended } = begin(
          "daemon",
          "run",
          "--listen",
          `unix:${socket}`,
          "--token-file",
          tokenFile,
          ...flags,
        );
        await isListening(child);
        const daemon = { socket, tokenFile, token: readFileSync(tokenFile, "utf8").trim() };
        const looker = await connectRest(daemon);
        return { child, ended, looker, connect: (wire: WireName) => connectWire(wire, daemon, looker) };
      },
      async rpc() {
        const { child, ended } = begin("rpc", ...flags);
        const looker = await connectRpc(child);
        return { child, ended, looker, connect: async () => looker };
      },
    },
    async run(...args: readonly string[]) {
      const { child, ended } = begin(...args);
      const [out, err, code] = await Promise.all([textOf(child.stdout), textOf(child.stderr), ended]);
      return { code, text: `${out}${err}` };
    },
  };
}

function isListening(child: ChildProcessWithoutNullStreams): Promise<void> {
  let said = "";
  return new Promise<void>((resolve, reject) => {
    child.stdout.resume();
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      if (said.includes("the token is in")) resolve();
    });
    child.once("close", () => reject(new Error(`the daemon ended: ${said}`)));
  });
}
