/**
 * Contents of files by name, sealed, one file each in `objects/`. The same content is kept once. It knows nothing of paths;
 * what is still needed is said by the caller of `collect`.
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { BOX_EXTRA_BYTES } from "#base";
import { makePrivateDirectory, readPrivateFile, writePrivateFile } from "#world";
import type { Seal } from "./seal.ts";

/** An object this young may belong to a call of another process that has not recorded it yet. */
const COLLECT_MIN_AGE_MS = 10 * 60 * 1000;
/** What a file of any size costs on top, so that many empty ones count as well. */
const OBJECT_OVERHEAD_BYTES = BOX_EXTRA_BYTES + 100;

export interface ContentStore {
  /** Keeps the content and returns its name. Throws what the file system throws. */
  put(content: Uint8Array): string;
  /** Undefined when it is not there or does not open. */
  get(name: string): Buffer | undefined;
  has(name: string): boolean;
  /** All that is kept. */
  sizeBytes(): number;
  /** Of all that is kept. */
  names(): readonly string[];
  /** Removes what is not in `live`, by default unless another process has just put it; returns how many. */
  collect(live: ReadonlySet<string>, options?: { readonly sparesYoung: boolean }): number;
}

export function createContentStore(directory: string, seal: Seal, nowMs: () => number): ContentStore {
  const folder = (name: string): string => join(directory, name.slice(0, 2));
  const file = (name: string): string => join(folder(name), name);
  const own = new Set<string>();
  const shards = new Set<string>();
  let known: Map<string, number> | undefined;
  let totalBytes = 0;

  /** Read once; after that this process keeps count of what it adds. */
  function objects(): Map<string, number> {
    if (known !== undefined) return known;
    known = new Map();
    makePrivateDirectory(directory);
    for (const shard of readdirSync(directory)) {
      for (const name of readdirSync(join(directory, shard))) {
        const info = statSync(join(directory, shard, name), { throwIfNoEntry: false });
        if (info === undefined) continue; // another process has removed it meanwhile
        if (name.endsWith(".tmp")) {
          // A crash left it; a young one may be another process at work.
          if (nowMs() - info.mtimeMs > COLLECT_MIN_AGE_MS) rmSync(join(directory, shard, name), { force: true });
          continue;
        }
        known.set(name, info.size + OBJECT_OVERHEAD_BYTES);
        totalBytes += info.size + OBJECT_OVERHEAD_BYTES;
      }
    }
    return known;
  }

  return {
    put(content) {
      const name = seal.name(content);
      const all = objects();
      const present = all.get(name);
      if (present !== undefined) {
        if (statSync(file(name), { throwIfNoEntry: false }) !== undefined) return name;
        totalBytes -= present; // another process has collected it
      }
      if (!shards.has(folder(name))) makePrivateDirectory(folder(name));
      shards.add(folder(name));
      writePrivateFile(file(name), seal.seal(content, name), { durable: false });
      const size = content.length + BOX_EXTRA_BYTES + OBJECT_OVERHEAD_BYTES;
      all.set(name, size);
      own.add(name);
      totalBytes += size;
      return name;
    },
    get(name) {
      const sealed = readPrivateFile(file(name));
      return sealed === undefined ? undefined : seal.open(sealed, name);
    },
    has: (name) => statSync(file(name), { throwIfNoEntry: false }) !== undefined,
    sizeBytes() {
      objects();
      return totalBytes;
    },
    names: () => [...objects().keys()],
    collect(live, { sparesYoung } = { sparesYoung: true }) {
      let removed = 0;
      for (const [name, size] of objects()) {
        if (live.has(name)) continue;
        const info = own.has(name) || !sparesYoung ? undefined : statSync(file(name), { throwIfNoEntry: false });
        if (info !== undefined && nowMs() - info.mtimeMs < COLLECT_MIN_AGE_MS) continue;
        rmSync(file(name), { force: true });
        objects().delete(name);
        own.delete(name);
        totalBytes -= size;
        removed += 1;
      }
      return removed;
    },
  };
}
