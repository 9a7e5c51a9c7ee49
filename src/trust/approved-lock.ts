/**
 * `approved.lock` of one project, in the state folder of the user: never where a repository could bring it. A code made with a key
 * of this machine proves that the program wrote it, for this project; a file that does not prove it counts as nothing acked.
 */
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { messageOf } from "#base";
import { makePrivateDirectory, readOwnedFile, writePrivateFile } from "#world";
import { createAckedTexts } from "./acked-texts.ts";
import {
  type LockEntry,
  type LockFile,
  LockFileError,
  lockContent,
  MAX_LOCK_BYTES,
  parseLock,
  writeLock,
} from "./lock-file.ts";
import type { ServerAnswer } from "./server-answer.ts";

export interface TrustKeys {
  /** 32 bytes each; may throw when the machine's key cannot be used. */
  readonly mac: Uint8Array;
  readonly text: Uint8Array;
}

export interface ApprovedLockOptions {
  /** Holds a folder for each project. */
  readonly directory: string;
  /** The real path of the project. */
  readonly root: string;
  readonly keys: () => TrustKeys;
}

/** A file as it was shown to whoever agreed to it. */
export interface AckedFile {
  readonly entry: LockEntry;
  /** Absent: it is not kept. */
  readonly text?: string;
}

export interface ApprovedLock {
  readonly path: string;
  /** What was agreed to, and why that is nothing where a file is there that cannot be believed. Never throws. */
  read(): {
    readonly files: readonly LockEntry[];
    readonly servers: readonly ServerAnswer[];
    readonly problem?: string;
  };
  /** Adds or replaces entries, and takes out those of files that are gone. Durable when it returns. */
  change(acked: readonly AckedFile[], removed: readonly string[]): void;
  /** Replaces what was said about the servers of these names. Durable when it returns. */
  answer(servers: readonly ServerAnswer[]): void;
  textOf(sha256: string): string | undefined;
}

export function createApprovedLock({ directory, root, keys }: ApprovedLockOptions): ApprovedLock {
  const folder = join(directory, hash("sha256", root, "hex").slice(0, 32));
  const path = join(folder, "approved.lock");
  const texts = createAckedTexts(join(folder, "texts"), () => keys().text);

  const read: ApprovedLock["read"] = () => {
    try {
      const text = readOwnedFile(path, MAX_LOCK_BYTES)?.toString("utf8");
      if (text === undefined) return { files: [], servers: [] };
      const lock = parseLock(text);
      if (lock.root !== root || !isGenuine(lock, keys().mac)) {
        throw new LockFileError("this machine's key did not seal it for this project");
      }
      return { files: lock.files, servers: lock.servers ?? [] };
    } catch (error) {
      const why = messageOf(error);
      return { files: [], servers: [], problem: `Harness ignores ${path}: ${why}. You must ack all files again.` };
    }
  };

  function write(lock: LockFile): void {
    makePrivateDirectory(folder);
    writePrivateFile(path, writeLock({ ...lock, mac: macOf(lock, keys().mac) }), { durable: true });
  }

  return {
    path,
    read,
    answer(given) {
      const { files, servers } = read();
      const others = servers.filter(({ name }) => !given.some((one) => one.name === name));
      write({ root, files, servers: [...others, ...given] });
    },
    change(acked, removed) {
      const gone = new Set([...removed, ...acked.map(({ entry }) => entry.path)]);
      const { files: before, servers } = read();
      const files = [...before.filter(({ path: one }) => !gone.has(one)), ...acked.map(({ entry }) => entry)];
      makePrivateDirectory(folder);
      // Before the lock: an entry without its text only costs the difference, a text without an entry is let go of next time.
      texts.keep(
        new Map(files.map(({ sha256 }) => [sha256, acked.find(({ entry }) => entry.sha256 === sha256)?.text])),
      );
      write({ root, files, servers });
    },
    textOf: (sha256) => texts.read(sha256),
  };
}

function macOf(lock: LockFile, key: Uint8Array): string {
  return createHmac("sha256", key).update(lockContent(lock)).digest("hex");
}

function isGenuine(lock: LockFile, key: Uint8Array): boolean {
  const expected = Buffer.from(macOf(lock, key), "hex");
  const given = Buffer.from(lock.mac ?? "", "hex");
  return given.length === expected.length && timingSafeEqual(given, expected);
}
