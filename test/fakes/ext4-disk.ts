/** A real ext4 of a few megabytes on a loop device, which the kernel can be told to give up as it does after an error of the device. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { diskAt, type MountedDisk } from "./mounted-disk.ts";

const SIZE_BYTES = 24 * 1024 * 1024;

/**
 * `makeReadOnly` aborts its journal: what was not synced is lost, and every write fails with EROFS, also to files that are open.
 * `makeWritable` repairs it; until then nobody may have a file of it open.
 */
export function mountExt4Disk(): MountedDisk {
  const folder = mkdtempSync(join(tmpdir(), "harness-ext4-"));
  let image = join(folder, "image");
  writeFileSync(image, "");
  truncateSync(image, SIZE_BYTES);
  const run = (program: string, ...args: string[]): void => void execFileSync(program, args, { stdio: "pipe" });
  try {
    run("mkfs.ext4", "-q", "-m", "0", image);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  return diskAt({
    mount: (path) => run("mount", "-o", "loop", image, path),
    makeReadOnly: (path) => run("mount", "-o", "remount,abort", path),
    makeWritable(path) {
      run("umount", path);
      // A process with mounts of its own may still hold what was given up: what is mounted now has to be another one.
      copyFileSync(image, `${image}+`);
      image = `${image}+`;
      // 1: there was something to repair.
      run("sh", "-c", 'e2fsck -fp "$1" || test $? -eq 1', "sh", image);
      run("mount", "-o", "loop", image, path);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  });
}
