/**
 * What a program changed in the workspace: looked for after it ran, and made again where it does not run. Files that steer other
 * programs are left out on both sides: a cassette is no way to write a git hook.
 */
import { type BigIntStats, closeSync, fstatSync, lstatSync, openSync, readFileSync, readlinkSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { errnoOf } from "#base";
import { ReasonError } from "#protocol";
import { atStraightEntry, createHiddenFiles, type RestorePort, STRAIGHT_READ_FLAGS } from "#world";
import { type Bytes, bytesOf, toBytes } from "./bytes.ts";

/** Of a workspace whose commands can be recorded. */
const MAX_ENTRIES = 50_000;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Changed by one command. */
const MAX_CHANGED_BYTES = 16 * 1024 * 1024;

const changeSchema = z.discriminatedUnion("is", [
  z.strictObject({
    is: z.literal("file"),
    path: z.string(),
    mode: z.int().min(0).max(0o777),
    content: z.union([z.string(), z.strictObject({ base64: z.base64() })]),
  }),
  z.strictObject({ is: z.literal("symlink"), path: z.string(), target: z.string() }),
  z.strictObject({ is: z.literal("directory"), path: z.string(), mode: z.int().min(0).max(0o777) }),
  z.strictObject({ is: z.literal("gone"), path: z.string() }),
]);

export type WorkspaceChange = z.output<typeof changeSchema>;

/** What is where, and a mark that changes with it. */
export type WorkspaceLook = ReadonlyMap<string, string>;

export interface WorkspaceChanges {
  look(): Promise<WorkspaceLook>;
  /** Sorted by path. */
  since(before: WorkspaceLook): Promise<readonly WorkspaceChange[]>;
  /** Rejects with CassetteInvalid for one that may not be made. */
  make(changes: readonly WorkspaceChange[]): Promise<void>;
}

export interface WorkspaceChangesOptions {
  /** Real. */
  readonly root: string;
  readonly restore: RestorePort;
  /** Relative to the workspace; they and what is below them are left out. `.git` is left out wherever it is. */
  readonly protectedNames: readonly string[];
  /** Of the program itself, relative to the workspace; left out in the same way. */
  readonly hidden: readonly string[];
  /** For messages. */
  readonly file: string;
}

/** `look` and `since` reject with CassetteNotWritten above a bound. */
export function createWorkspaceChanges({
  root,
  restore,
  protectedNames,
  hidden,
  file,
}: WorkspaceChangesOptions): WorkspaceChanges {
  // All are known in every case of their letters: some disks take them for the same.
  const leftOut = new Set(protectedNames.map((name) => name.toLowerCase()));
  const own = createHiddenFiles(
    root,
    hidden.map((path) => join(root, path)),
  );
  const isLeftOut = (path: string): boolean => {
    const names = path.toLowerCase().split("/");
    const isNamed = names.some((_, index) => leftOut.has(names.slice(0, index + 1).join("/")));
    return isNamed || names.includes(".git") || own.meets(path, false);
  };

  async function look(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    const folders = [""];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const name of await readdir(join(root, folder)).catch(goneIsEmpty)) {
        const path = folder === "" ? name : `${folder}/${name}`;
        if (isLeftOut(path)) continue;
        const info = await lstat(join(root, path), { bigint: true }).catch(() => undefined); // gone meanwhile
        if (info === undefined) continue;
        found.set(path, markOf(info));
        if (found.size > MAX_ENTRIES) throw tooMuch(`the workspace has more than ${MAX_ENTRIES} entries`);
        if (info.isDirectory()) folders.push(path);
      }
    }
    return found;
  }

  function read(path: string): WorkspaceChange | undefined {
    try {
      return atStraightEntry(root, path, (place) => readEntry(path, place));
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      throw tooMuch(`${path} was replaced while it was read (${errnoOf(error)}); record again when nothing else runs`);
    }
  }

  function readEntry(path: string, place: string): WorkspaceChange | undefined {
    const seen = lstatSync(place);
    if (seen.isDirectory()) return { is: "directory", path, mode: seen.mode & 0o777 };
    if (seen.isSymbolicLink()) return { is: "symlink", path, target: readlinkSync(place) };
    if (!seen.isFile()) return undefined;
    const handle = openSync(place, STRAIGHT_READ_FLAGS);
    try {
      const info = fstatSync(handle);
      if (!info.isFile()) return undefined;
      if (info.size > MAX_FILE_BYTES)
        throw tooMuch(`a command wrote ${path}, which has more than ${MAX_FILE_BYTES} bytes`);
      return { is: "file", path, mode: info.mode & 0o777, content: toBytes(readFileSync(handle)) };
    } finally {
      closeSync(handle);
    }
  }

  async function make(change: WorkspaceChange): Promise<void> {
    const { path } = change;
    if (isLeftOut(path)) {
      throw new ReasonError("CassetteInvalid", { place: file, detail: `a cassette may not change ${path}` });
    }
    const there = await restore.inspect(path, 0);
    if (change.is === "gone") {
      if (there?.kind === "directory") await restore.removeDirectory(path);
      else if (there !== undefined) await restore.removeEntry(path);
      return;
    }
    if (there !== undefined && (there.kind === "directory") !== (change.is === "directory")) {
      if (there.kind === "directory") await restore.removeDirectory(path);
      else await restore.removeEntry(path);
    }
    if (change.is === "file") return restore.putFile(path, bytesOf(change.content as Bytes), change.mode);
    if (change.is === "symlink") return restore.putSymlink(path, change.target);
    if (there?.kind === "directory") return restore.setMode(path, change.mode);
    return restore.makeDirectory(path, change.mode);
  }

  return {
    look,
    async since(before) {
      const after = await look();
      const changes: WorkspaceChange[] = [];
      let bytes = 0;
      for (const [path, mark] of [...after].toSorted(byPath)) {
        if (before.get(path) === mark) continue;
        const change = read(path);
        if (change === undefined) continue;
        changes.push(change);
        if (change.is === "file") bytes += bytesOf(change.content as Bytes).length;
        if (bytes > MAX_CHANGED_BYTES) throw tooMuch(`a command wrote more than ${MAX_CHANGED_BYTES} bytes`);
      }
      const gone = [...before.keys()]
        .filter((path) => !after.has(path))
        .toSorted()
        .toReversed();
      return [...gone.map((path): WorkspaceChange => ({ is: "gone", path })), ...changes];
    },
    async make(changes) {
      for (const given of changes) {
        const parsed = changeSchema.safeParse(given);
        if (!parsed.success) {
          const detail = `files: ${parsed.error.issues[0]?.message ?? "they are not valid"}`;
          throw new ReasonError("CassetteInvalid", { place: file, detail });
        }
        await make(parsed.data);
      }
    },
  };
}

function markOf(info: BigIntStats): string {
  if (info.isDirectory()) return `directory ${info.mode}`;
  return `${info.ino} ${info.size} ${info.mtimeNs} ${info.ctimeNs} ${info.mode}`;
}

function byPath([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}

function goneIsEmpty(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
  throw error;
}

function tooMuch(detail: string): ReasonError {
  return new ReasonError("CassetteNotWritten", detail);
}
