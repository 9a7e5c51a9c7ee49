/**
 * A directory of the workspace held open by handle, so that what happens in it cannot be led elsewhere by swapping a
 * path component for a symlink. On Linux entries are reached through `/proc/self/fd/<n>/`, which is what `openat` would
 * do; without it the real path is compared after opening, which narrows the gap but does not close it.
 */
import { existsSync } from "node:fs";
import { constants, type FileHandle, lstat, mkdir, open, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { errnoOf } from "#base";

const HANDLE_PATHS = "/proc/self/fd";

/** A path component changed between looking and opening. Worth another try: the rightful owner may have done it. */
export class SwappedPath extends Error {
  override readonly name = "SwappedPath";
}

export class WorkspaceDirectory {
  readonly #handle: FileHandle;
  readonly #real: string;
  readonly #byHandle: boolean;

  private constructor(handle: FileHandle, real: string, byHandle: boolean) {
    this.#handle = handle;
    this.#real = real;
    this.#byHandle = byHandle;
  }

  /** Opens `relative` (as resolved, without symlinks) below `root`. The caller closes it. */
  static async open(root: string, relative: string, options: { create: boolean }): Promise<WorkspaceDirectory> {
    const handle = await open(root, constants.O_RDONLY | constants.O_DIRECTORY);
    let directory = new WorkspaceDirectory(handle, root, existsSync(HANDLE_PATHS));
    for (const name of relative === "." ? [] : relative.split(sep)) {
      const parent = directory;
      try {
        directory = await parent.child(name, options);
      } finally {
        await parent.close();
      }
    }
    return directory;
  }

  /** The directory itself, through its handle where the system can. */
  get path(): string {
    return this.#byHandle ? `${HANDLE_PATHS}/${this.#handle.fd}` : this.#real;
  }

  /** An entry of the directory; `name` is one path component. */
  entry(name: string): string {
    return `${this.path}/${name}`;
  }

  /** Opens the subdirectory `name`, made first when it is missing and `create` is set. A symlink there is a swap. */
  async child(name: string, options: { create: boolean }): Promise<WorkspaceDirectory> {
    const handle = await this.#openChild(name, options.create);
    await this.check(name, handle);
    return new WorkspaceDirectory(handle, join(this.#real, name), this.#byHandle);
  }

  /** Makes sure that an open handle is the entry `name`; closes it and throws when it is not. Free by handle. */
  async check(name: string, handle: FileHandle): Promise<void> {
    if (this.#byHandle) return;
    const path = join(this.#real, name);
    const [opened, found, real] = await Promise.all([handle.stat(), stat(path), realpath(path)]);
    if (real === path && opened.dev === found.dev && opened.ino === found.ino) return;
    await handle.close();
    throw new SwappedPath(path);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async #openChild(name: string, create: boolean): Promise<FileHandle> {
    const path = this.entry(name);
    try {
      return await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    } catch (error) {
      const code = errnoOf(error);
      // Depending on the system, O_NOFOLLOW with O_DIRECTORY answers either errno for a symlink.
      if ((code === "ELOOP" || code === "ENOTDIR") && (await lstat(path)).isSymbolicLink()) throw new SwappedPath(path);
      if (code !== "ENOENT" || !create) throw error;
    }
    await mkdir(path).catch((error: unknown) => {
      if (errnoOf(error) !== "EEXIST") throw error;
    });
    return this.#openChild(name, false);
  }
}
