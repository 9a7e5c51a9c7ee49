/**
 * One writer for a folder, without help from the system: each contender puts down a file of its own and then looks for
 * others. Of two that come at once, the later one sees the earlier, so that there are never two holders.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { errnoOf } from "#base";
import { createOwner, isAlive, LEASE_MS } from "../lease.ts";

const PREFIX = "lock.";
const FILE_MODE = 0o600;
/** Two that come at once may both see each other and step back; they try again after different waits. */
const ATTEMPTS = 6;
const RETRY_MAX_MS = 10;

export interface FolderLock {
  /** Throws when the lock is gone. */
  check(): void;
  /** A sign of life for other machines. Throws when the lock is gone. */
  renew(nowMs: number): void;
  release(): void;
}

/** The lock, or the owner who has it. */
export function lockFolder(folder: string, clock: { now(): number }): FolderLock | { readonly heldBy: string } {
  for (let attempt = 1; ; attempt++) {
    const nowMs = clock.now();
    const mine = putDown(folder, nowMs);
    const other = otherHolder(folder, mine, clock.now());
    if (other === undefined) return holder(join(folder, mine));
    rmSync(join(folder, mine), { force: true });
    if (other.settled || attempt === ATTEMPTS) return { heldBy: other.owner };
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + ((randomBytes(1)[0] ?? 0) % RETRY_MAX_MS));
  }
}

function putDown(folder: string, nowMs: number): string {
  const nonce = randomBytes(8).toString("hex");
  const draft = join(folder, `draft.${nonce}`);
  const name = `${PREFIX}${nonce}`;
  // Renamed into place, so that nobody reads it half written.
  try {
    writeFileSync(draft, createOwner(), { mode: FILE_MODE, flag: "wx" });
    utimesSync(draft, nowMs / 1000, nowMs / 1000);
    renameSync(draft, join(folder, name));
    return name;
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function otherHolder(
  folder: string,
  mine: string,
  nowMs: number,
): { readonly owner: string; readonly settled: boolean } | undefined {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(PREFIX) || name === mine) continue;
    const path = join(folder, name);
    let owner: string;
    let renewedMs: number;
    try {
      owner = readFileSync(path, "utf8");
      renewedMs = statSync(path).mtimeMs;
    } catch (error) {
      if (errnoOf(error) === "ENOENT") continue;
      throw error;
    }
    if (isAlive(owner, renewedMs + LEASE_MS, nowMs)) {
      const ours = owner.startsWith(`${hostname()}:${process.pid}:`);
      return { owner, settled: ours || nowMs - renewedMs > RETRY_MAX_MS };
    }
    // No file of a dead owner comes back to life: its name is its own.
    rmSync(path, { force: true });
  }
  return undefined;
}

function holder(path: string): FolderLock {
  return {
    check: () => void statSync(path),
    renew: (nowMs) => utimesSync(path, nowMs / 1000, nowMs / 1000),
    release: () => rmSync(path, { force: true }),
  };
}
