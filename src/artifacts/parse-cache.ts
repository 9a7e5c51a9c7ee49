/**
 * What was found in files, kept on disk by what the files contain, so that the next process need not parse them again. Only
 * speed: what is damaged, foreign or of another version counts as absent. Files may hold secrets, so it is sealed with a key of the
 * machine, which also proves that this program wrote it. The admin policy is never in it.
 */
import { hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { diskTrouble, diskTroubleText, openBox, programCaches, sealBox, textBytes } from "#base";
import { makePrivateDirectory, writePrivateFile } from "#world";
import type { FileRecord } from "./parse-file.ts";

/** To be raised whenever a table, a check or a record changes. */
export const CACHE_SCHEMA = 14;
/** A project whose records take more is parsed anew each time. */
const MAX_CACHE_BYTES = 32 * 1024 * 1024;

export interface ParseCache {
  get(key: string): FileRecord | undefined;
  /** Replaces everything that was kept. */
  keep(records: ReadonlyMap<string, FileRecord>): void;
}

export interface CachePlace {
  readonly folder: string;
  /** Of 32 bytes. It may throw, and then nothing is read or kept. */
  readonly key: () => Uint8Array;
  /** A sentence for a person, once: nothing can be kept. */
  readonly onProblem?: (message: string) => void;
}

/** `checker`: the version of the checks whose findings are in the records. */
export function openParseCache({ folder, key, onProblem }: CachePlace, root: string, checker: string): ParseCache {
  const path = join(folder, `artifacts-${hash("sha256", root, "hex").slice(0, 32)}.box`);
  const label = `parse cache ${CACHE_SCHEMA} ${checker}`;
  const kept = programCaches.open<FileRecord>("parsed files");
  readKept(path, label, key, (name, record, bytes) => kept.set(name, record, bytes));
  let isTold = false;
  return {
    get: (name) => kept.get(name),
    keep(records) {
      const body = JSON.stringify(Object.fromEntries(records));
      if (body.length > MAX_CACHE_BYTES) return;
      // A folder that cannot be written costs time at the next start and nothing else.
      const problem = attempt(() => {
        makePrivateDirectory(folder);
        writePrivateFile(path, sealBox(key(), body, label), { durable: false });
      });
      if (problem === undefined) return;
      const trouble = diskTrouble(problem);
      if (trouble === undefined || isTold) return;
      isTold = true;
      onProblem?.(`Nothing is lost, but the next start is slower: ${diskTroubleText(trouble, folder)}.`);
    },
  };
}

function readKept(
  path: string,
  label: string,
  key: () => Uint8Array,
  each: (name: string, record: FileRecord, bytes: number) => void,
): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    const info = fstatSync(descriptor);
    const isOurs = process.getuid === undefined || (info.uid === process.getuid() && (info.mode & 0o077) === 0);
    if (!info.isFile() || info.size > MAX_CACHE_BYTES || !isOurs) return;
    const body = openBox(key(), readFileSync(descriptor), label)?.toString("utf8");
    if (body === undefined) return;
    // It opens: so it is what `keep` wrote for this schema.
    const records = Object.entries(JSON.parse(body) as Readonly<Record<string, FileRecord>>);
    // To weigh each would take as long as to parse it again.
    for (const [name, record] of records) each(name, record, textBytes(body) / records.length);
  } catch {
    // Not there, or damaged: the files are parsed instead.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** What was thrown, if anything. */
function attempt(work: () => void): Error | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
