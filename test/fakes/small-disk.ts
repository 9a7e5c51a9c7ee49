/** A real file system of a few megabytes that can be filled up, emptied and made read-only. Needs the right to mount. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, statfsSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const FILLER = "filler";
const FILL_CHUNK_BYTES = 4096;
const MAX_TRIES = 200;

export interface SmallDisk {
  readonly path: string;
  /** Not one more page fits afterwards. */
  fill(): void;
  /** Takes the filling out again. */
  makeRoom(): void;
  /** Only while nothing on it is open for writing. */
  makeReadOnly(): void;
}

/** Why no disk can be mounted here; undefined when it can. */
export function whyNoDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "harness-mount-"));
  try {
    mount(folder, "1m");
    execFileSync("umount", [folder], { stdio: "pipe" });
    return undefined;
  } catch (error) {
    return `a file system cannot be mounted here: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Gone when the test is over. */
export function createSmallDisk(size = "4m"): SmallDisk {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "harness-disk-")));
  mount(path, size);
  onTestFinished(() => {
    // Lazy: a database that the test left open must not keep it.
    execFileSync("umount", ["-l", path]);
    rmSync(path, { recursive: true, force: true });
  });
  return {
    path,
    fill() {
      const file = openSync(join(path, FILLER), "a");
      try {
        for (let bytes = FILL_CHUNK_BYTES; bytes > 0; ) {
          try {
            writeSync(file, Buffer.alloc(bytes));
          } catch (error) {
            if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
            bytes = Math.floor(bytes / 2);
          }
        }
      } finally {
        closeSync(file);
      }
    },
    makeRoom() {
      rmSync(join(path, FILLER));
      // The system may count what was freed a moment later.
      for (let tries = 0; statfsSync(path).bavail === 0 && tries < MAX_TRIES; tries++)
        execFileSync("sync", ["-f", path]);
    },
    makeReadOnly: () => void execFileSync("mount", ["-o", "remount,ro", path]),
  };
}

function mount(path: string, size: string): void {
  mkdirSync(path, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=0700`, "tmpfs", path], { stdio: "pipe" });
}
