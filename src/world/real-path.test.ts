import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { realPath } from "./real-path.ts";

test("links above what is not there yet are resolved, and what cannot be looked at stays as it is", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "harness-real-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "real"));
  writeFileSync(join(root, "real/file"), "");
  symlinkSync("real", join(root, "link"));
  const names = ["link/file", "link/later/token", "gone/later", "real/file/below"].map((name) => join(root, name));
  expect(names.map(realPath)).toEqual(
    ["real/file", "real/later/token", "gone/later", "real/file/below"].map((name) => join(root, name)),
  );
  expect(realPath("/")).toBe("/");
});
