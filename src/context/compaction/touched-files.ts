/** The files that calls have read or changed, with their hashes: what an agent has to know of its workspace after a compaction. */
import type { Part } from "#engine";
import type { EventPayload } from "#protocol";
import { isBoundary, isStep } from "./plan.ts";

export type TouchedFile = NonNullable<EventPayload<"CompactionTriggered">["files"]>[number];

const MAX_FILES = 100;
const MAX_PATH_CHARS = 500;

export interface FileFacts {
  /** The files that a call names, and whether it changes them. */
  touched(tool: string, input: unknown): { readonly paths: readonly string[]; readonly changed: boolean };
  /** Of what is there now; undefined for what cannot be read. Never throws. */
  hash(path: string): Promise<string | undefined>;
}

/** Those touched last, when there are more than fit; changed ones stay longest. */
export async function touchedFiles(parts: readonly Part[], facts: FileFacts): Promise<TouchedFile[]> {
  const known = new Map<string, boolean>();
  const add = (path: string, changed: boolean): void => {
    const before = known.get(path) ?? false;
    known.delete(path);
    if (path.length <= MAX_PATH_CHARS) known.set(path, before || changed);
  };
  for (const part of parts) {
    if (isBoundary(part)) for (const { path, changed } of part.compaction.files ?? []) add(path, changed);
    if (!isStep(part)) continue;
    for (const block of part.blocks.values()) {
      if (block.type !== "tool_use" || part.results.get(block.id)?.is_error !== false) continue;
      const { paths, changed } = facts.touched(block.name, block.input);
      for (const path of paths) add(path, changed);
    }
  }
  const all = [...known].map(([path, changed]) => ({ path, changed }));
  const fitting = all.length <= MAX_FILES ? all : mostNeeded(all);
  return Promise.all(
    fitting.map(async ({ path, changed }) => {
      const sha256 = await facts.hash(path);
      return sha256 === undefined ? { path, changed } : { path, changed, sha256 };
    }),
  );
}

function mostNeeded<File extends { readonly changed: boolean }>(files: readonly File[]): readonly File[] {
  const changed = files.filter((file) => file.changed).slice(-MAX_FILES);
  const read = files.filter((file) => !file.changed).slice(-Math.max(1, MAX_FILES - changed.length));
  return changed.length >= MAX_FILES ? changed : [...read, ...changed];
}
