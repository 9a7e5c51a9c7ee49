import { expect, test } from "vitest";
import { argsWith, changeOf, textWith } from "./change.ts";

const edit = {
  name: "fs.edit",
  args: { path: "a.ts", old_text: "one\nsame\ntwo", new_text: "1\nsame\n2\n3" },
  before: undefined,
};

test("an edit has a hunk for each run of changed lines", () => {
  expect(changeOf(edit as never)?.hunks).toEqual([
    { from: 0, to: 2 },
    { from: 3, to: 6 },
  ]);
});

test("the call with some hunks changes only those; with all it is the same call", () => {
  const change = changeOf(edit as never);
  if (change === undefined) throw new Error("no change");
  expect(argsWith(edit as never, change, { 1: true })).toEqual({ ...edit.args, new_text: "one\nsame\n2\n3" });
  expect(argsWith(edit as never, change, { 0: true, 1: true })).toEqual(edit.args);
});

test("a whole file is compared with what it holds, to the byte", () => {
  const before = "a\r\nb\n";
  const change = changeOf({ name: "fs.write", args: { path: "a", content: "a\r\nc\nd" }, before } as never);
  if (change === undefined) throw new Error("no change");
  expect(textWith(change, {})).toBe(before);
  expect(textWith(change, { 0: true })).toBe("a\r\nc\nd");
});

test("a file that is not known is new, and other calls change no text", () => {
  const write = { name: "fs.write", args: { path: "a", content: "a\nb" } };
  expect(changeOf(write as never)).toMatchObject({ isNew: true, hunks: [{ from: 0, to: 2 }] });
  expect(changeOf({ name: "exec", args: { command: "ls" } } as never)).toBeUndefined();
});
