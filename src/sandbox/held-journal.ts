/**
 * Which placeholders stand in workspaces now, on disk: a file for each program that runs. A program that is killed cannot remove its
 * placeholders, so the next one does, when it first needs a sandbox. Survives the end of the program, not that of the machine.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { EffectError, isRecord, jsonIn, messageOf } from "#base";
import { createOwner, isAlive, makePrivateDirectory, readOwnedFile, removePrivateFile, writePrivateFile } from "#world";
import type { HeldName } from "./sandbox.ts";

/** Placeholders of every workspace in which a program runs commands. */
const MAX_JOURNAL_BYTES = 4 * 1024 * 1024;
const SUFFIX = ".json";

export interface HeldJournal {
  /** Before a placeholder is made, and after it has gone. Throws where it cannot be written: then the command does not run. */
  write(held: readonly HeldName[]): void;
  /** Gives what programs left that were killed, but for what another one needs now. They are forgotten when `remove` has resolved. */
  sweep(remove: (left: readonly HeldName[]) => Promise<void>): Promise<void>;
}

/** `folder` is one that no command sees. Another machine's programs keep theirs. */
export function openHeldJournal(folder: string, nowMs: () => number): HeldJournal {
  const own = join(folder, `${encodeURIComponent(createOwner())}${SUFFIX}`);
  let isThere = false;
  return {
    write(held) {
      if (held.length === 0) {
        if (isThere) removePrivateFile(own);
        isThere = false;
        return;
      }
      if (!isThere) makePrivateDirectory(folder);
      isThere = true;
      try {
        writePrivateFile(own, JSON.stringify(held), { durable: false });
      } catch (error) {
        const detail = `Harness cannot note the placeholders of a command in ${folder}: ${messageOf(error)}`;
        throw new EffectError("SandboxUnavailable", detail, { cause: error });
      }
    },
    async sweep(remove) {
      const journals = namesIn(folder).map((name) => ({
        path: join(folder, name),
        // Of another machine nobody knows: its programs sweep after themselves.
        isLeft: !isAlive(decodeURIComponent(name.slice(0, -SUFFIX.length)), Number.POSITIVE_INFINITY, nowMs()),
      }));
      const inUse = new Set(
        journals.filter(({ isLeft }) => !isLeft).flatMap(({ path }) => heldIn(path).map((held) => held.path)),
      );
      const left = journals.filter(({ isLeft }) => isLeft);
      await remove(left.flatMap(({ path }) => heldIn(path)).filter(({ path }) => !inUse.has(path)));
      for (const { path } of left) removePrivateFile(path);
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(SUFFIX));
  } catch {
    return []; // nothing was ever held
  }
}

function heldIn(path: string): readonly HeldName[] {
  const read = jsonIn(textOf(path) ?? "");
  return Array.isArray(read) ? read.filter(isHeldName) : [];
}

function textOf(path: string): string | undefined {
  try {
    return readOwnedFile(path, MAX_JOURNAL_BYTES)?.toString("utf8");
  } catch {
    return undefined; // of another user of the same home: what stands there is protected as any file of that name
  }
}

function isHeldName(value: unknown): value is HeldName {
  if (!isRecord(value) || typeof value.path !== "string") return false;
  const { placeholder } = value;
  return placeholder === "folder" || (isRecord(placeholder) && typeof placeholder.content === "string");
}
