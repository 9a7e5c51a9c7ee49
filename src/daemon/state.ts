/** How the daemon of this user is, by its claim and by what it answers. Changes nothing but what killed daemons left behind. */

import { join } from "node:path";
import { type Clock, defined } from "#base";
import type { ProgramPorts } from "#program";
import { harnessPaths } from "#stores/keys";
import { isSameProcess, isStopped } from "#world";
import { type DaemonClaim, type DaemonFacts, findClaim } from "./claim.ts";
import { type ProbeResult, probeDaemon } from "./probe.ts";

/** From the start of the process to its first answer; most of it is a slow disk. */
export const START_PATIENCE_MS = 30_000;

export type DaemonPorts = Pick<ProgramPorts, "env" | "cwd" | "clock" | "build" | "relaunch" | "outward">;

type LookPorts = Pick<DaemonPorts, "env" | "clock" | "build">;

export interface DaemonPlaces {
  readonly socket: string;
  readonly claims: string;
  readonly tokenFile: string;
  /** What it prints. */
  readonly output: string;
}

export function daemonPlaces(env: ProgramPorts["env"]): DaemonPlaces {
  const { dataDir, stateDir } = harnessPaths(env);
  return {
    socket: join(dataDir, "control.sock"),
    claims: join(dataDir, "daemon"),
    tokenFile: join(stateDir, "control.token"),
    output: join(stateDir, "log", "daemon.out"),
  };
}

/** What the daemon of this user tells of itself; undefined while none runs. Asks it nothing. */
export function daemonFacts({ env }: Pick<ProgramPorts, "env">): DaemonFacts | undefined {
  return findClaim(daemonPlaces(env).claims)?.facts;
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

/** A daemon may begin to listen between the look for its claim and the question. */
const MAX_LOOKS = 3;

/** Looks, and changes nothing but what killed daemons left behind. */
export async function lookForDaemon(ports: LookPorts): Promise<DaemonState> {
  const { claims } = daemonPlaces(ports.env);
  let state = await look(ports);
  for (let looks = 1; looks < MAX_LOOKS; looks++) {
    if (state.kind !== "running" || state.claim !== undefined || findClaim(claims) === undefined) break;
    state = await look(ports);
  }
  return state;
}

async function look({ env, clock, build }: LookPorts): Promise<DaemonState> {
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
  build: ProgramPorts["build"],
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
      const isOtherBuild = version !== build.version || (facts !== undefined && isOther(facts, build));
      return {
        kind: "running",
        version,
        tokenFile,
        isOtherBuild,
        ...defined({ claim, health }),
      };
    }
  }
}

/** Two builds of one commit differ in what they are called: files of the one are not those of the other. */
function isOther({ commit, builtAt }: DaemonFacts, build: ProgramPorts["build"]): boolean {
  return commit !== build.commit || (builtAt !== "" && builtAt !== build.builtAt);
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

/** By the uptime of the machine, which is the same: a wall clock that stepped since would make it old, or keep it young. */
function isYoung({ facts }: DaemonClaim, clock: Pick<Clock, "uptimeMs">): boolean {
  if (facts === undefined) return true;
  return clock.uptimeMs() - facts.startedUpMs < START_PATIENCE_MS;
}
