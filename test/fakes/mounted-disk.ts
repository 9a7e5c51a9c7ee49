/** A real file system of a few megabytes that can be filled up, emptied and made read-only. Needs the right to mount. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, realpathSync, rmSync, statfsSync, truncateSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FILLER = "filler";
const FILL_CHUNK_BYTES = 4096;
const MAX_TRIES = 200;

export interface SmallDisk {
  readonly path: string;
  /** Not one more page fits afterwards, but for `leaveBytes`, in whole pages. */
  fill(leaveBytes?: number): void;
  /** Takes the filling out again. */
  makeRoom(): void;
  /** Only while nothing on it is open for writing, where the kind of disk says nothing else. */
  makeReadOnly(): void;
  makeWritable(): void;
}

export interface MountedDisk extends SmallDisk {
  /** Every write fails with this until `makeWritable`, also to files that are open. Only a switched disk can. */
  failWith?(code: "EROFS" | "EIO"): void;
  /** Lazily: a database that somebody left open does not keep it. */
  unmount(): void;
}

/** Why no disk can be mounted here; undefined when it can. */
export function whyNoDisk(mount: () => MountedDisk = () => mountSmallDisk("1m")): string | undefined {
  try {
    mount().unmount();
    return undefined;
  } catch (error) {
    return `a file system cannot be mounted here: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`;
  }
}

export function mountSmallDisk(size = "4m"): MountedDisk {
  const run = (...args: string[]): void => void execFileSync("mount", args, { stdio: "pipe" });
  return diskAt({
    mount: (path) => run("-t", "tmpfs", "-o", `size=${size},mode=0700`, "tmpfs", path),
    makeReadOnly: (path) => run("-o", "remount,ro", path),
    makeWritable: (path) => run("-o", "remount,rw", path),
  });
}

interface Mounting {
  mount(path: string): void;
  makeReadOnly(path: string): void;
  makeWritable(path: string): void;
  /** After it was unmounted. */
  remove?(): void;
}

export function diskAt({ mount, makeReadOnly, makeWritable, remove }: Mounting): MountedDisk {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "harness-disk-")));
  try {
    mount(path);
  } catch (error) {
    rmSync(path, { recursive: true, force: true });
    remove?.();
    throw error;
  }
  return {
    path,
    fill(leaveBytes = 0) {
      const filler = join(path, FILLER);
      const size = fillUp(filler);
      if (leaveBytes > 0) truncateSync(filler, Math.max(0, size - leaveBytes));
    },
    makeRoom() {
      rmSync(join(path, FILLER), { force: true });
      // The system may count what was freed a moment later.
      for (let tries = 0; statfsSync(path).bavail === 0 && tries < MAX_TRIES; tries++)
        execFileSync("sync", ["-f", path]);
    },
    makeReadOnly: () => makeReadOnly(path),
    makeWritable: () => makeWritable(path),
    unmount() {
      execFileSync("umount", ["-l", path]);
      rmSync(path, { recursive: true, force: true });
      remove?.();
    },
  };
}

/** The size of the file that takes all there is. */
function fillUp(path: string): number {
  const file = openSync(path, "a");
  let size = 0;
  try {
    for (let bytes = FILL_CHUNK_BYTES; bytes > 0; ) {
      try {
        size += writeSync(file, Buffer.alloc(bytes));
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
        bytes = Math.floor(bytes / 2);
      }
    }
  } finally {
    closeSync(file);
  }
  return size;
}
