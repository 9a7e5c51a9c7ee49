/**
 * Who is the daemon: one process for each data folder. Each that wants to be puts down a file of its own, named after the process,
 * and looks for others; so there are never two, and what a killed one left behind is known by its name. The file of the one that
 * is it says where it listens. Sends no signals and opens no connection.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Clock, diskTrouble, isRecord } from "#base";
import {
  isSameProcess,
  makePrivateDirectory,
  processPlace,
  readOwnedFile,
  removePrivateFile,
  startMark,
  writePrivateFile,
} from "#world";

/** How long those that came at the same moment step back and try again. */
const CLAIM_WAIT_MS = 3_000;
const STEP_BACK_MAX_MS = 25;
const CLAIM_MAX_BYTES = 256 * 1024;
/** Whether a process of another machine or container lives cannot be asked; after this long its file goes. */
const FOREIGN_CLAIM_MS = 7 * 24 * 60 * 60 * 1000;
/** Files that are looked at; there are a handful. */
const MAX_CLAIMS = 1_000;

/** What a daemon tells of itself. */
export interface DaemonFacts {
  readonly version: string;
  readonly commit: string;
  /** Empty for one that did not say. */
  readonly builtAt: string;
  readonly startedAt: string;
  /** The same, as the uptime of the machine. */
  readonly startedUpMs?: number;
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
  /** It takes nothing new and will be gone soon. */
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
  const path = join(folder, ownName());
  const write = (state: DaemonClaim["state"], told?: DaemonFacts): void =>
    writePrivateFile(path, `${JSON.stringify({ state, ...told })}\n`, { durable: false });
  const startedMs = clock.monotonicMs();
  for (;;) {
    write("claiming");
    const others = liveClaims(folder, path);
    const [first] = others;
    if (first === undefined) {
      write("starting", facts);
      let told = facts;
      return {
        held: {
          ready(now) {
            told = now;
            write("ready", now);
          },
          // On a disk that takes nothing, whoever looks sees a daemon that refuses new work; it ends all the same.
          ending: () => attempt(() => write("ending", told)),
          release: () => attempt(() => removePrivateFile(path)),
        },
      };
    }
    removePrivateFile(path);
    const holder = others.find(({ state }) => state !== "claiming");
    if (holder !== undefined || clock.monotonicMs() - startedMs > CLAIM_WAIT_MS) return { by: holder ?? first };
    // Two that came at once step back together; different waits let one be first.
    await clock.sleep(1 + ((randomBytes(1)[0] ?? 0) % STEP_BACK_MAX_MS));
  }
}

/** The daemon, or whoever is about to be it; those of processes that have ended are cleared away. */
export function findClaim(folder: string): DaemonClaim | undefined {
  const claims = liveClaims(folder);
  return claims.find(({ state }) => state !== "claiming") ?? claims[0];
}

function liveClaims(folder: string, except?: string): DaemonClaim[] {
  const here = processPlace();
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name);
    const [place, pid = "", mark = ""] = name.split(".");
    if (path === except) return [];
    if (place !== here) {
      forgetForeign(path);
      return [];
    }
    // What does not end so is about to be renamed.
    if (isSameProcess(Number(pid), mark))
      return !name.endsWith(".json") ? [] : [{ pid: Number(pid), mark, ...contentOf(path) }];
    // No process comes back to life: its name is its own, and counts for nobody where it cannot be removed.
    attempt(() => removePrivateFile(path));
    return [];
  });
}

function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (diskTrouble(error) === undefined) throw error;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).slice(0, MAX_CLAIMS);
  } catch {
    return []; // no daemon has been here
  }
}

function forgetForeign(path: string): void {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info !== undefined && Date.now() - info.mtimeMs > FOREIGN_CLAIM_MS) removePrivateFile(path);
}

/** A file that cannot be read says no more than its name. */
function contentOf(path: string): Pick<DaemonClaim, "state" | "facts"> {
  let raw: unknown;
  try {
    raw = JSON.parse(readOwnedFile(path, CLAIM_MAX_BYTES)?.toString("utf8") ?? "");
  } catch {
    return { state: "claiming" };
  }
  if (!isRecord(raw)) return { state: "claiming" };
  const state = (["starting", "ready", "ending"] as const).find((known) => known === raw.state);
  if (state === undefined) return { state: "claiming" };
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(text) : []);
  return {
    state,
    facts: {
      version: text(raw.version),
      commit: text(raw.commit),
      builtAt: text(raw.builtAt),
      startedAt: text(raw.startedAt),
      ...(typeof raw.startedUpMs === "number" ? { startedUpMs: raw.startedUpMs } : {}),
      addresses: texts(raw.addresses),
      tokenFile: text(raw.tokenFile),
      args: texts(raw.args),
      cwd: text(raw.cwd),
      background: raw.background === true,
    },
  };
}

function ownName(): string {
  const mark = startMark(process.pid) ?? "";
  return `${processPlace()}.${process.pid}.${mark}.${randomBytes(6).toString("hex")}.json`;
}
