/**
 * Holds root to a number of processes: the kernel counts them for everybody else. Uses a control group of the second kind, or of the first
 * where that has the counter. Where neither can be written there is none, and the limit does not hold for root.
 */
import { randomUUID } from "node:crypto";
import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PARENTS = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"];
/** A group is busy until the kernel has taken away its last process. */
const REMOVE_TRIES = 20;

export interface ControlGroup {
  /** From here on the process and all that it starts count. */
  add(pid: number): void;
  remove(): void;
}

/** Undefined for whoever is not root, and where no group can be made. */
export function createControlGroup(maxProcesses: number): ControlGroup | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  const name = `harness-${randomUUID()}`;
  for (const parent of PARENTS) {
    const path = join(parent, name);
    if (!countsProcesses(parent)) continue;
    try {
      mkdirSync(path);
      writeFileSync(join(path, "pids.max"), String(maxProcesses));
    } catch {
      // Closed to us, as in most containers: the next kind, or none.
      removeGroup(path);
      continue;
    }
    return {
      add: (pid) => writeFileSync(join(path, "cgroup.procs"), String(pid)),
      remove: () => removeGroup(path),
    };
  }
  return undefined;
}

function countsProcesses(parent: string): boolean {
  try {
    accessSync(parent, constants.W_OK);
    if (parent.endsWith("/pids")) return true;
    return readFileSync(join(parent, "cgroup.subtree_control"), "latin1").split(/\s+/).includes("pids");
  } catch {
    return false;
  }
}

function removeGroup(path: string): void {
  for (let tries = 0; tries < REMOVE_TRIES; tries++) {
    try {
      rmdirSync(path);
      return;
    } catch (error) {
      // Gone already, or never made. A group that stays busy is empty and costs nothing.
      if ((error as NodeJS.ErrnoException).code !== "EBUSY") return;
    }
  }
}
