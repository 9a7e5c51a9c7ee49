/** What a stat says about a file or folder, reduced to what shows a change. */
import { type BigIntStats, statSync } from "node:fs";

/** Undefined: it is not there, or cannot be looked at. `ctime` is in it because nobody can set it back. */
export interface Stamp {
  readonly key: string;
  /** Changed so short before it was looked at that a further change may have left the same stamp. */
  readonly unsettled: boolean;
}

/** Clocks of file systems tick as slowly as this. */
const TICK_MS = 50;

export function stampOf(path: string): Stamp | undefined {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats && toStamp(stats);
  } catch {
    return undefined; // a part of the way is no folder or is closed: reading it says so
  }
}

export function toStamp({ dev, ino, size, mtimeNs, ctimeNs, mode, uid }: BigIntStats): Stamp {
  const unsettled = Number(ctimeNs / 1_000_000n) > Date.now() - TICK_MS;
  return { key: `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs} ${mode} ${uid}`, unsettled };
}
