/**
 * One process group, seen from outside: is anybody left, and how it is made to end. On Linux it also finds processes
 * that left the group (setsid), by a mark in their environment; one that cleared its environment too is out of reach,
 * and only a PID namespace holds it. There the leader is a monitor, and all end with the namespace's first process.
 */
import { readdir, readFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { type Clock, errnoOf } from "#base";
import type { MonitorStatus } from "./process-monitor.ts";

/** The variable that carries the mark. */
export const MARK_NAME = "TOOL_RUN_MARK";
/** Between the polite signal and the last one. */
const TERM_GRACE_MS = 300;
/** After SIGKILL the kernel needs a moment, on a machine with much to do a longer one. */
const KILL_GRACE_MS = 200;
/** Whoever was just becoming another program had no environment to be known by, and is met the next time. */
const KILL_ROUNDS = 8;
const POLL_MS = 20;
const FIRST_POLL_MS = 1;
const SPIN_ROUNDS = 40;

export interface ProcessGroup {
  /** At once and without waiting; fit for an exit handler. Reaches the group only. */
  kill(signal: NodeJS.Signals): void;
  /** Resolves to true as soon as nobody of the group runs, to false after `ms`. */
  gone(ms: number): Promise<boolean>;
  /** SIGTERM, then SIGKILL to whoever is left after the grace. Resolves when all are gone; bounded. */
  end(options: { readonly strays: boolean; readonly termGraceMs?: number | undefined }): Promise<void>;
}

/** With a monitor, `pid` is its process: it is spared the polite signal, which would end all at once. */
export function createProcessGroup(pid: number, mark: string, clock: Clock, monitor?: MonitorStatus): ProcessGroup {
  async function waitUntilGone(ms: number, strays: boolean): Promise<boolean> {
    const deadlineMs = clock.monotonicMs() + ms;
    // A namespace takes a fraction of a millisecond to go; a timer takes longer.
    for (let round = 0; monitor !== undefined && round < SPIN_ROUNDS; round++) {
      if (await isGone(strays)) return true;
      await setImmediate();
    }
    for (let pauseMs = FIRST_POLL_MS; !(await isGone(strays)); pauseMs = Math.min(2 * pauseMs, POLL_MS)) {
      if (clock.monotonicMs() >= deadlineMs) return false;
      await clock.sleep(pauseMs);
    }
    return true;
  }
  async function isGone(strays: boolean): Promise<boolean> {
    // The kernel ends every process of a namespace before its first one is gone.
    if (monitor !== undefined) return !hasMembers(pid) && !monitor.isRunning();
    return (!hasMembers(pid) && !strays) || (await runningMembers(pid, strays ? mark : undefined)).length === 0;
  }
  async function signalAll(signal: NodeJS.Signals, strays: boolean): Promise<void> {
    if (monitor === undefined || signal === "SIGKILL") send(-pid, signal);
    if (!strays) return;
    for (const member of await runningMembers(pid, mark)) {
      if (monitor === undefined || member !== pid) send(member, signal);
    }
  }
  return {
    kill: (signal) => void send(-pid, signal),
    gone: (ms) => waitUntilGone(ms, false),
    async end({ strays, termGraceMs = TERM_GRACE_MS }) {
      await signalAll("SIGTERM", strays);
      if (await waitUntilGone(termGraceMs, strays)) return;
      for (let round = 0; round < KILL_ROUNDS; round++) {
        await signalAll("SIGKILL", strays);
        if (await waitUntilGone(KILL_GRACE_MS, strays)) return;
      }
    },
  };
}

function hasMembers(pid: number): boolean {
  return send(-pid, 0);
}

function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch (error) {
    // EPERM: somebody is there whom we may not signal (a set-id program). Anything else: nobody is.
    return errnoOf(error) === "EPERM";
  }
}

/** Process ids that run, zombies left out: in a container nobody may ever reap those. */
async function runningMembers(group: number, mark: string | undefined): Promise<number[]> {
  if (process.platform !== "linux") return hasMembers(group) ? [-group] : [];
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => isMember(pid, group, mark)));
  return pids.filter((_pid, index) => found[index]).map(Number);
}

async function isMember(pid: string, group: number, mark: string | undefined): Promise<boolean> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1");
    // The command name may hold anything, also parentheses; the fixed fields follow the last one.
    const [state, , processGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return false;
    if (Number(processGroup) === group) return true;
    if (mark === undefined) return false;
    return (await readFile(`/proc/${pid}/environ`, "latin1")).split("\0").includes(`${MARK_NAME}=${mark}`);
  } catch {
    // It ended while we looked, or belongs to somebody else.
    return false;
  }
}
