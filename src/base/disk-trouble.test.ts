import { describe, expect, test } from "vitest";
import { diskTrouble, diskTroubleText } from "./disk-trouble.ts";

const coded = (code: string, cause?: unknown): Error => Object.assign(new Error("no", { cause }), { code });

describe("trouble of a disk", () => {
  test.each([
    ["ENOSPC", "full"],
    ["EDQUOT", "quota"],
    ["EROFS", "read-only"],
    ["EIO", "failing"],
    ["SQLITE_FULL", "full"],
    ["SQLITE_READONLY", "read-only"],
    ["SQLITE_READONLY_DBMOVED", "read-only"],
    ["SQLITE_IOERR_WRITE", "failing"],
  ])("%s is %s, also as the cause of another error", (code, trouble) => {
    expect(diskTrouble(coded(code))).toBe(trouble);
    expect(diskTrouble(new Error("outer", { cause: coded("X", coded(code)) }))).toBe(trouble);
  });

  test.each(["ENOENT", "EACCES", "SQLITE_BUSY", "SQLITE_CORRUPT", "SQLITE_CONSTRAINT_UNIQUE"])("%s is none", (code) => {
    expect(diskTrouble(coded(code))).toBeUndefined();
  });

  test("says what happened, where, and what to do, in its own words for each", () => {
    const texts = (["full", "quota", "read-only", "failing"] as const).map((kind) => diskTroubleText(kind, "/x/log"));
    expect(texts).toEqual([
      "/x/log: no space is left on the disk. Free some space there; work goes on by itself, without a restart",
      expect.stringContaining("quota"),
      expect.stringContaining("Mount it writable again"),
      expect.stringContaining("I/O error"),
    ]);
  });

  test("an error that causes itself ends", () => {
    const circle = new Error("circle");
    circle.cause = circle;
    expect(diskTrouble(circle)).toBeUndefined();
  });
});
