/** What a monitor (bubblewrap) tells about the process that it watches, as lines of JSON on descriptor 3. */
import { readFileSync } from "node:fs";
import type { Stream } from "node:stream";

const MAX_STATUS_CHARS = 4096;

export interface MonitorStatus {
  /** Undefined as long as the watched program has not ended, or when it never began. */
  exitCode(): number | undefined;
  /** Whether the first process of the namespace still runs; with it all others end. */
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
      try {
        // At once: it is asked in the moment in which the process ends, and a thread would take longer than that.
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
        return !/^ [ZX]/.test(stat.slice(stat.lastIndexOf(")") + 1));
      } catch {
        return false;
      }
    },
  };
}
