/** The folders of sessions that name none: one for each session, private, and kept as long as there are files in it. */
import { rmdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { makePrivateDirectory } from "./private-file.ts";

export interface ScratchFolders {
  /** Where the session works. The folder need not be there yet. */
  of(session: string): string;
  /** Makes the folder if it is one of these; the session may have left it empty before. */
  open(folder: string): void;
  /** Removes the folder if it is one of these and nothing is in it. */
  close(folder: string): void;
}

/** `base` is absolute. */
export function createScratchFolders(base: string): ScratchFolders {
  const isOne = (folder: string): boolean => dirname(resolve(folder)) === base;
  return {
    of: (session) => join(base, session),
    open(folder) {
      if (isOne(folder)) makePrivateDirectory(folder);
    },
    close(folder) {
      if (!isOne(folder)) return;
      try {
        rmdirSync(folder);
      } catch {
        // There are files in it, or somebody has removed it: either way it stays as it is.
      }
    },
  };
}
