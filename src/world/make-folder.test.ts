import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeFolder } from "./make-folder.ts";

const PATIENCE_MS = 20_000;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "harness-folder-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("makes those above it with the same mode, and leaves what is there as it is", () => {
  mkdirSync(join(root, "there"), { mode: 0o755 });
  makeFolder(join(root, "there", "a", "b"), 0o700);
  makeFolder(join(root, "there", "a", "b"), 0o711);
  const modes = ["there", "there/a", "there/a/b"].map((name) => statSync(join(root, name)).mode & 0o777);
  expect(modes).toEqual([0o755, 0o700, 0o700]);
});

test("says what is in the way", () => {
  writeFileSync(join(root, "file"), "");
  symlinkSync(join(root, "gone"), join(root, "dangling"));
  expect(() => makeFolder(join(root, "file"))).toThrow("EEXIST");
  expect(() => makeFolder(join(root, "file", "a", "b"))).toThrow("ENOTDIR");
  expect(() => makeFolder(join(root, "dangling"))).toThrow("EEXIST");
});

// In a process of its own: what goes round for ever there cannot be stopped from inside.
test.runIf(process.platform === "linux")("gives up where the system has no folders to make", async () => {
  const module = JSON.stringify(join(import.meta.dirname, "make-folder.ts"));
  const script = `import { makeFolder } from ${module}; makeFolder("/proc/nope/deeper");`;
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
    timeout: PATIENCE_MS,
    killSignal: "SIGKILL",
  });
  await expect(run).rejects.toMatchObject({ killed: false, stderr: expect.stringContaining("ENOENT") });
});
