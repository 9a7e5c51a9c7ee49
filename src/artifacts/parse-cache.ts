/**
 * What was found in files, kept on disk by what the files contain, so that the next process need not parse them again. Only
 * speed: what is damaged, foreign or of another version counts as absent. The admin policy is never in it.
 */
import { hash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { FileRecord } from "./parse-file.ts";

/** To be raised whenever a table, a check or a record changes. */
export const CACHE_SCHEMA = 2;
/** A project whose records take more is parsed anew each time. */
const MAX_CACHE_BYTES = 32 * 1024 * 1024;

export interface ParseCache {
  get(key: string): FileRecord | undefined;
  /** Replaces everything that was kept. */
  keep(records: ReadonlyMap<string, FileRecord>): void;
}

/**
 * `checker`: the version of the checks whose findings are in the records. `seal`: what proves that this program wrote them; it may
 * throw, and then nothing is read or kept.
 */
export function openParseCache(
  folder: string,
  root: string,
  checker: string,
  seal: (text: string) => string = (text) => hash("sha256", text, "hex"),
): ParseCache {
  const path = join(folder, `artifacts-${hash("sha256", root, "hex").slice(0, 32)}.json`);
  const head = `${CACHE_SCHEMA} ${checker.replaceAll("\n", " ")}`;
  const kept = readKept(path, head, seal);
  return {
    get: (key) => (Object.hasOwn(kept, key) ? kept[key] : undefined),
    keep(records) {
      const body = JSON.stringify(Object.fromEntries(records));
      if (body.length > MAX_CACHE_BYTES) return;
      const temporary = `${path}.${process.pid}.tmp`;
      // A folder that cannot be written costs time at the next start and nothing else.
      const isWritten = attempt(() => {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(temporary, `${seal(head + body)}\n${head}\n${body}`, { mode: 0o600 });
        renameSync(temporary, path);
      });
      if (!isWritten) attempt(() => rmSync(temporary, { force: true }));
    },
  };
}

function readKept(path: string, head: string, seal: (text: string) => string): Readonly<Record<string, FileRecord>> {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    const info = fstatSync(descriptor);
    const isOurs = process.getuid === undefined || (info.uid === process.getuid() && (info.mode & 0o077) === 0);
    if (!info.isFile() || info.size > MAX_CACHE_BYTES || !isOurs) return {};
    const text = readFileSync(descriptor, "utf8");
    const [sum = "", written = ""] = text.split("\n", 2);
    const body = text.slice(sum.length + written.length + 2);
    if (written !== head || seal(head + body) !== sum) return {};
    // The sum shows that it is what `keep` wrote for this schema.
    return JSON.parse(body) as Readonly<Record<string, FileRecord>>;
  } catch {
    return {}; // not there, or damaged: the files are parsed instead
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
