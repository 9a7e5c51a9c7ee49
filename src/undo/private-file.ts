/** Files that only their owner can read, written whole or not at all. For undo's own store, never for the workspace. */
import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** Through a temporary name; `durable` waits until the disk has it under its name. */
export function writePrivateFile(path: string, content: Uint8Array, options: { readonly durable: boolean }): void {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const file = openSync(temporary, "wx", 0o600);
  try {
    try {
      for (let at = 0; at < content.length; ) at += writeSync(file, content, at);
      if (options.durable) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
    if (options.durable) syncDirectory(dirname(path));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function syncDirectory(path: string): void {
  if (process.platform === "win32") return; // has no such thing
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Undefined when it does not exist. */
export function readPrivateFile(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
