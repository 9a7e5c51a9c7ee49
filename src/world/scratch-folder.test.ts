import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createScratchFolders } from "./scratch-folder.ts";

test("a scratch folder is private, goes when it is empty, and stays with files in it", () => {
  const base = mkdtempSync(join(tmpdir(), "harness-scratch-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const scratch = createScratchFolders(join(base, "scratch"));
  const folder = scratch.of("sess_1");
  scratch.open(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  writeFileSync(join(folder, "notes.md"), "x");
  scratch.close(folder);
  expect(existsSync(join(folder, "notes.md"))).toBe(true);
  rmSync(join(folder, "notes.md"));
  scratch.close(folder);
  expect(existsSync(folder)).toBe(false);
  scratch.close(folder);
});

test("other folders are neither made nor removed", () => {
  const base = mkdtempSync(join(tmpdir(), "harness-scratch-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const scratch = createScratchFolders(join(base, "scratch"));
  const folder = join(base, "project");
  scratch.open(folder);
  expect(existsSync(folder)).toBe(false);
  mkdirSync(folder);
  scratch.close(folder);
  scratch.close(join(base, "scratch/../project"));
  expect(existsSync(folder)).toBe(true);
});
