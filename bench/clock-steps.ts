/**
 * The wall clock of a daemon steps while its monotonic clock goes on, as after a suspend or a correction by NTP: by seconds, an hour and
 * more than a day, in both directions, while streams are open, a question waits, a turn runs or nothing happens. The owner must not be
 * locked out, nothing that was acknowledged may be lost, no stream cut, nothing deleted early. `node bench/clock-steps.ts [short]`.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { signToken } from "#auth";
import { createUlidFactory } from "#base";
import { createIdMint, type Event } from "#protocol";
import { commands } from "#protocol/schemas";
import { createSystemClock, createSystemRandom, SETTLED_TIME_FILE } from "#world";
import { mintClaims } from "../src/auth/mint.ts";
import { tokenParts } from "../src/program/token-parts.ts";
import { type Figure, holds, printFigures } from "./figures.ts";
import { createSteppedHome, readLog, type SteppedHome, type Stream } from "./stepped-daemon.ts";

const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;
/** Content of this age goes in half a day, of a day and an hour too early with a step of 25 hours. */
const OLD_MS = 29.5 * DAY_MS;
/** Long enough for two heartbeats and one look whether the token of the run has to be renewed. */
const MINUTE_MS = 65 * SECOND_MS;
const clock = createSystemClock();

export interface ClockStep {
  readonly ms: number;
  readonly during: "idle" | "question" | "turn";
}

/** By how much the clock steps, and what goes on meanwhile. The whole list comes back to where it began, less an hour. */
const STEPS: readonly ClockStep[] = [
  { ms: 5 * SECOND_MS, during: "idle" },
  { ms: -5 * SECOND_MS, during: "turn" },
  { ms: HOUR_MS, during: "question" },
  { ms: -HOUR_MS, during: "question" },
  { ms: -HOUR_MS, during: "idle" },
  { ms: HOUR_MS, during: "turn" },
  { ms: 25 * HOUR_MS, during: "question" },
  { ms: 25 * HOUR_MS, during: "idle" },
  { ms: -50 * HOUR_MS, during: "turn" },
  { ms: -HOUR_MS, during: "idle" },
];

export interface StepsResult {
  readonly steps: number;
  readonly daemonsEnded: number;
  readonly lockouts: number;
  readonly acknowledged: number;
  readonly acknowledgedLost: number;
  readonly streamsCut: number;
  readonly eventsOutOfOrder: number;
  /** Of a short token, which should be refused after an hour. */
  readonly outlivedTokens: number;
  readonly earlyDeletions: number;
  /** Without the guard; more than none, or the campaign proves nothing. */
  readonly deletionsWithoutGuard: number;
  /** Heartbeats in a minute after +25 h and in one after -1 h; undefined when nobody waited. */
  readonly heartbeats?: readonly number[];
  /** Of the daemon, in these minutes. */
  readonly cpuSeconds?: number;
  readonly renewals: number;
}

export interface StepsOptions {
  readonly steps?: readonly ClockStep[];
  /** Whether to look at what the daemon does for a minute after large steps. */
  readonly waits: boolean;
}

export async function stepClock(options: StepsOptions): Promise<StepsResult> {
  const home = createSteppedHome();
  try {
    await makeOldSession(home);
    await home.start();
    return await campaign(home, options);
  } finally {
    await home.stop();
    home.remove();
  }
}

/** A session of a month ago, made by a daemon of that time; the machine then knows nothing of it but the log. */
async function makeOldSession(home: SteppedHome): Promise<void> {
  await home.step(-OLD_MS);
  await home.start();
  const session = await createSession(home, home.token());
  const stream = await home.sse(home.token(), session);
  await home.ask(home.token(), "POST", `/v1/sessions/${session}/input`, textBody("say hello"));
  await stream.next("TurnEnded", 0);
  stream.close();
  await home.stop();
  await home.step(0);
  rmSync(join(home.state, SETTLED_TIME_FILE), { force: true });
  rmSync(join(home.state, "retention"), { force: true });
  await deletions(home);
}

async function campaign(home: SteppedHome, { waits, steps = STEPS }: StepsOptions): Promise<StepsResult> {
  const owner = home.token();
  const [week, half] = [mintToken(home, 7 * DAY_MS), mintToken(home, HOUR_MS / 2)];
  const session = await createSession(home, owner);
  for (const token of [week, half]) await home.ask(token, "GET", "/v1/handshake");
  const sse = await home.sse(owner, session);
  const streams = [sse, await home.webSocket(owner, session), await home.sse(week, session)];
  const { daemon } = home;
  const acknowledged: string[] = [];
  let [stepMs, lockouts, outlivedTokens, earlyDeletions, renewals] = [0, 0, 0, 0, 0];
  let known = owner;
  const heartbeats: number[] = [];
  let cpuSeconds = 0;

  /** The one in the file, as the client library has it: after a renewal it introduces itself again. */
  const current = async (): Promise<string> => {
    const token = home.token();
    if (token !== known) {
      renewals += 1;
      await home.ask(token, "GET", "/v1/handshake");
    }
    known = token;
    return token;
  };
  const send = async (text: string): Promise<number> => {
    const { status, body } = await home.ask(await current(), "POST", `/v1/sessions/${session}/input`, textBody(text));
    if (status !== 202) throw new Error(`the input was refused: ${JSON.stringify(body)}`);
    acknowledged.push(String(body.turn));
    return sse.events.at(-1)?.id ?? 0;
  };
  const step = (ms: number): Promise<void> => {
    stepMs += ms;
    return home.step(stepMs);
  };

  for (const { ms, during } of steps) {
    const after = sse.events.at(-1)?.id ?? 0;
    if (during !== "idle") await send(during === "turn" ? "wait" : `write ${acknowledged.length}.txt`);
    if (during === "question") {
      const asked = await sse.next("PermissionRequested", after);
      await step(ms);
      const answer = { call_id: Reflect.get(asked.payload, "call_id") as string, decision: "allow_once" };
      const { status } = await home.ask(await current(), "POST", `/v1/sessions/${session}/permission`, answer);
      if (status !== 202) lockouts += 1;
    } else if (during === "turn") {
      await sse.next("TextDelta", after);
      await step(ms);
      await home.ask(await current(), "POST", `/v1/sessions/${session}/cancel`);
    } else await step(ms);
    if (during !== "idle") for (const stream of streams) await stream.next("TurnEnded", after);
    lockouts += await refusals(home, [owner, home.token(), week]);
    if (stepMs >= HOUR_MS && (await home.ask(half, "GET", "/v1/health")).status !== 401) outlivedTokens += 1;
    const before = await send("say hello");
    for (const stream of streams) await stream.next("TurnEnded", before);
    if (Math.abs(stepMs) >= HOUR_MS) earlyDeletions += await deletions(home);
    if (waits && (ms === 25 * HOUR_MS || stepMs === -HOUR_MS)) {
      const [beats, cpu] = [sse.heartbeats, cpuOf(daemon?.pid)];
      await clock.sleep(MINUTE_MS);
      heartbeats.push(sse.heartbeats - beats);
      cpuSeconds = Math.max(cpuSeconds, cpuOf(daemon?.pid) - cpu);
    }
    await current();
  }
  const log = await readLog(home, session);
  const daemonsEnded = daemon?.exitCode === null && daemon.signalCode === null ? 0 : 1;
  const streamsCut = streams.filter(({ isOpen }) => !isOpen).length;
  for (const stream of streams) stream.close();
  return {
    steps: steps.length,
    daemonsEnded,
    lockouts,
    acknowledged: acknowledged.length,
    acknowledgedLost: lostTurns(acknowledged, log) + lostEvents(streams, log),
    streamsCut,
    eventsOutOfOrder: outOfOrder(log),
    outlivedTokens,
    earlyDeletions,
    deletionsWithoutGuard: await unguardedDeletions(home),
    renewals,
    ...(waits ? { heartbeats, cpuSeconds } : {}),
  };
}

/** Of the tokens, and of the program that reads its own. */
async function refusals(home: SteppedHome, tokens: readonly string[]): Promise<number> {
  let refused = 0;
  for (const token of tokens) if ((await home.ask(token, "GET", "/v1/health")).status !== 200) refused += 1;
  const { out } = await home.cli("daemon", "status", "--json");
  const status = JSON.parse(out) as { readonly state: string; readonly health?: unknown };
  return refused + (status.state === "running" && status.health !== undefined ? 0 : 1);
}

/** Events that lost their content, by the program's own care. */
async function deletions(home: SteppedHome): Promise<number> {
  const { code, out, err } = await home.cli("sessions", "expire", "--json");
  if (code !== 0) throw new Error(err);
  return (JSON.parse(out) as { report: { expiredEvents: number } }).report.expiredEvents;
}

/** With a clock that is a day ahead, on a machine that has never looked at it. */
async function unguardedDeletions(home: SteppedHome): Promise<number> {
  await home.stop();
  await home.step(25 * HOUR_MS);
  rmSync(join(home.state, SETTLED_TIME_FILE));
  return deletions(home);
}

async function createSession(home: SteppedHome, token: string): Promise<string> {
  await home.ask(token, "GET", "/v1/handshake");
  const { body } = await home.ask(token, "POST", "/v1/sessions", {});
  if (typeof body.id !== "string") throw new Error(`no session: ${JSON.stringify(body)}`);
  return body.id;
}

/** One that somebody has minted beforehand, for everything. */
function mintToken({ env }: SteppedHome, lastsMs: number): string {
  const { key, records } = tokenParts({ env, clock });
  const knownCommands = Object.keys(commands);
  const jti = createIdMint(createUlidFactory({ clock, random: createSystemRandom() })).token();
  const claims = mintClaims(
    { sessions: "all", commands: knownCommands, identityClass: "human", ttlSeconds: lastsMs / 1000 },
    { jti, nowMs: clock.now(), knownCommands },
  );
  records.add(claims, clock.now());
  return signToken(claims, key());
}

/** Turns that were taken and did not begin, or did not end, exactly once. */
function lostTurns(acknowledged: readonly string[], log: readonly Event[]): number {
  const count = (kind: string, turn: string): number =>
    log.filter((event) => event.kind === kind && Reflect.get(event.payload, "turn") === turn).length;
  return acknowledged.filter((turn) => count("TurnStarted", turn) !== 1 || count("TurnEnded", turn) !== 1).length;
}

/** Events that a client was sent and that the log does not have as they were. */
function lostEvents(streams: readonly Stream[], log: readonly Event[]): number {
  const kept = new Set(log.map(({ id, kind, ts }) => `${id} ${kind} ${ts}`));
  const sent = streams.flatMap(({ events }) => events).filter(({ kind }) => kind !== "TokenExpiring");
  return sent.filter(({ id, kind, ts }) => !kept.has(`${id} ${kind} ${ts}`)).length;
}

function outOfOrder(log: readonly Event[]): number {
  return log.filter(({ id, ts }, index) => id !== index + 1 || ts < (log[index - 1]?.ts ?? "")).length;
}

/** Seconds of processor time that a process has used. */
function cpuOf(pid: number | undefined): number {
  const stat = process.getBuiltinModule("node:fs").readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function textBody(text: string) {
  return { content: [{ type: "text", text }] };
}

if (process.argv[1] === import.meta.filename) {
  const result = await stepClock({ waits: process.argv[2] !== "short" });
  const none = (name: string, ours: number): Figure => ({ name, unit: "", ours, limit: 0 });
  const beats = result.heartbeats ?? [];
  const figures: Figure[] = [
    { name: "clock steps", unit: "", ours: result.steps },
    none("daemons ended", result.daemonsEnded),
    none("lockouts of the owner, or of a token that still lasts", result.lockouts),
    none(`acknowledged inputs and events lost (${result.acknowledged} inputs)`, result.acknowledgedLost),
    none("streams cut, of 3", result.streamsCut),
    none("events whose time is before that of the one before", result.eventsOutOfOrder),
    none("requests of a token that a step had ended", result.outlivedTokens),
    none("events that lost content early", result.earlyDeletions),
    { name: "events that lose content without the guard (must be some)", unit: "", ours: result.deletionsWithoutGuard },
    { name: "renewals of the owner's token", unit: "", ours: result.renewals, limit: result.steps },
    ...beats.map((ours): Figure => ({ name: "heartbeats in the 65 s after a step", unit: "", ours, limit: 3 })),
    ...(result.cpuSeconds === undefined
      ? []
      : [{ name: "processor time in such a minute, at most", unit: "s", ours: result.cpuSeconds, limit: 10 }]),
  ];
  printFigures("Clock steps", figures);
  const isWhole = result.deletionsWithoutGuard > 0 && beats.every((count) => count >= 2);
  process.exitCode = figures.every(holds) && isWhole ? 0 : 1;
}
