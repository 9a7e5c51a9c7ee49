/** Who has a session open for writing: one process, told by its machine, its id, when it started, and a nonce. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { errnoOf } from "#base";

/** A lease of another machine counts as given up after this long without a sign of life. */
export const LEASE_MS = 60_000;

/** A name for this writer that no other writer has. */
export function createOwner(): string {
  return [hostname(), process.pid, startMark(process.pid) ?? "", randomBytes(8).toString("hex")].join(":");
}

/** On this machine an owner lives as long as its process; elsewhere as long as its lease. */
export function isAlive(owner: string, until: number, nowMs: number): boolean {
  const [host, pid, mark] = owner.split(":");
  if (host !== hostname()) return until > nowMs;
  if (existsSync("/proc/self/stat")) return mark !== "" && startMark(Number(pid)) === mark;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    return errnoOf(error) === "EPERM";
  }
}

/** When a process started, in ticks since boot: tells it from a later one with the same id. Undefined once it has ended. */
function startMark(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name stands in parentheses and may contain anything; the fields after it do not.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X" ? undefined : fields[18];
  } catch {
    return undefined; // no such process, or no /proc
  }
}
