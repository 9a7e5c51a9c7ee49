/** Gathers output into few progress reports: one per interval or per block, and none beyond a total. */
import type { Clock } from "#base";

const INTERVAL_MS = 50;
const BLOCK_CHARS = 4 * 1024;
const MAX_TOTAL_CHARS = 256 * 1024;
/** For the end of the line in which the total is reached: a secret that is cut there would not be known for one. */
const LAST_LINE_CHARS = 2 * 1024;

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
  let isOver = false;
  const flush = () => {
    if (pending === "") return;
    const text = pending;
    pending = "";
    reportedChars += text.length;
    report(text);
  };
  return {
    add(text) {
      if (closed.signal.aborted || isOver) return;
      pending += text;
      const tooMany = reportedChars + pending.length - MAX_TOTAL_CHARS;
      const end = tooMany > 0 ? pending.indexOf("\n", Math.max(0, pending.length - tooMany - 1)) : -1;
      if (end >= 0 || tooMany > LAST_LINE_CHARS) {
        isOver = true;
        pending = `${end >= 0 ? pending.slice(0, end) : pending}\n[more output follows; the rest is not shown live]\n`;
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
