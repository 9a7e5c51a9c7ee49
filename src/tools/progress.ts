/** Gathers output into few progress reports: one per interval or per block, and none beyond a total. */
import type { Clock } from "#base";

const INTERVAL_MS = 50;
const BLOCK_CHARS = 4 * 1024;
const MAX_TOTAL_CHARS = 256 * 1024;

export interface ProgressGatherer {
  add(text: string): void;
  /** Reports what is left. Nothing is reported afterwards. */
  close(): void;
}

export function createProgressGatherer(report: (text: string) => void, clock: Pick<Clock, "sleep">): ProgressGatherer {
  const closed = new AbortController();
  let pending = "";
  let reportedChars = 0;
  let waiting = false;
  const flush = () => {
    if (pending === "") return;
    const text = pending;
    pending = "";
    reportedChars += text.length;
    report(text);
  };
  return {
    add(text) {
      if (closed.signal.aborted || reportedChars > MAX_TOTAL_CHARS) return;
      pending += text;
      if (reportedChars + pending.length > MAX_TOTAL_CHARS) {
        pending += "\n[more output follows; the rest is not shown live]\n";
        return flush();
      }
      if (pending.length >= BLOCK_CHARS) return flush();
      if (waiting) return;
      waiting = true;
      void clock.sleep(INTERVAL_MS, closed.signal).then(() => {
        waiting = false;
        flush();
      });
    },
    close() {
      flush();
      closed.abort();
    },
  };
}
