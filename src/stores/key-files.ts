/**
 * Small secret files in the configuration folder: private, of a known length, and whole or not there at all. The file of a key that
 * the keychain of the system keeps holds the name of its entry there instead.
 */
import { randomBytes } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, messageOf } from "#base";
import { ReasonError } from "#protocol";
import { createPrivateFile, makePrivateDirectory, movePrivateFile, removePrivateFile, syncFolder } from "#world";

const WIDER = 0o077;
/** Windows keeps access rights elsewhere; the mode says nothing there. */
const HAS_MODES = process.platform !== "win32";

/** In the place of the bytes, with the name of the entry. Longer than any of them. */
const IN_KEYCHAIN = /^in the keychain: ([0-9a-f]{32})\n$/;
const MAX_FILE_BYTES = 256;

export interface KeyFile {
  readonly bytes: Buffer;
  /** Where they are, for messages: a path or the keychain. */
  readonly place: string;
}

/** Keeps keys by name, outside the files. */
export interface KeyKeychain {
  readonly name: string;
  /** False where a new key is to be in a file. */
  readonly takesNew: boolean;
  /** Undefined when it worked, else why it did not. */
  store(name: string, key: Buffer): string | undefined;
  /** The key, or why there is none. */
  lookup(name: string): Buffer | string;
  remove(name: string): void;
}

export interface KeyFiles {
  pathOf(name: string): string;
  has(name: string): boolean;
  /** Of two processes that create it at once, both get the same bytes. Throws KeyInvalid when what is there is unfit. */
  readOrCreate(name: string, length: number): KeyFile;
  /** The same for a key, which the keychain keeps where there is one when it is made. */
  readOrCreateKey(name: string, length: number): KeyFile;
  /** `name` has the content of `from` afterwards, which is gone. Durable. */
  replace(name: string, from: string): void;
  remove(name: string): void;
}

export function createKeyFiles(
  directory: string,
  { draw = randomBytes, keychain }: { readonly draw?: (bytes: number) => Buffer; readonly keychain?: KeyKeychain } = {},
): KeyFiles {
  const pathOf = (name: string): string => join(directory, name);

  function read(path: string, length: number): KeyFile | undefined {
    const { bytes, size } = readWhole(path) ?? {};
    if (bytes === undefined) return undefined;
    if (bytes.length === length) return { bytes, place: path };
    const entry = IN_KEYCHAIN.exec(bytes.toString("utf8"))?.[1];
    if (entry === undefined) {
      throw unfit(`${path} has ${size} bytes instead of ${length}. Restore the right file from a backup.`);
    }
    const found = keychain?.lookup(entry) ?? "this system has no keychain";
    if (found instanceof Buffer && found.length === length) return { bytes: found, place: keychain?.name ?? "" };
    const why = found instanceof Buffer ? `it has ${found.length} bytes instead of ${length}` : found;
    throw unfit(
      `${path} refers to a key in the system keychain, but Harness cannot read it there: ${why}. Unlock the keychain, or start Harness in the desktop session that has the keychain.`,
    );
  }

  /** The content of the file for a new key: the key, or the entry of the keychain that has it and was seen to give it back. */
  function contentFor(key: Buffer): Buffer {
    if (keychain?.takesNew !== true) return key;
    const entry = randomBytes(16).toString("hex");
    if (keychain.store(entry, key) !== undefined) return key;
    const back = keychain.lookup(entry);
    if (back instanceof Buffer && back.equals(key)) return Buffer.from(`in the keychain: ${entry}\n`);
    keychain.remove(entry);
    return key;
  }

  function readOrMake(name: string, length: number, contentOf: (bytes: Buffer) => Buffer): KeyFile {
    const path = pathOf(name);
    return guarded(path, () => {
      const known = read(path, length);
      if (known !== undefined) return known;
      makePrivateDirectory(directory);
      const content = contentOf(draw(length));
      createPrivateFile(path, content);
      const written = readWhole(path)?.bytes;
      // Another process was first: nobody will ask for our entry.
      if (written?.equals(content) === false) forget(content);
      const made = read(path, length);
      if (made === undefined) throw unfit(`${path} was removed while Harness created it. Try again.`);
      return made;
    });
  }

  function forget(content: Buffer | undefined): void {
    const entry = IN_KEYCHAIN.exec(content?.toString("utf8") ?? "")?.[1];
    if (entry !== undefined) keychain?.remove(entry);
  }

  function readWhole(path: string): { readonly bytes: Buffer; readonly size: number } | undefined {
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
        throw unfit(
          `Other users can read ${path} (mode ${shown}). If you are sure that nobody has read it, run: chmod 600 ${path}`,
        );
      }
      const bytes = Buffer.alloc(MAX_FILE_BYTES);
      return { bytes: bytes.subarray(0, readSync(file, bytes, 0, MAX_FILE_BYTES, 0)), size };
    } finally {
      closeSync(file);
    }
  }

  return {
    pathOf,
    has: (name) => existsSync(pathOf(name)),
    readOrCreate: (name, length) => readOrMake(name, length, (bytes) => bytes),
    readOrCreateKey: (name, length) => readOrMake(name, length, contentFor),
    replace(name, from) {
      guarded(pathOf(name), () => {
        const before = readWhole(pathOf(name))?.bytes;
        movePrivateFile(pathOf(from), pathOf(name));
        forget(before);
      });
    },
    remove(name) {
      guarded(pathOf(name), () => {
        const before = readWhole(pathOf(name))?.bytes;
        removePrivateFile(pathOf(name));
        syncFolder(directory);
        forget(before);
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
    throw new ReasonError("KeyInvalid", `The key file ${path} cannot be used: ${why}.`, { cause: error });
  }
}

function unfit(detail: string): ReasonError {
  return new ReasonError("KeyInvalid", detail);
}
