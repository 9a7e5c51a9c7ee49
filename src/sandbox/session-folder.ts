/** The folders of one session outside its workspace: scratch files, a home of its own, its proxy's socket; and the cache of the workspace. */
import { createHash } from "node:crypto";
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { errnoOf, once } from "#base";
import { makePrivateDirectory, realPathIfThere } from "#world";
import { removeCommandTree } from "./command-tree.ts";
import type { SettingsCopy } from "./home-view.ts";
import { entriesOf } from "./repositories.ts";
import type { Mount, Scratch } from "./sandbox.ts";

/** Pyenv reports an installation as failed when it cannot write there. */
const SHIMS = [".pyenv/shims"];
const MAX_SHIMS = 1_000;
const MAX_SHIM_BYTES = 16 * 1024;
const PREFIX = "harness-sandbox-";
const DAY_MS = 24 * 60 * 60 * 1000;
/** What a killed program left is removed when it is older. */
const LEFTOVER_MS = DAY_MS;
/** A cache that no session has used for so long is removed. */
const CACHE_MS = 30 * DAY_MS;

export interface SessionFolder {
  readonly path: string;
  /** Seen as `/tmp` by commands that were allowed. */
  readonly tmp: string;
  /** The home of commands that were allowed. */
  readonly home: string;
  /** Copies of settings, to be mounted into the empty home of commands that nobody was asked about. */
  readonly settings: readonly Mount[];
  /** Copies of folders in the home to which its toolchains write whenever they install something. */
  shims(): readonly Scratch[];
  /** An empty folder that nothing is written to. */
  readonly emptyFolder: string;
  /** Stands for every file that is hidden. */
  readonly emptyFile: string;
  remove(): void;
}

/** `home` is where programs are told that their home is. */
export function createSessionFolder(nowMs: number, home: string, copies: readonly SettingsCopy[]): SessionFolder {
  const parent = realpathSync(tmpdir());
  removeLeftovers(parent, nowMs);
  const path = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  const inside = (name: string): string => join(path, name);
  for (const name of ["tmp", "home", "settings", "empty-folder"]) mkdirSync(inside(name), { mode: 0o700 });
  const emptyFile = inside("empty");
  writeFileSync(emptyFile, "", { mode: 0o444 });
  // In the home of allowed commands they are files like any other; for the rest they are mounted.
  for (const folder of ["home", "settings"]) {
    for (const { name, text } of copies) {
      const file = join(inside(folder), name);
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, text, { mode: 0o600 });
    }
  }
  return {
    path,
    tmp: inside("tmp"),
    home: inside("home"),
    settings: copies.map(({ name }) => ({ from: join(inside("settings"), name), to: join(home, name) })),
    shims: once(() => copiedShims(home, inside("shims"))),
    emptyFolder: inside("empty-folder"),
    emptyFile,
    remove: () => void removeCommandTree(path),
  };
}

/** Small programs that only start others. Whatever else lies there is left out. */
function copiedShims(home: string, target: string): Scratch[] {
  return SHIMS.flatMap((name) => {
    const from = join(home, name);
    // The person may keep a toolchain behind a link.
    const files = entriesOf(realPathIfThere(from) ?? from).filter((entry) => entry.isFile());
    const sizeOf = (file: string): number => lstatSync(join(from, file), { throwIfNoEntry: false })?.size ?? Infinity;
    const small = files.filter(({ name: file }) => sizeOf(file) <= MAX_SHIM_BYTES).slice(0, MAX_SHIMS);
    if (small.length === 0) return [];
    const copy = join(target, name);
    mkdirSync(copy, { recursive: true, mode: 0o700 });
    for (const { name: file } of small) copyIfThere(join(from, file), join(copy, file));
    return [{ path: from, from: copy }];
  });
}

/** Kept from one session to the next in the same workspace. Nothing may be mounted in them: commands of other sessions write there. */
export interface WorkspaceCache {
  /** The `.cache` of the home. */
  readonly general: string;
  /** Its `.m2`. */
  readonly maven: string;
}

/** `root` is the folder of all caches. */
export function workspaceCache(root: string, workspace: string, nowMs: number): WorkspaceCache {
  makePrivateDirectory(root);
  const path = join(root, createHash("sha256").update(workspace).digest("hex").slice(0, 32));
  for (const name of readdirSync(root)) {
    const other = join(root, name);
    const usedMs = lstatSync(other, { throwIfNoEntry: false })?.mtimeMs ?? nowMs;
    if (other !== path && nowMs - usedMs > CACHE_MS) removeCommandTree(other);
  }
  makePrivateDirectory(path);
  utimesSync(path, nowMs / 1000, nowMs / 1000);
  const real = realpathSync(path);
  const cache = { general: join(real, "general"), maven: join(real, "maven") };
  for (const folder of Object.values(cache)) makePrivateDirectory(folder);
  return cache;
}

function removeLeftovers(parent: string, nowMs: number): void {
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(PREFIX))) {
    const path = join(parent, name);
    const info = lstatSync(path, { throwIfNoEntry: false });
    const isOurs = info?.isDirectory() === true && info.uid === process.getuid?.();
    if (isOurs && nowMs - info.mtimeMs > LEFTOVER_MS && !isAlive(Number(name.slice(PREFIX.length).split("-")[0]))) {
      removeCommandTree(path);
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== "ESRCH";
  }
}

/** Programs such as pyenv write their shims at any time; one that is gone since the folder was listed is not missed. */
function copyIfThere(from: string, to: string): void {
  try {
    copyFileSync(from, to);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}
