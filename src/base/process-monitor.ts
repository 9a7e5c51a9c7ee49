/** What a monitor (bubblewrap) tells about the process that it watches, as lines of JSON on descriptor 3. */
import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";

const MAX_STATUS_CHARS = 4096;

export interface MonitorStatus {
  /** Undefined as long as the watched program has not ended, or when it never began. */
  exitCode(): number | undefined;
  /** Whether the first process of the namespace still runs; with it all others end. */
  isRunning(): Promise<boolean>;
}

export function readMonitorStatus(child: ChildProcess): MonitorStatus {
  let text = "";
  child.stdio[3]?.on("data", (chunk: Buffer) => {
    if (text.length < MAX_STATUS_CHARS) text += chunk.toString("latin1");
  });
  const field = (name: string): number | undefined => {
    const value = new RegExp(`"${name}": *(\\d+)`).exec(text)?.[1];
    return value === undefined ? undefined : Number(value);
  };
  return {
    exitCode: () => field("exit-code"),
    async isRunning() {
      const pid = field("child-pid");
      if (pid === undefined) return false;
      try {
        const stat = await readFile(`/proc/${pid}/stat`, "latin1");
        return !/^ [ZX]/.test(stat.slice(stat.lastIndexOf(")") + 1));
      } catch {
        return false;
      }
    },
  };
}
