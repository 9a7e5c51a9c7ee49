/** The folders and small files of the JSONL store: `<root>/.harness/threads/<id>/` with `meta.json`. Private to the user. */

import { randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { defined, errnoOf, isRecord, jsonIn } from "#base";
import { ReasonError, SessionId } from "#protocol";
import { makeFolder, syncFolder, writePrivateFile } from "#world";
import { readSessionFields, type StoredMeta } from "../session-fields.ts";
import { corrupt } from "./file.ts";

const DIRECTORY_MODE = 0o700;
export const FILE_MODE = 0o600;
/** What a process that was killed left half made is removed after this long. */
const LEFTOVER_MS = 24 * 60 * 60 * 1000;
const META_FORMAT = 1;

/** Makes the folder of all sessions. A link in its place is refused: a repository could have planted it. */
export function prepareThreads(root: string, nowMs: number): string {
  const harness = join(root, ".harness");
  const threads = join(harness, "threads");
  makeFolder(root, DIRECTORY_MODE);
  for (const path of [harness, threads]) {
    makeIfMissing(path);
    if (!lstatSync(path).isDirectory()) {
      throw new ReasonError("ConfigInvalid", `${path} is a link or a file; the session log needs a folder.`);
    }
  }
  // Sessions hold what was said and read; they do not belong into a repository.
  writeIfMissing(join(threads, ".gitignore"), "*\n");
  for (const name of readdirSync(threads)) {
    const path = join(threads, name);
    if (/^\.(?:new|gone)-/.test(name) && nowMs - statSync(path).mtimeMs > LEFTOVER_MS) {
      rmSync(path, { recursive: true, force: true });
    }
  }
  return threads;
}

export function sessionIds(threads: string): SessionId[] {
  return readdirSync(threads).filter((name) => SessionId.is(name));
}

/** Makes a session's folder in one step: it is there whole, or not at all. False when the id is taken. */
export function createFolder(threads: string, meta: StoredMeta, fill: (file: number, folder: string) => void): boolean {
  const staged = join(threads, `.new-${randomBytes(8).toString("hex")}`);
  mkdirSync(staged, { mode: DIRECTORY_MODE });
  try {
    const file = openSync(join(staged, "events.jsonl"), "wx+", FILE_MODE);
    try {
      fill(file, staged);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    writeMeta(staged, meta);
    renameSync(staged, join(threads, meta.id));
    syncFolder(threads);
    return true;
  } catch (error) {
    rmSync(staged, { recursive: true, force: true });
    if (errnoOf(error) === "ENOTEMPTY" || errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

export function removeFolder(threads: string, id: SessionId): void {
  const gone = join(threads, `.gone-${randomBytes(8).toString("hex")}`);
  renameSync(join(threads, id), gone);
  syncFolder(threads);
  rmSync(gone, { recursive: true, force: true });
}

export function writeMeta(folder: string, meta: StoredMeta): void {
  const { id, workingDir, profile, model, createdAt, title, state, pinned, parent } = meta;
  const fields = { format: META_FORMAT, id, working_dir: workingDir, profile, model, created_at: createdAt };
  const text = JSON.stringify({ ...fields, title, state, pinned, ...defined({ parent }) }, null, 2);
  writePrivateFile(join(folder, "meta.json"), `${text}\n`, { durable: true });
}

/** Undefined when there is no such session. */
export function readMeta(folder: string): StoredMeta | undefined {
  const path = join(folder, "meta.json");
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
  const value = jsonIn(text);
  if (value === undefined) throw corrupt(path, "it is not JSON.");
  return checkMeta(value, path);
}

function checkMeta(value: unknown, path: string): StoredMeta {
  if (!isRecord(value)) throw corrupt(path, "it is not an object.");
  if (value.format !== META_FORMAT) throw corrupt(path, `its format is ${String(value.format)}, not ${META_FORMAT}.`);
  return readSessionFields(value, (name, what) => corrupt(path, `'${name}' ${what}.`));
}

function makeIfMissing(path: string): void {
  try {
    mkdirSync(path, { mode: DIRECTORY_MODE });
    syncFolder(dirname(path));
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

function writeIfMissing(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: FILE_MODE, flag: "wx" });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}
