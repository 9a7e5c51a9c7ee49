/**
 * Who is the daemon: one process for each data folder. Whoever holds the lock of the folder is it; a file beside the lock says where it
 * listens. Sends no signals and opens no connection.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Clock, diskTrouble, isRecord } from "#base";
import {
  type FileLock,
  lockContenders,
  makePrivateDirectory,
  processPlace,
  readOwnedFile,
  removeDrafts,
  removePrivateFile,
  retryWaitMs,
  startMark,
  tryFileLock,
  writePrivateFile,
} from "#world";

/** How long those that came at the same moment step back and try again. */
const CLAIM_WAIT_MS = 3_000;
const CLAIM_MAX_BYTES = 256 * 1024;
/** Whether a process of another machine, container or boot lives cannot be asked; after this long its file goes. */
const FOREIGN_CLAIM_MS = 7 * 24 * 60 * 60 * 1000;
const CLAIM_FILE = /^[0-9a-f]{12}\.(?:json|lock)/;

/** What a daemon says about itself. */
export interface DaemonFacts {
  readonly version: string;
  readonly commit: string;
  /** Empty for one that did not say. */
  readonly builtAt: string;
  readonly startedAt: string;
  /** The same, as the uptime of the machine. */
  readonly startedUpMs: number;
  /** As `--listen` takes them; empty until it listens. */
  readonly addresses: readonly string[];
  readonly tokenFile: string;
  /** What `daemon run` was started with, and where, so that it can be started the same way again. */
  readonly args: readonly string[];
  readonly cwd: string;
  /** It was started to be there for others and ends when nobody needs it. */
  readonly background: boolean;
}

export interface DaemonClaim {
  readonly pid: number;
  readonly mark: string;
  /** `claiming`: it may still step back. */
  readonly state: "claiming" | "starting" | "ready" | "ending";
  /** Absent while it claims. */
  readonly facts?: DaemonFacts;
}

export interface HeldClaim {
  /** It listens now. */
  ready(facts: DaemonFacts): void;
  /** It accepts nothing new and ends soon. */
  ending(): void;
  release(): void;
}

/** Becomes the daemon, or says who is. */
export async function claimDaemon(
  folder: string,
  facts: DaemonFacts,
  clock: Clock,
): Promise<{ readonly held: HeldClaim } | { readonly by: DaemonClaim }> {
  makePrivateDirectory(folder);
  forgetForeign(folder);
  const startedMs = clock.monotonicMs();
  for (;;) {
    const lock = tryFileLock(lockIn(folder), clock);
    if ("release" in lock) return { held: hold(factsIn(folder), facts, lock) };
    const by = findClaim(folder);
    const isOver = clock.monotonicMs() - startedMs > CLAIM_WAIT_MS;
    if (by !== undefined && (by.state !== "claiming" || isOver)) return { by };
    await clock.sleep(retryWaitMs());
  }
}

function hold(path: string, facts: DaemonFacts, lock: FileLock): HeldClaim {
  const own = { pid: process.pid, mark: startMark(process.pid) ?? "" };
  const write = (state: DaemonClaim["state"], known: DaemonFacts): void =>
    writePrivateFile(path, `${JSON.stringify({ ...own, state, ...known })}\n`, { durable: false });
  let current = facts;
  try {
    removeDrafts(path);
    write("starting", facts);
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    ready(now) {
      current = now;
      write("ready", now);
    },
    // On a disk that takes nothing, whoever looks sees a daemon that refuses new work; it ends all the same.
    ending: () => attempt(() => write("ending", current)),
    release() {
      attempt(() => removePrivateFile(path));
      attempt(() => lock.release());
    },
  };
}

/** The daemon, or whoever is about to be it; the files of processes that have ended are cleared away. */
export function findClaim(folder: string): DaemonClaim | undefined {
  const contenders = lockContenders(lockIn(folder));
  const [first] = contenders;
  if (first === undefined) return undefined;
  const written = readFacts(factsIn(folder));
  const holder = contenders.find(({ pid, mark }) => pid === written?.pid && mark === written.mark);
  return holder === undefined ? { ...first, state: "claiming" } : written;
}

function lockIn(folder: string): string {
  return join(folder, `${processPlace()}.lock`);
}

function factsIn(folder: string): string {
  return join(folder, `${processPlace()}.json`);
}

function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (diskTrouble(error) === undefined) throw error;
  }
}

function forgetForeign(folder: string): void {
  const here = processPlace();
  for (const name of readdirSync(folder)) {
    if (!CLAIM_FILE.test(name) || name.startsWith(`${here}.`)) continue;
    const info = statSync(join(folder, name), { throwIfNoEntry: false });
    if (info !== undefined && Date.now() - info.mtimeMs > FOREIGN_CLAIM_MS) removePrivateFile(join(folder, name));
  }
}

/** Undefined for a file that cannot be read, or says something else. */
function readFacts(path: string): DaemonClaim | undefined {
  let raw: unknown;
  try {
    raw = JSON.parse(readOwnedFile(path, CLAIM_MAX_BYTES)?.toString("utf8") ?? "");
  } catch {
    return undefined;
  }
  if (!isRecord(raw)) return undefined;
  const state = (["starting", "ready", "ending"] as const).find((known) => known === raw.state);
  if (state === undefined || typeof raw.pid !== "number") return undefined;
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(text) : []);
  return {
    pid: raw.pid,
    mark: text(raw.mark),
    state,
    facts: {
      version: text(raw.version),
      commit: text(raw.commit),
      builtAt: text(raw.builtAt),
      startedAt: text(raw.startedAt),
      startedUpMs: Number(raw.startedUpMs),
      addresses: texts(raw.addresses),
      tokenFile: text(raw.tokenFile),
      args: texts(raw.args),
      cwd: text(raw.cwd),
      background: raw.background === true,
    },
  };
}
