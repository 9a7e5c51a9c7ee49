/** A copy is the same text, whatever its characters, and long texts are redacted as short ones are. */
import { expect, test } from "vitest";
import { ownCopy } from "./own-copy.ts";
import { createRedactor } from "./redactor.ts";

const LONG = 5_000;

test.each([
  ["letters", "a"],
  ["Latin-1", "é\u00ff\u0000"],
  ["other scripts", "пароль 漢字 "],
  ["pairs of surrogates", "🔑"],
  ["halves of pairs", "\ud83d\u0000\udd11x"],
])("a long text of %s is the same", (_, piece) => {
  const text = piece.repeat(LONG);
  expect(ownCopy(text) === text).toBe(true);
});

test.each(["plain ", "漢字 ", "\ud83d "])("a secret far behind %j is found where it is", (piece) => {
  const before = piece.repeat(LONG);
  const { text } = createRedactor().redact(`${before}password=n7R8wQz2v end`);
  expect(text === `${before}password=«redacted:password» end`).toBe(true);
});
