import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isInside, realPath } from "./real-path.ts";

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

test("what is inside a folder is what the way from it says, however either is written", () => {
  const names = [
    "",
    "/",
    "/w",
    "/w/",
    "/w/.",
    "/w/a",
    "/w/a/b",
    "/wa",
    "/w/..",
    "/w/../x",
    "/w/a/../..",
    "/w/..a",
    "w",
    "w/a",
    ".",
  ];
  for (const folder of names) {
    for (const path of names) {
      const way = relative(folder, path);
      const expected = way !== ".." && !way.startsWith("../") && !isAbsolute(way);
      expect([folder, path, isInside(folder, path)]).toEqual([folder, path, expected]);
    }
  }
});
