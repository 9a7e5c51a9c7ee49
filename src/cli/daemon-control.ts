/** `harness daemon start`, `stop`, `status` and `restart`: one daemon of this user in the background. */

import { defined } from "#base";
import {
  type DaemonAccess,
  type DaemonFacts,
  type DaemonState,
  daemonPlaces,
  describeState,
  endDaemon,
  ensureDaemon,
  lookForDaemon,
} from "#daemon";
import { subsystemLines } from "#program";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

export interface DaemonFlags {
  readonly json?: boolean;
}

/** 0 when one runs and answers, whoever started it. `args`: flags of `daemon run`; none: those of the one it replaces. */
export async function daemonStartCommand(
  ports: CliPorts,
  flags: DaemonFlags,
  args: readonly string[],
): Promise<ExitCode> {
  const access = await ensureDaemon(ports, args.length === 0 ? undefined : args);
  tellAccess(ports, flags, access, args);
  return 0;
}

/** 0 also when there is none. */
export async function daemonStopCommand(ports: CliPorts, flags: DaemonFlags): Promise<ExitCode> {
  const { how, pid } = await stop(ports);
  if (flags.json) ports.terminal.out(`${JSON.stringify({ stopped: how, ...defined({ pid }) })}\n`);
  else ports.terminal.out(`${STOP_WORDS[how]}${pid === undefined ? "" : ` (process ${pid})`}\n`);
  return how === "elsewhere" ? 1 : 0;
}

const STOP_WORDS = {
  ended: "the daemon has stopped",
  killed: "the daemon did not stop in time and was killed",
  none: "no daemon runs",
  elsewhere: "the daemon runs on another machine or in another container: stop it there",
} as const;

/** 0 when it runs and answers, 1 otherwise. */
export async function daemonStatusCommand(ports: CliPorts, flags: DaemonFlags): Promise<ExitCode> {
  const state = await lookForDaemon(ports);
  const isRunning = state.kind === "running";
  if (flags.json) ports.terminal.out(`${JSON.stringify(statusOf(ports, state))}\n`);
  else ports.terminal.out(statusText(ports, state));
  return isRunning ? 0 : 1;
}

/** Stops it and starts one with the flags given, or those that it had. When those given do not work, the one that was there is back. */
export async function daemonRestartCommand(
  ports: CliPorts,
  flags: DaemonFlags,
  args: readonly string[],
): Promise<ExitCode> {
  const { facts } = await stop(ports);
  const before = facts?.background === true ? facts : undefined;
  const asBefore = (): Promise<DaemonAccess> =>
    before === undefined ? ensureDaemon(ports) : ensureDaemon({ ...ports, cwd: before.cwd }, before.args);
  let access: DaemonAccess;
  try {
    access = await (args.length > 0 ? ensureDaemon(ports, args) : asBefore());
  } catch (error) {
    if (args.length > 0 && before !== undefined) await tellReturn(ports, asBefore);
    throw error;
  }
  tellAccess(ports, flags, access, args);
  return 0;
}

/** Why the flags did not work is told after it, in any case. */
async function tellReturn(ports: CliPorts, asBefore: () => Promise<DaemonAccess>): Promise<void> {
  try {
    const { pid } = await asBefore();
    ports.terminal.err(`The daemon runs again with its previous flags (process ${pid}).\n`);
  } catch (error) {
    ports.terminal.err(`${await ports.outward.describe(error)}\nNo daemon runs now.\n`);
  }
}

interface Stopped {
  readonly how: keyof typeof STOP_WORDS;
  readonly pid?: number;
  readonly facts?: DaemonFacts;
}

async function stop(ports: CliPorts): Promise<Stopped> {
  const state = await lookForDaemon(ports);
  if (!("claim" in state) || state.claim === undefined) return { how: state.kind === "running" ? "elsewhere" : "none" };
  const { claim } = state;
  const how = await endDaemon(ports.clock, { ...state, claim });
  return { how, pid: claim.pid, ...defined({ facts: claim.facts }) };
}

function tellAccess(
  { terminal }: CliPorts,
  { json }: DaemonFlags,
  access: DaemonAccess,
  args: readonly string[],
): void {
  const { address, tokenFile, pid, version, started, recycled } = access;
  if (!started && args.length > 0) {
    terminal.err(
      "It keeps the flags that it was started with. To apply the ones given here: harness daemon restart.\n",
    );
  }
  if (json) {
    const told = { address, token_file: tokenFile, pid, version, started, recycled };
    terminal.out(`${JSON.stringify(told)}\n`);
    return;
  }
  for (const what of recycled) terminal.err(`${what}: replaced\n`);
  const who = pid === undefined ? "" : ` (process ${pid})`;
  terminal.out(`${started ? "the daemon runs" : "a daemon is already running"}${who}\n`);
  terminal.out(`  version: ${version}\n  address: ${address}\n  token:   ${tokenFile}\n`);
}

function statusOf({ env, build }: CliPorts, state: DaemonState) {
  const claim = "claim" in state ? state.claim : undefined;
  const running = state.kind === "running" ? state : undefined;
  return {
    state: state.kind,
    detail: describeState(state),
    socket: daemonPlaces(env).socket,
    ...defined({ pid: claim?.pid }),
    ...(claim?.facts === undefined
      ? {}
      : {
          version: claim.facts.version,
          started_at: claim.facts.startedAt,
          addresses: claim.facts.addresses,
          token_file: claim.facts.tokenFile,
          background: claim.facts.background,
        }),
    ...(running === undefined ? {} : { is_other_build: running.isOtherBuild, own_version: build.version }),
    ...defined({ health: running?.health }),
  };
}

function statusText(ports: CliPorts, state: DaemonState): string {
  const lines = [describeState(state)];
  if (state.kind !== "running") return `${lines.join("\n")}\n`;
  const facts = state.claim?.facts;
  if (facts !== undefined) {
    lines.push(`  since:   ${facts.startedAt}`, `  address: ${facts.addresses.join(", ")}`);
  }
  lines.push(`  token:   ${state.tokenFile}`);
  const { sessions, subsystems } = state.health ?? {};
  if (sessions !== undefined) lines.push(`  sessions: ${JSON.stringify(sessions)}`);
  lines.push(...subsystemLines((subsystems ?? {}) as Parameters<typeof subsystemLines>[0]));
  if (state.isOtherBuild)
    lines.push(`  This program is ${ports.build.version}. To update the daemon: harness daemon restart.`);
  return `${lines.join("\n")}\n`;
}
