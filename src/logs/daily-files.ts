/**
 * Lines in one file for each day (UTC), which only their owner can read: `harness-YYYYMMDD.log`. A file that has grown too large is
 * put aside as `….1.log`, which replaces the one put aside before; files of days long gone are deleted. Several processes may
 * write at once: a line is one append.
 */
import { appendFileSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "#base";
import { makePrivateDirectory } from "#world";

const FILE_NAME = /^harness-(\d{8})(?:\.1)?\.log$/;
const DAY_MS = 24 * 60 * 60 * 1000;
const MIB = 1024 * 1024;
export const DEFAULT_KEEP_DAYS = 14;
export const DEFAULT_MAX_MB = 32;

export interface DailyFilesOptions {
  readonly folder: string;
  readonly clock: Pick<Clock, "now">;
  /** Days whose files stay, today included; default 14. */
  readonly keepDays?: number;
  /** Of one file; default 32. A day has two at most. */
  readonly maxMb?: number;
}

export interface DailyFiles {
  /** Throws when the disk does not take it. */
  write(line: string): void;
  /** Where lines of now go. */
  path(): string;
}

export function createDailyFiles({
  folder,
  clock,
  keepDays = DEFAULT_KEEP_DAYS,
  maxMb = DEFAULT_MAX_MB,
}: DailyFilesOptions): DailyFiles {
  const maxBytes = maxMb * MIB;
  let day = "";
  let sizeBytes = 0;
  /** A disk that filled up took a part of a line: the next one begins on a line of its own. */
  let isTorn = false;

  const path = (): string => join(folder, `harness-${dayOf(clock.now())}.log`);

  return {
    path,
    write(line) {
      const today = dayOf(clock.now());
      if (today !== day) {
        makePrivateDirectory(folder);
        deleteOld(folder, dayOf(clock.now() - (keepDays - 1) * DAY_MS));
        sizeBytes = statSync(path(), { throwIfNoEntry: false })?.size ?? 0;
        day = today;
      }
      const bytes = Buffer.byteLength(line);
      if (sizeBytes + bytes > maxBytes && sizeBytes > 0) {
        // Another process may have put it aside already.
        sizeBytes = statSync(path(), { throwIfNoEntry: false })?.size ?? 0;
        if (sizeBytes + bytes > maxBytes && sizeBytes > 0) {
          renameSync(path(), join(folder, `harness-${today}.1.log`));
          sizeBytes = 0;
        }
      }
      try {
        appendFileSync(path(), isTorn ? `\n${line}` : line, { mode: 0o600 });
      } catch (error) {
        isTorn = true;
        throw error;
      }
      isTorn = false;
      sizeBytes += bytes;
    },
  };
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10).replaceAll("-", "");
}

/** A clock that went ahead and came back leaves files of the future: they stay until their day is past. */
function deleteOld(folder: string, oldest: string): void {
  for (const name of readdirSync(folder)) {
    const day = FILE_NAME.exec(name)?.[1];
    if (day !== undefined && day < oldest) rmSync(join(folder, name), { force: true });
  }
}
