/** Who has a session open for writing: one process, told by its machine, its id, when it started, and a nonce. */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { isSameProcess, startMark } from "#world";

/** A lease of another machine counts as given up after this long without a sign of life. */
export const LEASE_MS = 60_000;
/** A renewal has to be synced with the events; this often is enough to stay within the lease. */
export const RENEW_MS = LEASE_MS / 4;

/** A name for this writer that no other writer has. */
export function createOwner(): string {
  return [hostname(), process.pid, startMark(process.pid) ?? "", randomBytes(8).toString("hex")].join(":");
}

/** On this machine an owner lives as long as its process; elsewhere as long as its lease. */
export function isAlive(owner: string, until: number, nowMs: number): boolean {
  const [host, pid, mark] = owner.split(":");
  if (host !== hostname()) return until > nowMs;
  return isSameProcess(Number(pid), mark ?? "");
}
