/**
 * Puts entries of a workspace back as they were: contents, modes, symlinks and directories, one entry at a time. Paths are
 * relative and real: a symlink anywhere above the entry is refused and never followed. It decides nothing and removes no
 * directory that holds something.
 */
import { realpathSync } from "node:fs";
import {
  chmod,
  constants,
  lstat,
  mkdir,
  open,
  opendir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
} from "node:fs/promises";
import { basename, dirname, isAbsolute, normalize } from "node:path";
import { EffectError, errnoOf, fileError } from "#base";
import { createSystemRandom } from "./system.ts";
import { SwappedPath, WorkspaceDirectory } from "./workspace-directory.ts";

const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** A handle for an entry that may not be read; Node has no name for it. */
const LINUX_O_PATH = 0o10000000;
const MODE_BITS = 0o7777;
const MAX_NAMES = 100_000;

/** What is at a path now. `content` is absent when the file is larger than asked for or may not be read. */
export type PresentEntry =
  | { readonly kind: "file"; readonly mode: number; readonly mtimeNs: bigint; readonly content?: Uint8Array }
  | { readonly kind: "symlink"; readonly target: string; readonly mtimeNs: bigint }
  | { readonly kind: "directory"; readonly mode: number }
  | { readonly kind: "other" };

/** Rejects with an `EffectError`; `OutsideWorkspace` for a path that leads out or through a symlink. */
export interface RestorePort {
  readonly root: string;
  /** The entry itself, no symlink followed; undefined when nothing is there. */
  inspect(path: string, maxBytes: number): Promise<PresentEntry | undefined>;
  /** Names in a directory, in no order. */
  names(path: string): Promise<readonly string[]>;
  /** Replaces or creates a file (or replaces a symlink) atomically. The directory must exist. */
  putFile(path: string, content: Uint8Array, mode: number): Promise<void>;
  putSymlink(path: string, target: string): Promise<void>;
  makeDirectory(path: string, mode: number): Promise<void>;
  /** Of a file or directory. */
  setMode(path: string, mode: number): Promise<void>;
  /** A file or symlink. */
  removeEntry(path: string): Promise<void>;
  /** `NotEmpty` when something is in it. */
  removeDirectory(path: string): Promise<void>;
}

/** `root` must exist; it is resolved once, here. */
export function createWorkspaceRestore(root: string): RestorePort {
  const realRoot = realpathSync(root);
  const random = createSystemRandom();

  async function inParent<Result>(
    path: string,
    use: (parent: WorkspaceDirectory, name: string) => Promise<Result>,
  ): Promise<Result> {
    try {
      const parent = await WorkspaceDirectory.open(realRoot, dirname(checked(path)), { create: false });
      try {
        return await use(parent, basename(path));
      } finally {
        await parent.close();
      }
    } catch (error) {
      if (!(error instanceof SwappedPath)) throw fileError(error, path);
      throw new EffectError("OutsideWorkspace", `${path} leads through a symbolic link`, { cause: error });
    }
  }

  /** Makes the new entry beside the old one and renames it over. */
  async function replace(
    parent: WorkspaceDirectory,
    name: string,
    make: (temporary: string, temporaryName: string) => Promise<void>,
  ): Promise<void> {
    const temporaryName = `.harness-${Buffer.from(random.bytes(8)).toString("hex")}.tmp`;
    const temporary = parent.entry(temporaryName);
    try {
      await make(temporary, temporaryName);
      await rename(temporary, parent.entry(name));
    } catch (error) {
      // The first failure is the one to tell; it may not even have been made.
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  }

  return {
    root: realRoot,

    async inspect(path, maxBytes) {
      try {
        return await inParent(path, (parent, name) => inspectEntry(parent, name, maxBytes));
      } catch (error) {
        const refusal = fileError(error, path);
        if (refusal.reason === "NotFound" || refusal.reason === "NotADirectory") return undefined;
        throw refusal;
      }
    },

    names: (path) =>
      inParent(path, async (parent, name) => {
        const directory = await parent.child(name, { create: false });
        try {
          const names: string[] = [];
          for await (const entry of await opendir(directory.path)) {
            if (names.length >= MAX_NAMES) throw new EffectError("TooLarge", `${path} has too many entries`);
            names.push(entry.name);
          }
          return names;
        } finally {
          await directory.close();
        }
      }),

    putFile: (path, content, mode) =>
      inParent(path, (parent, name) =>
        replace(parent, name, async (temporary, temporaryName) => {
          const handle = await open(temporary, CREATE_FLAGS, 0o600);
          await parent.check(temporaryName, handle);
          try {
            await handle.writeFile(content);
            await handle.chmod(mode & MODE_BITS);
            await handle.sync();
          } finally {
            await handle.close();
          }
        }),
      ),

    putSymlink: (path, target) =>
      inParent(path, (parent, name) => replace(parent, name, (temporary) => symlink(target, temporary))),

    makeDirectory: (path, mode) =>
      inParent(path, async (parent, name) => {
        await mkdir(parent.entry(name), { mode: 0o700 });
        await changeMode(parent, name, mode);
      }),

    setMode: (path, mode) => inParent(path, (parent, name) => changeMode(parent, name, mode)),

    removeEntry: (path) =>
      inParent(path, async (parent, name) => {
        // unlink refuses a directory by itself on Linux and macOS; elsewhere this does.
        if ((await lstat(parent.entry(name))).isDirectory()) {
          throw new EffectError("NotAFile", `${path} is a directory`);
        }
        await unlink(parent.entry(name));
      }),

    removeDirectory: (path) => inParent(path, (parent, name) => rmdir(parent.entry(name))),
  };
}

/** Recorded paths are already relative and plain; one that is not has not been recorded by us. */
function checked(path: string): string {
  const plain = path !== "" && path !== "." && normalize(path) === path && !path.endsWith("/");
  if (!plain || isAbsolute(path) || path.split("/").includes("..") || path.includes("\0")) {
    throw new EffectError("OutsideWorkspace", `${path} is not a plain path inside the workspace`);
  }
  return path;
}

async function inspectEntry(parent: WorkspaceDirectory, name: string, maxBytes: number): Promise<PresentEntry> {
  const path = parent.entry(name);
  const info = await lstat(path, { bigint: true });
  const { mtimeNs } = info;
  if (info.isSymbolicLink()) return { kind: "symlink", target: await readlink(path), mtimeNs };
  const mode = Number(info.mode) & MODE_BITS;
  if (info.isDirectory()) return { kind: "directory", mode };
  if (!info.isFile()) return { kind: "other" };
  if (info.size > maxBytes) return { kind: "file", mode, mtimeNs };
  const handle = await open(path, READ_FLAGS).catch((error: unknown) => {
    if (errnoOf(error) === "EACCES") return undefined;
    throw errnoOf(error) === "ELOOP" ? new SwappedPath(path) : error;
  });
  if (handle === undefined) return { kind: "file", mode, mtimeNs };
  await parent.check(name, handle);
  try {
    return { kind: "file", mode, mtimeNs, content: await handle.readFile() };
  } finally {
    await handle.close();
  }
}

/** By handle, because chmod on a path would follow a symlink. */
async function changeMode(parent: WorkspaceDirectory, name: string, mode: number): Promise<void> {
  const path = parent.entry(name);
  const handle = await open(path, READ_FLAGS).catch(async (error: unknown) => {
    if (errnoOf(error) === "ELOOP") throw new SwappedPath(path);
    if (errnoOf(error) !== "EACCES" || process.platform !== "linux") throw error;
    return open(path, LINUX_O_PATH | constants.O_NOFOLLOW);
  });
  await parent.check(name, handle);
  try {
    if ((await handle.stat()).isSymbolicLink()) throw new SwappedPath(path);
    await handle.chmod(mode & MODE_BITS).catch((error: unknown) => {
      if (errnoOf(error) !== "EBADF") throw error;
      return chmod(`/proc/self/fd/${handle.fd}`, mode & MODE_BITS);
    });
  } finally {
    await handle.close();
  }
}
