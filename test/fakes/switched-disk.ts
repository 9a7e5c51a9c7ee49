/** A small disk that can be made read-only, or fail otherwise, while files on it are open: the passthrough of FUSE in front of a small disk. */
import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type MountedDisk, mountSmallDisk } from "./mounted-disk.ts";

const FUSE_TYPE = 0x65735546;
const LOOK_EVERY_MS = 20;
const MOUNT_PATIENCE_MS = 20_000;

export function mountSwitchedDisk(size = "8m"): MountedDisk {
  const behind = mountSmallDisk(size);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "harness-switched-")));
  const path = realpathSync(mkdtempSync(join(tmpdir(), "harness-fuse-")));
  const errorFile = join(folder, "error");
  const script = join(import.meta.dirname, "fuse-passthrough.ts");
  const server = spawn(process.execPath, [script, behind.path, path, errorFile], { stdio: "inherit" });
  server.unref();
  const failWith = (code: string): void => writeFileSync(errorFile, code);
  const unmount = (): void => {
    spawn("umount", ["-l", path]).unref();
    server.kill("SIGKILL");
    behind.unmount();
    rmSync(folder, { recursive: true, force: true });
  };
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; statfsSync(path).type !== FUSE_TYPE; waitedMs += LOOK_EVERY_MS) {
    if (waitedMs > MOUNT_PATIENCE_MS) {
      unmount();
      throw new Error("FUSE did not mount");
    }
    Atomics.wait(sleeper, 0, 0, LOOK_EVERY_MS);
  }
  return {
    ...behind,
    path,
    failWith,
    makeReadOnly: () => failWith("EROFS"),
    makeWritable: () => rmSync(errorFile, { force: true }),
    unmount,
  };
}
