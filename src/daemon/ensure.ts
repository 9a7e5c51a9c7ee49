/**
 * Finds the daemon of this user, or starts one. What is left of one that was killed, one that hangs or was stopped, and one of
 * another build are no reason to fail: they are cleared away.
 */
import { closeSync, existsSync, fstatSync, openSync, readFileSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import { defined, endOf } from "#base";
import { ReasonError } from "#protocol";
import { type DetachedProcess, makePrivateDirectory } from "#world";
import { endDaemon, type FoundDaemon } from "./end.ts";
import {
  type DaemonPorts,
  type DaemonState,
  daemonPlaces,
  describeState,
  lookForDaemon,
  START_PATIENCE_MS,
} from "./state.ts";

const LOOK_EVERY_MS = 25;
/** Daemons of no use that are cleared away; whoever finds more has another problem. */
const MAX_RECYCLED = 5;
/** Of our own, each of which was gone before it answered. */
const MAX_STARTS = 3;
const USAGE_EXIT = 2;
/** What a daemon prints before it has its log, and when it crashes. */
const OUTPUT_MAX_BYTES = 1024 * 1024;
const SHOWN_OUTPUT_CHARS = 4_000;

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

/** The same for somebody who only needs that it runs. */
export async function daemonFor(ports: DaemonPorts): Promise<void> {
  await ensureDaemon(ports);
}

/**
 * Starts one unless it runs. Rejects with DaemonFailed. `args`: what `daemon run` is started with beside its own; without them it is
 * as `before`, or as the one that is replaced.
 */
export async function ensureDaemon(
  ports: DaemonPorts,
  args?: readonly string[],
  before?: StartOptions,
): Promise<DaemonAccess> {
  const { clock } = ports;
  const recycled: string[] = [];
  let started: Started | undefined;
  let starts = 0;
  let asBefore = before;
  let sinceMs = clock.monotonicMs();
  const isPatient = (): boolean => clock.monotonicMs() - sinceMs < START_PATIENCE_MS;
  for (;;) {
    const state = await lookForDaemon(ports);
    switch (state.kind) {
      case "running":
        if (!state.isOtherBuild) return accessTo(ports, state, started, recycled);
        break;
      case "foreign":
        throw failed(`another program answers on ${daemonPlaces(ports.env).socket}. Stop that program`);
      case "starting":
        if (!isPatient()) break;
        await clock.sleep(LOOK_EVERY_MS);
        continue;
      case "ending":
        await endDaemon(clock, state);
        continue;
      case "none": {
        const ended = started?.child.ended();
        if (started !== undefined && ended === undefined && isPatient()) {
          await clock.sleep(LOOK_EVERY_MS);
          continue;
        }
        // Somebody may have ended it before it answered; what is wrong with its flags is wrong the next time, too.
        const isOver = starts >= MAX_STARTS || ended?.code === USAGE_EXIT || !isPatient();
        if (started !== undefined && isOver) throw await startFailure(ports, started, ended?.code);
        started = startDaemon(
          ports,
          args === undefined ? (asBefore ?? { args: [], cwd: ports.cwd }) : { args, cwd: ports.cwd },
        );
        starts += 1;
        sinceMs = clock.monotonicMs();
        continue;
      }
      case "hung":
        break;
    }
    if (recycled.length >= MAX_RECYCLED) throw failed(`every attempt found a different daemon: ${recycled.join("; ")}`);
    recycled.push(describeState(state));
    const found = withProcess(state);
    const { facts } = found.claim;
    // Whoever gives no flags of their own gets those of the one that is replaced.
    if (facts?.background === true) asBefore = { args: facts.args, cwd: facts.cwd };
    await endDaemon(clock, found);
  }
}

/** Throws for one whose process is somewhere else: it answers, and cannot be ended from here. */
function withProcess(state: DaemonState): FoundDaemon {
  if ("claim" in state && state.claim !== undefined) return { ...state, claim: state.claim };
  throw failed(`${describeState(state)} on another machine or in another container. Stop it there`);
}

/** How a daemon is started. */
export interface StartOptions {
  readonly args: readonly string[];
  readonly cwd: string;
}

interface Started {
  readonly child: DetachedProcess;
  /** Where what it prints begins. */
  readonly printedFrom: number;
}

function startDaemon({ env, relaunch }: DaemonPorts, { args, cwd: wanted }: StartOptions): Started {
  const { output, socket } = daemonPlaces(env);
  makePrivateDirectory(dirname(output));
  // That of the one before may be gone.
  const cwd = existsSync(wanted) ? wanted : "/";
  const file = openSync(output, "a", 0o600);
  try {
    if (fstatSync(file).size > OUTPUT_MAX_BYTES) truncateSync(output);
    const printedFrom = fstatSync(file).size;
    // Files are looked for from the home of the user, wherever the daemon was started. No session works there.
    const run = ["daemon", "run", "--background", "--listen", `unix:${socket}`, "--cwd", env.HOME ?? cwd];
    return { child: relaunch([...run, ...args], { cwd, output: file }), printedFrom };
  } finally {
    closeSync(file);
  }
}

/** What a wrong flag or file is called there, it is called here. */
async function startFailure(
  ports: DaemonPorts,
  { printedFrom }: Started,
  code: number | null | undefined,
): Promise<ReasonError> {
  const detail = await printedBy(ports, printedFrom, code);
  return code === USAGE_EXIT ? new ReasonError("ConfigInvalid", detail) : failed(detail);
}

async function printedBy(
  { env, outward }: DaemonPorts,
  from: number,
  code: number | null | undefined,
): Promise<string> {
  const { output } = daemonPlaces(env);
  const printed = endOf(readFileSync(output).subarray(from).toString("utf8").trim(), SHOWN_OUTPUT_CHARS);
  const how = code === undefined ? "it did not answer in time" : `it ended with ${code ?? "a signal"}`;
  if (printed === "") return `${how} and printed nothing. To find out what is wrong: harness doctor`;
  return `${how}. ${(await outward.orNothing(printed)) || `What it printed is in ${output}`}`;
}

function accessTo(
  { env }: DaemonPorts,
  state: Extract<DaemonState, { kind: "running" }>,
  own: Started | undefined,
  recycled: readonly string[],
): DaemonAccess {
  return {
    address: `unix:${daemonPlaces(env).socket}`,
    tokenFile: state.tokenFile,
    version: state.version,
    started: own !== undefined && own.child.pid === state.claim?.pid,
    recycled,
    ...defined({ pid: state.claim?.pid }),
  };
}

function failed(detail: string): ReasonError {
  return new ReasonError("DaemonFailed", detail);
}
