/** What a server prints, line by line in the operation log: cut, made visible, and only so many lines a minute. */
import { type Clock, visibleLine } from "#base";
import { createLineSplitter } from "#wire";
import type { McpLog } from "./mcp-world.ts";

const MAX_LINE_CHARS = 1_000;
/** Longer lines of standard error are skipped; nobody reads them. */
const MAX_LINE_BYTES = 64 * 1024;
const MAX_LINES_PER_MINUTE = 120;
const MINUTE_MS = 60_000;

export interface ServerLog {
  /** One line about what the server does. */
  line(level: "debug" | "warn", text: string): void;
  stderr(chunk: Buffer): void;
}

export function createServerLog(name: string, log: McpLog, clock: Clock): ServerLog {
  const splitter = createLineSplitter(MAX_LINE_BYTES);
  const decoder = new TextDecoder();
  let minuteStartedMs = Number.NEGATIVE_INFINITY;
  let lines = 0;

  function line(level: "debug" | "warn", text: string): void {
    const nowMs = clock.monotonicMs();
    if (nowMs - minuteStartedMs >= MINUTE_MS) {
      minuteStartedMs = nowMs;
      lines = 0;
    }
    lines += 1;
    if (lines > MAX_LINES_PER_MINUTE) return;
    const isLast = lines === MAX_LINES_PER_MINUTE;
    const rest = isLast ? " (further lines of this minute are left out)" : "";
    log(level, `${name}: ${visibleLine(text.slice(0, MAX_LINE_CHARS))}${rest}`);
  }

  return {
    line,
    stderr(chunk) {
      for (const printed of splitter.push(chunk)) {
        line("debug", "tooLong" in printed ? "[a line that is too long]" : decoder.decode(printed.bytes));
      }
    },
  };
}
