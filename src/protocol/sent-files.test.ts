import { expect, test } from "vitest";
import { displayText, ReasonError, SessionId } from "./index.ts";
import { parseCommand } from "./schemas.ts";

const session = SessionId.from("01JZ0000000000000000000000");
const file = (name: unknown, text: unknown) => ({ type: "file", name, text });
const parse = (...content: unknown[]) => parseCommand({ kind: "SendInput", session, content });

test.each(["notes.md", "Übersicht 2026.txt", ".gitignore", "a".repeat(255)])("a file named %s is an input", (name) => {
  expect(parse(file(name, "line\r\n\ttwo"))).toMatchObject({ content: [file(name, "line\r\n\ttwo")] });
});

const NAME = "no folders, and no control or hidden characters → at content[0].name";
const TEXT = "This is not UTF-8 text; only text files can be sent → at content[0].text";

test.each([
  ["a path", file("a/b.md", ""), NAME],
  ["a path of Windows", file("a\\b.md", ""), NAME],
  ["the folder above", file("..", ""), NAME],
  ["no name", file("", ""), NAME],
  ["a blank name", file("  ", ""), NAME],
  ["a name of several lines", file("a\nb", ""), NAME],
  ["a name that moves the cursor", file("a\u001b[2Jb", ""), NAME],
  ["a name that is read backwards", file("a\u202eb", ""), NAME],
  ["a name that is too long", file("a".repeat(256), ""), NAME],
  ["bytes that are no text", file("a", "PK\u0003\u0004\0"), TEXT],
  ["half a character", file("a", "\ud83d"), TEXT],
  ["no text", file("a", undefined), "content[0].text"],
  ["a text that is too large", file("a", "x".repeat(400_001)), "at most 400000 characters in all → at content"],
])("a file with %s is refused", (_, block, why) => {
  expect(() => parse(block)).toThrow(ReasonError);
  expect(() => parse(block)).toThrow(why);
});

test("the files of an input have their size in all", () => {
  const half = file("a", "x".repeat(200_000));
  expect(() => parse(half, half)).not.toThrow();
  expect(() => parse(half, half, file("b", "x"))).toThrow("at most 400000 characters in all");
});

test("people see its name and its size, and nothing hidden", () => {
  const content = [file("a\u202eb", "grüße"), { type: "text", text: "read it" }] as never;
  expect(displayText(content)).toBe("[file a⟨U+202E⟩b, 7 bytes]\nread it");
});
