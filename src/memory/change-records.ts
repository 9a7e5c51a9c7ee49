/** What a memory was before each change, so that the last ones can be taken back. One file for each change, the oldest go first. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Clock, ifThere, isRecord, type MemoryTier } from "#base";
import { makePrivateDirectory, readOwnedFile, removePrivateFile, writePrivateFile } from "#world";

const MAX_RECORDS = 200;
const MAX_BYTES = 256 * 1024;
const NAME = /^(\d{15})-(\d{6})\.json$/;

export interface MemoryChange {
  readonly name: string;
  /** Absent: it was not there. */
  readonly before: { readonly tier: MemoryTier; readonly text: string } | undefined;
}

export interface ChangeRecords {
  /** Before the change; the function takes the record back when the change is not made. */
  add(change: MemoryChange): () => void;
  last(): { readonly change: MemoryChange; remove(): void } | undefined;
  /** Removes all about one memory. How many there were. */
  erase(name: string): number;
}

/** To be used by one process at a time. Throws for a record that cannot be read or written. */
export function createChangeRecords(folder: string, clock: Pick<Clock, "now">): ChangeRecords {
  const names = (): string[] => (ifThere(() => readdirSync(folder)) ?? []).filter((name) => NAME.test(name)).toSorted();

  function read(name: string): MemoryChange {
    const bytes = readOwnedFile(join(folder, name), MAX_BYTES);
    const value: unknown = bytes === undefined ? undefined : JSON.parse(bytes.toString("utf8"));
    if (!isRecord(value) || typeof value.name !== "string") throw new Error(`${join(folder, name)} is not a record`);
    // The folder is ours alone, so it is what `add` wrote.
    return { name: value.name, before: value.before as MemoryChange["before"] };
  }

  return {
    add(change) {
      makePrivateDirectory(folder);
      const known = names();
      const [, lastMs = "0", lastCount = "0"] = NAME.exec(known.at(-1) ?? "") ?? [];
      // A clock that was set back does not change the order.
      const atMs = Math.max(clock.now(), Number(lastMs));
      const count = atMs === Number(lastMs) ? Number(lastCount) + 1 : 0;
      const name = `${String(atMs).padStart(15, "0")}-${String(count).padStart(6, "0")}.json`;
      writePrivateFile(join(folder, name), JSON.stringify(change), { durable: true });
      for (const old of known.slice(0, Math.max(0, known.length + 1 - MAX_RECORDS)))
        removePrivateFile(join(folder, old));
      return () => removePrivateFile(join(folder, name));
    },
    last() {
      const name = names().at(-1);
      return name === undefined
        ? undefined
        : { change: read(name), remove: () => removePrivateFile(join(folder, name)) };
    },
    erase(wanted) {
      const about = names().filter((name) => read(name).name === wanted);
      for (const name of about) removePrivateFile(join(folder, name));
      return about.length;
    },
  };
}
