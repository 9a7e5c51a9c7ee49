/** Small secret files in the configuration folder: private, of a known length, and whole or not there at all. */
import { randomBytes } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, messageOf } from "#base";
import { ReasonError } from "#protocol";
import { createPrivateFile, makePrivateDirectory, movePrivateFile, removePrivateFile, syncFolder } from "#world";

const WIDER = 0o077;
/** Windows keeps access rights elsewhere; the mode says nothing there. */
const HAS_MODES = process.platform !== "win32";

export interface KeyFile {
  readonly bytes: Buffer;
  readonly path: string;
}

export interface KeyFiles {
  pathOf(name: string): string;
  has(name: string): boolean;
  /** Of two processes that create it at once, both get the same bytes. Throws KeyInvalid when what is there is unfit. */
  readOrCreate(name: string, length: number): KeyFile;
  /** `name` has the content of `from` afterwards, which is gone. Durable. */
  replace(name: string, from: string): void;
  remove(name: string): void;
}

export function createKeyFiles(directory: string, draw: (bytes: number) => Buffer = randomBytes): KeyFiles {
  const pathOf = (name: string): string => join(directory, name);

  function read(path: string, length: number): Buffer | undefined {
    let file: number;
    try {
      file = openSync(path, constants.O_RDONLY);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    }
    try {
      const { mode, size } = fstatSync(file);
      if (HAS_MODES && (mode & WIDER) !== 0) {
        const shown = (mode & 0o777).toString(8).padStart(4, "0");
        throw unfit(`${path} can be read by others (mode ${shown}). If nobody has, run: chmod 600 ${path}`);
      }
      const bytes = Buffer.alloc(length + 1);
      if (size !== length || readSync(file, bytes, 0, length + 1, 0) !== length) {
        throw unfit(`${path} has ${size} bytes instead of ${length}. Put the right file back from a backup.`);
      }
      return bytes.subarray(0, length);
    } finally {
      closeSync(file);
    }
  }

  return {
    pathOf,
    has: (name) => existsSync(pathOf(name)),
    readOrCreate(name, length) {
      const path = pathOf(name);
      return guarded(path, () => {
        const known = read(path, length);
        if (known !== undefined) return { bytes: known, path };
        makePrivateDirectory(directory);
        createPrivateFile(path, draw(length));
        const made = read(path, length);
        if (made === undefined) throw unfit(`${path} was removed while it was made. Try again.`);
        return { bytes: made, path };
      });
    },
    replace(name, from) {
      guarded(pathOf(name), () => {
        movePrivateFile(pathOf(from), pathOf(name));
      });
    },
    remove(name) {
      guarded(pathOf(name), () => {
        removePrivateFile(pathOf(name));
        syncFolder(directory);
      });
    },
  };
}

function guarded<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof ReasonError) throw error;
    const why = messageOf(error);
    throw new ReasonError("KeyInvalid", { detail: `The key file ${path} cannot be used: ${why}.` }, { cause: error });
  }
}

function unfit(detail: string): ReasonError {
  return new ReasonError("KeyInvalid", { detail });
}
