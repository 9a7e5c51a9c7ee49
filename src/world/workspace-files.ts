/**
 * The files of one workspace: the one place that writes them. A jail for paths, not for programs; a hard link to a file
 * outside is a file inside, and nothing here says who may change what.
 */
import { realpathSync, statSync } from "node:fs";
import { constants, type FileHandle, link, lstat, open, opendir, rename, rmdir, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { type DirectoryEntry, EffectError, errnoOf, type FileInfo, type FilePort, fileError } from "#base";
import { createHiddenFiles } from "./hidden-files.ts";
import { readSmallFile } from "./small-file.ts";
import { createSystemRandom } from "./system.ts";
import { SwappedPath, WorkspaceDirectory } from "./workspace-directory.ts";
import { resolveInWorkspace } from "./workspace-path.ts";

const SWAP_ATTEMPTS = 3;
const MAX_LIST_ENTRIES = 100_000;
const MAX_REMOVE_DEPTH = 256;
const READ_CHUNK_BYTES = 64 * 1024;
/** Opened without waiting, so that a FIFO cannot hold us. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CREATE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** `root` must exist; it is resolved once, here. `hiddenPaths`: absolute, what no tool gets at. */
export function createWorkspaceFiles(root: string, hiddenPaths: readonly string[] = []): FilePort {
  const realRoot = openRoot(root);
  const random = createSystemRandom();
  const hidden = createHiddenFiles(realRoot, hiddenPaths);

  /**
   * The real path of something that is not hidden. Whoever opens it does so by exactly that path and without following links, so that
   * nothing else is opened than what was looked at. `whole`: with all that is below it.
   */
  async function visible(path: string, options = { follow: true, whole: false }): Promise<string> {
    const target = await resolveInWorkspace(realRoot, path);
    const entry = options.follow ? target : await resolveInWorkspace(realRoot, path, options);
    hidden.check(path, [target, entry], options.whole);
    return entry;
  }

  /** Resolves `path`, opens the directory that holds it and runs `use` on the entry; again after a swap. */
  async function inParent<Result>(
    path: string,
    options: { readonly follow: boolean; readonly whole?: boolean; readonly create: boolean },
    use: (parent: WorkspaceDirectory, name: string) => Promise<Result>,
  ): Promise<Result> {
    return guarded(path, async () => {
      const relative = await visible(path, { whole: false, ...options });
      if (relative === ".") throw new EffectError("NotAFile", `${path} is the workspace root`);
      const parent = await WorkspaceDirectory.open(realRoot, dirname(relative), options);
      try {
        return await use(parent, basename(relative));
      } finally {
        await parent.close();
      }
    });
  }

  return {
    root: realRoot,
    hidden: hidden.paths,

    locate: (path) => guarded(path, () => resolveInWorkspace(realRoot, path)),

    async stat(path) {
      try {
        if ((await visible(path)) === ".") return fileInfo(await lstat(realRoot));
        return await inParent(path, { follow: true, create: false }, async (parent, name) => {
          const info = await lstat(parent.entry(name));
          if (info.isSymbolicLink()) throw new SwappedPath(path);
          return fileInfo(info);
        });
      } catch (error) {
        const refusal = fileError(error, path);
        if (refusal.reason === "NotFound" || refusal.reason === "NotADirectory") return undefined;
        throw refusal;
      }
    },

    async read(path, maxBytes) {
      const small = readSmallFile(realRoot, path, (real) => hidden.meets(real, false));
      if (small !== undefined && small.length <= maxBytes) return small;
      return inParent(path, { follow: true, create: false }, async (parent, name) => {
        const handle = await open(parent.entry(name), READ_FLAGS).catch(swapOn("ELOOP", path));
        await parent.check(name, handle);
        try {
          return await readAll(handle, path, maxBytes);
        } finally {
          await handle.close();
        }
      });
    },

    list: (path) =>
      guarded(path, async () => {
        const directory = await WorkspaceDirectory.open(realRoot, await visible(path), { create: false });
        try {
          return await listEntries(directory, path);
        } finally {
          await directory.close();
        }
      }),

    write: (path, content) =>
      inParent(path, { follow: true, create: true }, async (parent, name) => {
        const mode = await replaceableMode(parent, name, path);
        const temporaryName = `.harness-${Buffer.from(random.bytes(8)).toString("hex")}.tmp`;
        const temporary = parent.entry(temporaryName);
        const handle = await open(temporary, CREATE_FLAGS, 0o666);
        await parent.check(temporaryName, handle);
        try {
          try {
            await handle.writeFile(content);
            if (mode !== undefined) await handle.chmod(mode);
            await handle.sync();
          } finally {
            await handle.close();
          }
          await rename(temporary, parent.entry(name));
        } catch (error) {
          // The first failure is the one to tell; a leftover temporary file is harmless.
          await unlink(temporary).catch(() => undefined);
          throw error;
        }
      }),

    makeDirectory: (path) =>
      guarded(path, async () => {
        const directory = await WorkspaceDirectory.open(realRoot, await visible(path), { create: true }).catch(
          (error: unknown) => {
            // A file in the last place is what stands in the way; further up it is a wrong path.
            throw errnoOf(error) === "ENOTDIR" ? new EffectError("AlreadyExists", `${path} is not a directory`) : error;
          },
        );
        await directory.close();
      }),

    async move(from, to) {
      await inParent(from, { follow: false, whole: true, create: false }, async (source, sourceName) => {
        const info = await lstat(source.entry(sourceName));
        await inParent(to, { follow: false, create: true }, (target, targetName) =>
          moveEntry(source.entry(sourceName), target.entry(targetName), info.isFile()),
        );
      });
    },

    async remove(path, options) {
      if ((await guarded(path, () => resolveInWorkspace(realRoot, path))) === ".") {
        throw new EffectError("AccessDenied", "the workspace root itself cannot be removed");
      }
      await inParent(path, { follow: false, whole: true, create: false }, async (parent, name) => {
        if (!(await lstat(parent.entry(name))).isDirectory()) return unlink(parent.entry(name));
        if (options.recursive) await emptyDirectory(parent, name, path, 0);
        await rmdir(parent.entry(name));
      });
    },
  };
}

function openRoot(root: string): string {
  try {
    const real = realpathSync(root);
    if (statSync(real).isDirectory()) return real;
    throw new EffectError("NotADirectory", `${root} is not a directory`);
  } catch (error) {
    throw fileError(error, root);
  }
}

async function guarded<Result>(path: string, action: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof SwappedPath)) throw fileError(error, path);
      if (attempt >= SWAP_ATTEMPTS) {
        throw new EffectError("OutsideWorkspace", `${path} was swapped for a symbolic link while it was opened`);
      }
    }
  }
}

function swapOn(code: string, path: string): (error: unknown) => never {
  return (error) => {
    throw errnoOf(error) === code ? new SwappedPath(path) : error;
  };
}

async function readAll(handle: FileHandle, path: string, maxBytes: number): Promise<Uint8Array> {
  const info = await handle.stat();
  if (info.isDirectory()) throw new EffectError("NotAFile", `${path} is a directory`);
  if (!info.isFile()) throw new EffectError("NotAFile", `${path} is not a regular file`);
  const tooLarge = (size: string) =>
    new EffectError("TooLarge", `${path} has ${size} bytes; at most ${maxBytes} are read at once`);
  if (info.size > maxBytes) throw tooLarge(String(info.size));
  // The size may be a lie (proc files) or change while we read, so the end of the file decides, within the bound.
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const expected = info.size > total ? info.size - total : READ_CHUNK_BYTES;
    const chunk = Buffer.allocUnsafe(Math.min(expected, maxBytes + 1 - total));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length);
    if (bytesRead === 0) return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, total);
    total += bytesRead;
    if (total > maxBytes) throw tooLarge(`more than ${maxBytes}`);
    chunks.push(chunk.subarray(0, bytesRead));
  }
}

async function listEntries(directory: WorkspaceDirectory, path: string): Promise<DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  for await (const entry of await opendir(directory.path, { bufferSize: 256 })) {
    if (entries.length >= MAX_LIST_ENTRIES) {
      throw new EffectError("TooLarge", `${path} has more than ${MAX_LIST_ENTRIES} entries`);
    }
    entries.push({ name: entry.name, kind: kindOf(entry) });
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The mode to keep, or undefined for a new file. Set-id bits are dropped, as the kernel does on any write. */
async function replaceableMode(parent: WorkspaceDirectory, name: string, path: string): Promise<number | undefined> {
  const info = await lstat(parent.entry(name)).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (info === undefined) return undefined;
  if (info.isSymbolicLink()) throw new SwappedPath(path);
  if (info.isDirectory()) throw new EffectError("NotAFile", `${path} is a directory`);
  if (!info.isFile()) throw new EffectError("NotAFile", `${path} is not a regular file`);
  // A rename would replace it whatever its mode says.
  if ((info.mode & 0o222) === 0) throw new EffectError("AccessDenied", `${path} is read-only`);
  return info.mode & 0o777;
}

/** A hard link is the one way to move a file that cannot overwrite; other kinds check first, then rename. */
async function moveEntry(from: string, to: string, isFile: boolean): Promise<void> {
  if (isFile) {
    const linked = await link(from, to).then(
      () => true,
      (error: unknown) => {
        if (errnoOf(error) === "EPERM" || errnoOf(error) === "ENOTSUP") return false;
        throw error;
      },
    );
    if (linked) return unlink(from);
  }
  const taken = await lstat(to).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (taken !== undefined) throw Object.assign(new Error("taken"), { code: "EEXIST" });
  await rename(from, to);
}

/** Walks by handle, so that a directory swapped for a symlink on the way is refused and not followed. */
async function emptyDirectory(parent: WorkspaceDirectory, name: string, path: string, depth: number): Promise<void> {
  if (depth >= MAX_REMOVE_DEPTH) {
    throw new EffectError("TooLarge", `${path} is nested deeper than ${MAX_REMOVE_DEPTH} directories`);
  }
  const directory = await parent.child(name, { create: false });
  try {
    for (const entry of await listEntries(directory, path)) {
      if (entry.kind === "directory") {
        await emptyDirectory(directory, entry.name, path, depth + 1);
        await rmdir(directory.entry(entry.name));
      } else {
        await unlink(directory.entry(entry.name));
      }
    }
  } finally {
    await directory.close();
  }
}

interface EntryKind {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

function kindOf(entry: EntryKind): FileInfo["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "symlink" : "other";
}

function fileInfo(info: EntryKind & { size: number; mtimeMs: number; mode: number }): FileInfo {
  return { kind: kindOf(info), sizeBytes: info.size, modifiedMs: info.mtimeMs, mode: info.mode & 0o7777 };
}
