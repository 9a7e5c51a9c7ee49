/**
 * One holder for a path, without help from the system: each contender puts down a file of its own and then looks for others. Of two
 * that come at once the later one sees the earlier, so that there are never two; those of processes that died do not count.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Clock, diskTrouble, ifThere } from "#base";
import { createOwner, isAlive, isOurs, LEASE_MS, processOf } from "./lease.ts";
import { makeFolder } from "./make-folder.ts";

/** Longest wait between two tries. Two that came at once step back together; different waits let one be first. */
const RETRY_MAX_MS = 25;
/** How long another process may keep a file to itself. */
const LOCK_WAIT_MS = 5_000;

export interface FileLock {
  /** A sign of life, for other machines. Throws when the lock is gone. */
  renew(nowMs: number): void;
  /** Throws when the lock is gone. */
  check(): void;
  release(): void;
}

export interface LockRival {
  readonly heldBy: string;
  /** It is no contender that may step back as well: to try again soon is no use. */
  readonly isSettled: boolean;
}

/** Tries once. The folder must be there; what is put down has the name of `path`, a dot and the owner. */
export function tryFileLock(path: string, clock: Pick<Clock, "now">): FileLock | LockRival {
  const nowMs = clock.now();
  // Empty, and all in its name: a full disk cannot leave half of it.
  const mine = `${path}.${encodeURIComponent(createOwner())}`;
  try {
    writeFileSync(mine, "", { mode: 0o600, flag: "wx" });
    utimesSync(mine, nowMs / 1000, nowMs / 1000);
    const [rival] = rivalsOf(path, mine, clock.now());
    if (rival !== undefined) {
      rmSync(mine, { force: true });
      return rival;
    }
  } catch (error) {
    rmSync(mine, { force: true });
    throw error;
  }
  return {
    check: () => void statSync(mine),
    renew: (now) => utimesSync(mine, now / 1000, now / 1000),
    release: () => rmSync(mine, { force: true }),
  };
}

/** A short wait of random length before the next try. */
export function retryWaitMs(): number {
  return 1 + ((randomBytes(1)[0] ?? 0) % RETRY_MAX_MS);
}

/** Runs `work` while no other process does the same for this file. Undefined when somebody keeps it to himself. */
export async function withFileLock<Result>(
  path: string,
  clock: Clock,
  work: () => Promise<Result> | Result,
): Promise<{ readonly result: Result } | undefined> {
  makeFolder(dirname(path), 0o700);
  const startedMs = clock.monotonicMs();
  for (;;) {
    const lock = tryFileLock(`${path}.lock`, clock);
    if ("release" in lock) {
      try {
        return { result: await work() };
      } finally {
        lock.release();
      }
    }
    if (clock.monotonicMs() - startedMs > LOCK_WAIT_MS) return undefined;
    await clock.sleep(retryWaitMs());
  }
}

/** The processes of this machine that hold the lock or are about to. None where there is no such folder. */
export function lockContenders(path: string): readonly { readonly pid: number; readonly mark: string }[] {
  const rivals = ifThere(() => rivalsOf(path, undefined, Date.now()));
  return (rivals ?? []).map(({ heldBy }) => processOf(heldBy));
}

function rivalsOf(path: string, mine: string | undefined, nowMs: number): readonly LockRival[] {
  const prefix = `${basename(path)}.`;
  return readdirSync(dirname(path)).flatMap((name) => {
    const file = join(dirname(path), name);
    if (!name.startsWith(prefix) || file === mine) return [];
    const renewedMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
    if (renewedMs === undefined) return [];
    const heldBy = ownerIn(name.slice(prefix.length));
    if (isAlive(heldBy, renewedMs + LEASE_MS, nowMs)) {
      return [{ heldBy, isSettled: isOurs(heldBy) || nowMs - renewedMs > RETRY_MAX_MS }];
    }
    forget(file);
    return [];
  });
}

/** No file of a dead owner comes back to life, because its name is its own: it counts for nobody where it cannot be removed. */
function forget(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch (error) {
    if (diskTrouble(error) === undefined) throw error;
  }
}

/** Of a file that no lock of ours made, its name. */
function ownerIn(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
