/** Who holds something that one process may hold: told by its machine, its id, when it started, and a nonce. */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { isSameProcess, startMark } from "./process-mark.ts";

/** A lease of another machine counts as given up after this long without a sign of life. */
export const LEASE_MS = 60_000;

/** A name for this holder that no other holder has. */
export function createOwner(): string {
  return [hostname(), process.pid, startMark(process.pid) ?? "", randomBytes(8).toString("hex")].join(":");
}

/** On this machine an owner lives as long as its process; elsewhere as long as its lease. */
export function isAlive(owner: string, until: number, nowMs: number): boolean {
  if (!owner.startsWith(`${hostname()}:`)) return until > nowMs;
  const { pid, mark } = processOf(owner);
  return isSameProcess(pid, mark);
}

/** The process of an owner, which means something on its machine alone. */
export function processOf(owner: string): { readonly pid: number; readonly mark: string } {
  const [, pid, mark = ""] = owner.split(":");
  return { pid: Number(pid), mark };
}

/** Whether this process made the owner. */
export function isOurs(owner: string): boolean {
  return owner.startsWith(`${hostname()}:${process.pid}:`);
}
