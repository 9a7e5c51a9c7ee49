/**
 * Finds the daemon of this user, or starts one. What is left of one that was killed, one that hangs or was stopped, and one of
 * another build are no reason to fail: they are cleared away. A process is signalled only when the mark of its start says that it
 * is the one that called itself the daemon.
 */
import { closeSync, fstatSync, openSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { type Clock, type DetachedProcess, isSameProcess, isStopped, makePrivateDirectory } from "#base";
import { ReasonError } from "#protocol";
import { harnessPaths } from "#sessions/keys";
import type { CliPorts } from "./cli-ports.ts";
import { type DaemonClaim, findClaim } from "./daemon-claim.ts";
import { type ProbeResult, probeDaemon } from "./daemon-probe.ts";

/** From the start of the process to its first answer; most of it is a slow disk. */
const START_PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 25;
/** A daemon lets running turns end for ten seconds; then it has ended by itself. */
const DRAIN_PATIENCE_MS = 12_000;
/** One that does not answer is not expected to end in an orderly way, but may. */
const HUNG_PATIENCE_MS = 2_000;
const KILL_PATIENCE_MS = 5_000;
/** Whatever is found each time; the next is then an error. */
const MAX_ROUNDS = 5;
/** What a daemon prints before it has its log, and when it crashes. */
const OUTPUT_MAX_BYTES = 1024 * 1024;
const SHOWN_OUTPUT_CHARS = 4_000;

export type DaemonPorts = Pick<CliPorts, "env" | "cwd" | "clock" | "build" | "relaunch" | "outward">;

export interface DaemonPlaces {
  readonly socket: string;
  readonly claims: string;
  readonly tokenFile: string;
  /** What it prints. */
  readonly output: string;
}

export function daemonPlaces(env: CliPorts["env"]): DaemonPlaces {
  const { dataDir, stateDir } = harnessPaths(env);
  return {
    socket: join(dataDir, "control.sock"),
    claims: join(dataDir, "daemon"),
    tokenFile: join(stateDir, "control.token"),
    output: join(stateDir, "log", "daemon.out"),
  };
}

export interface DaemonAccess {
  /** As `--listen` takes it. */
  readonly address: string;
  readonly tokenFile: string;
  /** Absent for one that another machine or container has put on this socket. */
  readonly pid?: number;
  readonly version: string;
  /** Not for the first time now, but by this call. */
  readonly started: boolean;
  /** What was in the way, in words for a person. */
  readonly recycled: readonly string[];
}

export type DaemonState =
  | { readonly kind: "none" }
  /** It has not answered yet, and is young enough to do so. */
  | { readonly kind: "starting"; readonly claim: DaemonClaim }
  | {
      readonly kind: "running";
      readonly claim?: DaemonClaim;
      readonly version: string;
      readonly tokenFile: string;
      /** Absent when it did not take our token. */
      readonly health?: Readonly<Record<string, unknown>>;
      readonly isOtherBuild: boolean;
    }
  /** It has the claim, and no answer comes. */
  | { readonly kind: "hung"; readonly claim: DaemonClaim; readonly how: "stopped" | "silent" | "unreachable" }
  /** It was told to stop and lets its turns end. */
  | { readonly kind: "ending"; readonly claim: DaemonClaim }
  /** On our socket, and not one of ours. */
  | { readonly kind: "foreign" };

/** Looks, and changes nothing but what killed daemons left behind. */
export async function lookForDaemon({ env, clock, build }: DaemonPorts): Promise<DaemonState> {
  const places = daemonPlaces(env);
  const claim = findClaim(places.claims);
  if (claim !== undefined && isStopped(claim.pid)) return { kind: "hung", claim, how: "stopped" };
  if (claim?.state === "ending") return { kind: "ending", claim };
  if (claim !== undefined && claim.state !== "ready") {
    return isYoung(claim, clock) ? { kind: "starting", claim } : { kind: "hung", claim, how: "silent" };
  }
  const tokenFile = claim?.facts?.tokenFile || places.tokenFile;
  const probe = await probeDaemon(places.socket, tokenFile);
  return stateOf(probe, claim, tokenFile, build);
}

function stateOf(
  probe: ProbeResult,
  claim: DaemonClaim | undefined,
  tokenFile: string,
  build: CliPorts["build"],
): DaemonState {
  const facts = claim?.facts;
  switch (probe.kind) {
    case "foreign":
      return { kind: "foreign" };
    case "nobody":
    case "silent":
      // It may have ended in between.
      if (claim === undefined || !isSameProcess(claim.pid, claim.mark)) return { kind: "none" };
      return { kind: "hung", claim, how: probe.kind === "nobody" ? "unreachable" : "silent" };
    case "healthy":
    case "refused": {
      const health = probe.kind === "healthy" ? probe.health : undefined;
      const version = facts?.version ?? (typeof health?.version === "string" ? health.version : "unknown");
      const isOtherBuild = version !== build.version || (facts !== undefined && facts.commit !== build.commit);
      return {
        kind: "running",
        version,
        tokenFile,
        isOtherBuild,
        ...(claim === undefined ? {} : { claim }),
        ...(health === undefined ? {} : { health }),
      };
    }
  }
}

/** Starts one unless it runs. Rejects with DaemonFailed. `args`: what `daemon run` is started with beside its own. */
export async function ensureDaemon(ports: DaemonPorts, args?: readonly string[]): Promise<DaemonAccess> {
  const { clock } = ports;
  const recycled: string[] = [];
  let child: DetachedProcess | undefined;
  let asBefore: Pick<StartOptions, "args" | "cwd"> | undefined;
  let printedFrom = 0;
  const startMs = clock.monotonicMs();
  for (let rounds = 0; ; ) {
    const state = await lookForDaemon(ports);
    switch (state.kind) {
      case "running":
        if (!state.isOtherBuild) return accessTo(ports, state, child, recycled);
        if (state.claim === undefined) {
          throw failed(`${describeState(state)}, where its process cannot be reached from here. Stop it there`);
        }
        break;
      case "foreign":
        throw failed(`another program answers on ${daemonPlaces(ports.env).socket}. Move it away`);
      case "starting":
        if (clock.monotonicMs() - startMs > START_PATIENCE_MS) break;
        await clock.sleep(LOOK_EVERY_MS);
        continue;
      case "ending":
        if (await isGone(clock, state.claim, DRAIN_PATIENCE_MS)) continue;
        break;
      case "none": {
        const ended = child?.ended();
        if (child !== undefined && ended === undefined && clock.monotonicMs() - startMs < START_PATIENCE_MS) {
          await clock.sleep(LOOK_EVERY_MS);
          continue;
        }
        if (child !== undefined) throw await startFailure(ports, printedFrom, ended?.code);
        const started = startDaemon(ports, { ...(asBefore ?? { cwd: ports.cwd }), args: args ?? asBefore?.args ?? [] });
        child = started.child;
        printedFrom = started.printedFrom;
        continue;
      }
      case "hung":
        break;
    }
    rounds += 1;
    if (rounds > MAX_ROUNDS) throw failed(`there is always one in the way: ${recycled.join("; ")}`);
    recycled.push(describeState(state));
    const facts = state.claim?.facts;
    // Whoever gives no flags of their own gets those of the one that is replaced.
    if (facts?.background === true) asBefore = { args: facts.args, cwd: facts.cwd };
    if (state.claim !== undefined) await endDaemon(clock, state.claim, isStuck(state));
  }
}

/** It will not drain: it does nothing at all, or had its time already. */
export function isStuck(state: DaemonState): boolean {
  return (state.kind === "hung" && state.how !== "unreachable") || state.kind === "starting" || state.kind === "ending";
}

/** SIGTERM lets it drain; what is still there after its time is killed. Rejects with DaemonFailed when it cannot be ended. */
export async function endDaemon(clock: Clock, claim: DaemonClaim, isHung: boolean): Promise<"ended" | "killed"> {
  signal(claim, "SIGTERM");
  // A stopped process takes its signals when it goes on.
  signal(claim, "SIGCONT");
  if (await isGone(clock, claim, isHung ? HUNG_PATIENCE_MS : DRAIN_PATIENCE_MS)) return "ended";
  signal(claim, "SIGKILL");
  if (await isGone(clock, claim, KILL_PATIENCE_MS)) return "killed";
  throw failed(`the process ${claim.pid} does not end, not even by SIGKILL`);
}

/** Only to the very process that made the claim; one that has ended needs no signal. */
function signal({ pid, mark }: DaemonClaim, name: NodeJS.Signals): void {
  if (mark === "") {
    throw failed(
      `this system does not tell whether the process ${pid} is the daemon. End it yourself if it is: kill ${pid}`,
    );
  }
  if (!isSameProcess(pid, mark)) return;
  try {
    process.kill(pid, name);
  } catch (error) {
    // It ended in this very moment.
    if (isSameProcess(pid, mark)) throw failed(`the process ${pid} cannot be signalled: ${String(error)}`);
  }
}

async function isGone(clock: Clock, { pid, mark }: DaemonClaim, patienceMs: number): Promise<boolean> {
  const startMs = clock.monotonicMs();
  while (isSameProcess(pid, mark)) {
    if (clock.monotonicMs() - startMs > patienceMs) return false;
    await clock.sleep(LOOK_EVERY_MS);
  }
  return true;
}

export interface StartOptions {
  readonly args: readonly string[];
  readonly cwd: string;
}

function startDaemon({ env, relaunch }: DaemonPorts, { args, cwd }: StartOptions) {
  const { output, socket } = daemonPlaces(env);
  makePrivateDirectory(join(output, ".."));
  const file = openSync(output, "a", 0o600);
  try {
    if (fstatSync(file).size > OUTPUT_MAX_BYTES) truncateSync(output);
    const printedFrom = fstatSync(file).size;
    // Sessions that name no folder are in the home of the user, wherever the daemon was started.
    const run = ["daemon", "run", "--background", "--listen", `unix:${socket}`, "--cwd", env.HOME ?? cwd];
    return { child: relaunch([...run, ...args], { cwd, output: file }), printedFrom };
  } finally {
    closeSync(file);
  }
}

/** What a wrong flag or file is called there, it is called here. */
async function startFailure(
  ports: DaemonPorts,
  printedFrom: number,
  code: number | null | undefined,
): Promise<ReasonError> {
  const detail = await printedBy(ports, printedFrom, code);
  return code === 2 ? new ReasonError("ConfigInvalid", { detail }) : failed(detail);
}

async function printedBy(
  { env, outward }: DaemonPorts,
  from: number,
  code: number | null | undefined,
): Promise<string> {
  const { output } = daemonPlaces(env);
  const printed = readFileSync(output).subarray(from).toString("utf8").trim().slice(-SHOWN_OUTPUT_CHARS);
  const how = code === undefined ? "it did not answer in time" : `it ended with ${code ?? "a signal"}`;
  return `${how}. ${(await outward.orNothing(printed)) || `What it printed is in ${output}`}`;
}

function accessTo(
  { env }: DaemonPorts,
  state: Extract<DaemonState, { kind: "running" }>,
  child: DetachedProcess | undefined,
  recycled: readonly string[],
): DaemonAccess {
  return {
    address: `unix:${daemonPlaces(env).socket}`,
    tokenFile: state.tokenFile,
    version: state.version,
    started: child !== undefined && child.pid === state.claim?.pid,
    recycled,
    ...(state.claim === undefined ? {} : { pid: state.claim.pid }),
  };
}

/** In words for a person. */
export function describeState(state: DaemonState): string {
  switch (state.kind) {
    case "none":
      return "no daemon runs";
    case "starting":
      return `a daemon is starting (process ${state.claim.pid})`;
    case "running":
      return `a daemon of version ${state.version} runs${state.claim === undefined ? "" : ` (process ${state.claim.pid})`}`;
    case "hung":
      return `the daemon (process ${state.claim.pid}) ${HUNG_WORDS[state.how]}`;
    case "ending":
      return `the daemon (process ${state.claim.pid}) is stopping`;
    case "foreign":
      return "another program listens on the socket of the daemon";
  }
}

const HUNG_WORDS = {
  stopped: "was stopped",
  silent: "does not answer",
  unreachable: "runs, but its socket is gone",
} as const;

function isYoung({ facts }: DaemonClaim, clock: Clock): boolean {
  return facts === undefined || clock.now() - Date.parse(facts.startedAt) < START_PATIENCE_MS;
}

function failed(detail: string): ReasonError {
  return new ReasonError("DaemonFailed", { detail });
}
