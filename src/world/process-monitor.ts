/**
 * What a monitor (bubblewrap) tells about the process that it watches, as lines of JSON on descriptor 3. That is a file without a
 * name and not a pipe: a monitor that writes to a pipe of a program that was killed would die of it, and leave what it watches.
 */
import { closeSync, constants, openSync, readFileSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EffectError, messageOf } from "#base";

const MAX_STATUS_BYTES = 4096;

export interface MonitorStatus {
  /** For the monitor to write to. */
  readonly descriptor: number;
  /** Undefined as long as the watched program has not ended, or when it never began. */
  exitCode(): number | undefined;
  /** Whether anybody of the namespace still runs: all others end with its first process. */
  isRunning(): boolean;
  /**
   * Whether the first process of the namespace is a child of `monitor` and does nothing but wait. Asked when the command is there, so
   * what it waits for is the end of that, and before that it has asked to end with its parent.
   */
  isBoundTo(monitor: number): boolean;
  /** That first process; undefined before it is there. */
  first(): number | undefined;
  /** The one child of that first process: whoever waits at the gate. Undefined when there is none, or more than one. */
  waiting(): number | undefined;
  close(): void;
}

/** `mark` is a name that nobody else has. */
export function openMonitorStatus(mark: string): MonitorStatus {
  const descriptor = openWithoutName(mark);
  const field = (name: string): number | undefined => {
    const bytes = Buffer.alloc(MAX_STATUS_BYTES);
    const text = bytes.toString("latin1", 0, readSync(descriptor, bytes, 0, MAX_STATUS_BYTES, 0));
    const value = new RegExp(`"${name}": *(\\d+)`).exec(text)?.[1];
    return value === undefined ? undefined : Number(value);
  };
  return {
    descriptor,
    exitCode: () => field("exit-code"),
    isRunning() {
      const pid = field("child-pid");
      if (pid === undefined) return false;
      // The first process has nobody left to wait for, so nobody is there who could still do anything.
      if (childrenOf(pid)?.trim() === "") return false;
      const found = stateOf(pid);
      return found !== undefined && found.state !== "Z" && found.state !== "X";
    },
    isBoundTo(monitor) {
      const pid = field("child-pid");
      const found = pid === undefined ? undefined : stateOf(pid);
      return found?.state === "S" && found.parent === monitor;
    },
    first: () => field("child-pid"),
    waiting() {
      const pid = field("child-pid");
      const children = pid === undefined ? [] : (childrenOf(pid)?.trim().split(" ") ?? []);
      return children.length === 1 && children[0] !== "" ? Number(children[0]) : undefined;
    },
    close: () => closeSync(descriptor),
  };
}

/** A file with these bytes and without a name, to be read from its start. `mark` is a name that nobody else has. */
export function openInput(mark: string, content: Uint8Array): number {
  const descriptor = openWithoutName(mark);
  // At a position, so that whoever inherits the descriptor begins to read at the start.
  let written = 0;
  while (written < content.length) {
    written += writeSync(descriptor, content, written, content.length - written, written);
  }
  return descriptor;
}

function openWithoutName(mark: string): number {
  const path = join(tmpdir(), `harness-status-${mark}`);
  try {
    const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    unlinkSync(path);
    return descriptor;
  } catch (error) {
    const detail = `no file could be made for the state of the sandbox: ${messageOf(error)}`;
    throw new EffectError("SpawnFailed", `${detail}; the command did not run`, { cause: error });
  }
}

function childrenOf(pid: number): string | undefined {
  return readProc(`${pid}/task/${pid}/children`);
}

function stateOf(pid: number): { readonly state: string; readonly parent: number } | undefined {
  const stat = readProc(`${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command name may hold anything, also parentheses; the fixed fields follow the last one.
  const [state = "", parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state, parent: Number(parent) };
}

/** All at once: it is asked in the moment in which they end, and a thread would take longer than that. */
function readProc(path: string): string | undefined {
  try {
    return readFileSync(`/proc/${path}`, "latin1");
  } catch {
    // The process is gone.
    return undefined;
  }
}
