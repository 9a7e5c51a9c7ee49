/** Tells a process from a later one that got the same id. Looks only; whoever sends signals compares here first. */
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { errnoOf } from "#base";

/** When a process started, in ticks since boot. Undefined once it has ended, and where the system does not tell. */
export function startMark(pid: number): string | undefined {
  const fields = statFields(pid);
  return fields === undefined || isOver(fields[0]) ? undefined : fields[19];
}

/** Whether it was stopped (SIGSTOP, a debugger): it is there and does nothing. False where the system does not tell. */
export function isStopped(pid: number): boolean {
  return /^[Tt]$/.test(statFields(pid)?.[0] ?? "");
}

/** Whether the process that had this mark still runs. An empty mark, from a system that tells none: whether any has the id. */
export function isSameProcess(pid: number, mark: string): boolean {
  if (existsSync("/proc/self/stat")) return mark !== "" && startMark(pid) === mark;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    return errnoOf(error) === "EPERM";
  }
}

/** Which start of the machine this is; empty where the system does not tell. */
export function bootMark(): string {
  return read("/proc/sys/kernel/random/boot_id").trim();
}

/** Within what ids of processes mean anything: this boot of this machine, and its namespace of processes. */
export function processPlace(): string {
  const facts = [hostname(), read("/proc/sys/kernel/random/boot_id"), namespace()];
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(facts.join("\n")).digest("hex").slice(0, 12);
}

/** State, then the numbers after it. */
function statFields(pid: number): string[] | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The name stands in parentheses and may contain anything; the fields after it do not.
  return stat === "" ? undefined : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function isOver(state: string | undefined): boolean {
  return state === "Z" || state === "X";
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // no such process, or no /proc
  }
}

function namespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return ""; // not on this system
  }
}
