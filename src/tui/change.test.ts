import fc from "fast-check";
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

test("an edit whose place is known stands in its file, and a hunk of it is whole lines there", () => {
  const before = "zero\nlet one = 1;\nsame\nlet two = 2;\nend\n";
  const asked = {
    name: "fs.edit",
    args: { path: "a.ts", old_text: "one = 1;\nsame\nlet two", new_text: "uno = 1;\nsame\nlet dos" },
    before,
  };
  const change = changeOf(asked as never);
  if (change === undefined) throw new Error("no change");
  expect(change).toMatchObject({ isPiece: false, edited: { from: 1, to: 6 } });
  expect(textWith(change, {})).toBe(before);
  expect(argsWith(asked as never, change, { 1: true })).toEqual({
    path: "a.ts",
    old_text: "let one = 1;\nsame\nlet two = 2;",
    new_text: "let one = 1;\nsame\nlet dos = 2;",
  });
});

test("each choice of hunks of an edit makes exactly that of the file", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", "\n"), { maxLength: 24 }).map((signs) => signs.join(""));
  fc.assert(
    fc.property(text, text, text, text, fc.nat(255), (ahead, old, behind, replacement, choice) => {
      const before = `${ahead}<${old}>${behind}`;
      const args = { path: "a", old_text: `<${old}>`, new_text: `<${replacement}>` };
      const asked = { name: "fs.edit", args, before } as never;
      const change = changeOf(asked);
      if (change === undefined) throw new Error("no change");
      const verdicts = Object.fromEntries(change.hunks.map((_, at) => [at, ((choice >> at) & 1) === 1]));
      const { old_text, new_text } = argsWith(asked, change, verdicts) as Record<string, string>;
      expect(before.split(old_text ?? "")).toHaveLength(2);
      expect(before.replace(old_text ?? "", () => new_text ?? "")).toBe(textWith(change, verdicts));
    }),
  );
});

test("an edit of several places, or of a text that has changed, stands alone", () => {
  const of = (before: string, more: object = {}) => {
    const args = { path: "a", old_text: "x", new_text: "y", ...more };
    return changeOf({ name: "fs.edit", args, before } as never)?.isPiece;
  };
  expect([of("x"), of("x\nx"), of("z"), of("x", { all: true })]).toEqual([false, true, true, true]);
});
