/** What a monitor (bubblewrap) tells about the process that it watches, as lines of JSON on descriptor 3. */
import { readFileSync } from "node:fs";
import type { Stream } from "node:stream";

const MAX_STATUS_CHARS = 4096;

export interface MonitorStatus {
  /** Undefined as long as the watched program has not ended, or when it never began. */
  exitCode(): number | undefined;
  /** Whether anybody of the namespace still runs: all others end with its first process. */
  isRunning(): boolean;
}

/** `status` is this end of the descriptor. */
export function readMonitorStatus(status: Stream | null | undefined): MonitorStatus {
  let text = "";
  status?.on("data", (chunk: Buffer) => {
    if (text.length < MAX_STATUS_CHARS) text += chunk.toString("latin1");
  });
  const field = (name: string): number | undefined => {
    const value = new RegExp(`"${name}": *(\\d+)`).exec(text)?.[1];
    return value === undefined ? undefined : Number(value);
  };
  return {
    exitCode: () => field("exit-code"),
    isRunning() {
      const pid = field("child-pid");
      if (pid === undefined) return false;
      // All at once: it is asked in the moment in which they end, and a thread would take longer than that.
      const children = readProc(`${pid}/task/${pid}/children`);
      // The first process has nobody left to wait for, so nobody is there who could still do anything.
      if (children?.trim() === "") return false;
      const stat = readProc(`${pid}/stat`);
      return stat !== undefined && !/^ [ZX]/.test(stat.slice(stat.lastIndexOf(")") + 1));
    },
  };
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(`/proc/${path}`, "latin1");
  } catch {
    // The process is gone.
    return undefined;
  }
}
