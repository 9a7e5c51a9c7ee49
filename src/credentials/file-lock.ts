/** The right to write a file, which one process has at a time. */
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Clock } from "#base";
import { makeFolder } from "#world";

const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
/** How long another process may keep the file to itself. */
const LOCK_WAIT_MS = 5_000;
const RETRY_MAX_MS = 25;
/** Whether a process of another machine still lives cannot be asked; writing takes far less. */
const FOREIGN_LOCK_MS = 60_000;

/**
 * Runs `work` while no other process does the same for this file. Each contender puts down a file of its own and then looks
 * for others, so that there are never two; those of processes that died do not count. Undefined when somebody keeps it.
 */
export async function withFileLock<Result>(
  path: string,
  clock: Clock,
  work: () => Promise<Result> | Result,
): Promise<{ readonly result: Result } | undefined> {
  const folder = dirname(path);
  makeFolder(folder, DIRECTORY_MODE);
  const prefix = `${basename(path)}.lock.`;
  const startedMs = clock.monotonicMs();
  for (;;) {
    const mine = `${prefix}${hostMark()}.${process.pid}.${randomBytes(6).toString("hex")}`;
    try {
      // Empty, and all in its name: a full disk cannot leave half of it.
      writeFileSync(join(folder, mine), "", { mode: FILE_MODE, flag: "wx" });
      if (!isHeldByOther(folder, prefix, mine)) return { result: await work() };
    } finally {
      rmSync(join(folder, mine), { force: true });
    }
    if (clock.monotonicMs() - startedMs > LOCK_WAIT_MS) return undefined;
    // Two that came at once step back together; different waits let one be first.
    await clock.sleep(1 + ((randomBytes(1)[0] ?? 0) % RETRY_MAX_MS));
  }
}

function isHeldByOther(folder: string, prefix: string, mine: string): boolean {
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && name !== mine)
    .some((name) => {
      const path = join(folder, name);
      const [host = "", pid = ""] = name.slice(prefix.length).split(".");
      if (isAlive(path, host, Number(pid))) return true;
      // No lock of a process that died comes back to life: its name is its own.
      rmSync(path, { force: true });
      return false;
    });
}

function isAlive(path: string, host: string, pid: number): boolean {
  try {
    // One of the future is one of a clock that was set back since: it must not last until then.
    if (host !== hostMark()) return Math.abs(Date.now() - statSync(path).mtimeMs) < FOREIGN_LOCK_MS;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ESRCH" || code === "ENOENT") return false;
    if (code === "EPERM") return true;
    throw error;
  }
}

function hostMark(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
}
