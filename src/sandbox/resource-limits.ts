/** How much one command may take of the machine, as limits that the kernel keeps for each process. */
import { readFileSync } from "node:fs";

export interface ResourceLimits {
  /** Processes and threads of the sandbox; the kernel does not hold root to it, a control group does. */
  readonly processes: number;
  readonly fileBytes: number;
  readonly openFiles: number;
  /** Writable memory of one process. Not its address space: language runtimes reserve far more than they use. */
  readonly memoryBytes?: number;
}

/** Of a command that somebody allowed. None on its memory: sanitizers and race detectors reserve terabytes as writable and use little. */
export const WORKSPACE_LIMITS: ResourceLimits = {
  processes: 4096,
  fileBytes: 8 * 1024 ** 3,
  openFiles: 16_384,
};

/** Of a command that nobody was asked about. */
export const READER_LIMITS: ResourceLimits = {
  processes: 256,
  fileBytes: 64 * 1024 ** 2,
  openFiles: 1024,
  memoryBytes: 1024 ** 3,
};

/** For `prlimit`; soft and hard alike, so that a program cannot raise them again. */
export function limitArguments({ processes, fileBytes, openFiles, memoryBytes }: ResourceLimits): string[] {
  const data = memoryBytes === undefined ? [] : [`--data=${memoryBytes}`];
  return [`--nproc=${processes}`, `--fsize=${fileBytes}`, `--nofile=${openFiles}`, ...data, "--core=0"];
}

/** The same as a builtin of Bash, which counts in KiB. On the same line as what follows, so that line numbers stay. */
export function limitBuiltin({ processes, fileBytes, openFiles, memoryBytes }: ResourceLimits): string {
  const kib = (bytes: number): number => Math.floor(bytes / 1024);
  const data = memoryBytes === undefined ? "" : ` -d ${kib(memoryBytes)}`;
  return `ulimit -u ${processes} -f ${kib(fileBytes)} -n ${openFiles}${data} -c 0 || exit 126`;
}

/** The limits, but none above what this process has itself: nobody may raise those. */
export function withinOwnLimits(limits: ResourceLimits): ResourceLimits {
  const own = ownHardLimits();
  const least = (wanted: number, name: string): number => Math.min(wanted, own.get(name) ?? wanted);
  return {
    processes: least(limits.processes, "Max processes"),
    fileBytes: least(limits.fileBytes, "Max file size"),
    openFiles: least(limits.openFiles, "Max open files"),
    ...(limits.memoryBytes !== undefined && { memoryBytes: least(limits.memoryBytes, "Max data size") }),
  };
}

function ownHardLimits(): Map<string, number> {
  const rows = readFileSync("/proc/self/limits", "utf8").matchAll(/^(Max [a-z ]+?) +\S+ +(\d+) /gm);
  return new Map([...rows].map(([, name, hard]) => [name ?? "", Number(hard)]));
}
