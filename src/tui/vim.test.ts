/** Vim keys on texts: each row types keys into a text in normal mode; `|` is the cursor. */
import { expect, test } from "vitest";
import { newVim, type Vim, type VimText, vimKey } from "./vim.ts";

function type(shown: string, keys: string): { shown: string; vim: Vim; wants: readonly string[] } {
  let vim: Vim = { ...newVim, mode: "normal" };
  let text: VimText = { text: shown.replace("|", ""), at: shown.indexOf("|") };
  const wants: string[] = [];
  for (const key of keys.match(/<esc>|./gsu) ?? []) {
    const step = vimKey(vim, text, key === "<esc>" ? "escape" : key);
    vim = step.vim;
    if ("wants" in step) wants.push(step.wants);
    else text = step.text ?? text;
    if ("wants" in step && step.wants === "editor" && vim.mode === "insert") {
      text = { text: text.text.slice(0, text.at) + key + text.text.slice(text.at), at: text.at + key.length };
    }
  }
  return { shown: `${text.text.slice(0, text.at)}|${text.text.slice(text.at)}`, vim, wants };
}

test.each([
  ["one |two", "h", "one| two"],
  ["one tw|o", "l", "one tw|o"],
  ["a🚀|b", "h", "a|🚀b"],
  ["|🚀b", "l", "🚀|b"],
  ["ab|c\nd\nefg", "j", "abc\n|d\nefg"],
  ["a|b\n🚀x\nc", "j", "ab\n|🚀x\nc"],
  ["abc\nd\nef|g", "k", "abc\n|d\nefg"],
  ["|one, two", "w", "one|, two"],
  ["|one, two\nthree", "3w", "one, two\n|three"],
  ["one, |two", "bb", "|one, two"],
  ["|one two", "ee", "one tw|o"],
  ["  on|e", "0", "|  one"],
  ["  on|e", "^", "  |one"],
  ["|one\ntwo", "$", "on|e\ntwo"],
  ["a\nb\n|c", "gg", "|a\nb\nc"],
  ["|a\nb\nc", "G", "a\nb\n|c"],
  ["|a\nb\nc", "2G", "a\n|b\nc"],
  ["o|ne", "x", "o|e"],
  ["on|e", "x", "o|n"],
  ["|abc", "2x", "|c"],
  ["a|🚀b", "x", "a|b"],
  ["a\n|b\nc", "dd", "a\n|c"],
  ["a\n|b", "dd", "|a"],
  ["|only", "dd", "|"],
  ["|a\nb\nc", "2dd", "|c"],
  ["|a\nb\nc", "dj", "|c"],
  ["a |two three", "dw", "a |three"],
  ["one |two\nx", "dw", "one| \nx"],
  ["one tw|o", "db", "one |o"],
  ["|one two", "de", "| two"],
  ["one |two", "D", "one| "],
  ["on|e two", "d0", "|e two"],
  ["|one two", "cwnew<esc>", "ne|w two"],
  ["a\no|ne\nb", "ccx<esc>", "a\n|x\nb"],
  ["|one\ntwo", "yyp", "one\n|one\ntwo"],
  ["one\n|two", "yyP", "one\n|two\ntwo"],
  ["|ab", "xp", "b|a"],
  ["|one two", "yw$p", "one twoone| "],
  ["a|b", "iX<esc>", "a|Xb"],
  ["|ab", "aX<esc>", "a|Xb"],
  ["a|b", "AX<esc>", "ab|X"],
  [" a|b", "IX<esc>", " |Xab"],
  ["|a\nb", "oX<esc>", "a\n|X\nb"],
  ["a\n|b", "OX<esc>", "a\n|X\nb"],
  ["|one two", "d<esc>w", "one |two"],
  ["|one", "dz", "|one"],
  ["|one", "z", "|one"],
])("%j, %s: %j", (before, keys, after) => {
  expect(type(before, keys).shown).toBe(after);
});

test("u asks for an undo, Esc in normal mode and every key in insert mode are the editor's", () => {
  expect(type("|a", "u").wants).toEqual(["undo"]);
  expect(type("|a", "<esc>").wants).toEqual(["editor"]);
  expect(type("|a", "ix").wants).toEqual(["editor"]);
});

test("any keys on any text leave the cursor on a character of it", () => {
  const keys = "hjklwbe0^$gGxdcypPuiaoOAIDCsSY23é🚀 ";
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  for (let round = 0; round < 300; round++) {
    const letters = Array.from({ length: random(20) }, () => [..."ab ,\n🚀語"][random(7)] ?? "");
    const before = letters.slice(0, random(letters.length + 1)).join("");
    const typed = Array.from({ length: 12 }, () =>
      random(8) === 0 ? "<esc>" : ([...keys][random(keys.length)] ?? "x"),
    ).join("");
    const { shown } = type(`${before}|${letters.join("").slice(before.length)}`, typed);
    expect(shown).toContain("|");
    // No half of a rocket.
    expect(shown.isWellFormed()).toBe(true);
  }
});
