/** Vim keys for the input: the commands people use most, on a text and a cursor. Pure; the editor does the typing and the undoing. */
import { once } from "#base";

export interface VimText {
  readonly text: string;
  /** The cursor, as an index of the text. */
  readonly at: number;
}

export interface Vim {
  readonly mode: "insert" | "normal";
  /** The beginning of a command: a count, an operator, a `g`. */
  readonly pending: string;
  /** What was deleted or yanked last. */
  readonly register: { readonly text: string; readonly isLines: boolean };
}

export type VimStep =
  /** `text`: absent when nothing has changed or moved. */
  { readonly vim: Vim; readonly text?: VimText } | { readonly vim: Vim; readonly wants: "undo" | "editor" };

export const newVim: Vim = { mode: "insert", pending: "", register: { text: "", isLines: false } };

const COMMAND = /^([1-9]\d{0,2})?(?:([dcy])([1-9]\d{0,2})?)?(gg|.)?$/u;
const MAX_COUNT = 200;
const SHORT: Readonly<Record<string, string>> = { x: "dl", D: "d$", C: "c$", s: "cl", S: "cc", Y: "yy" };

/** `key`: the character that was typed, or `escape`. */
export function vimKey(vim: Vim, before: VimText, key: string): VimStep {
  if (vim.mode === "insert") {
    if (key !== "escape") return { vim, wants: "editor" };
    const at = Math.max(lineStart(before), previous(before));
    return { vim: { ...vim, mode: "normal", pending: "" }, text: { ...before, at } };
  }
  const idle: Vim = { ...vim, pending: "" };
  if (key === "escape") return vim.pending === "" ? { vim, wants: "editor" } : { vim: idle };
  const typed = vim.pending + key;
  const written = vim.pending.replace(/\d/g, "") === "" ? vim.pending + (SHORT[key] ?? key) : typed;
  const match = COMMAND.exec(written);
  if (match === null) return { vim: idle };
  const [, count, operator, inner, what] = match;
  if (what === undefined || what === "g") return { vim: { ...vim, pending: typed } };
  const times = Math.min(MAX_COUNT, Number(count ?? 1) * Number(inner ?? 1));
  const step = operator === undefined ? plainCommand : operated;
  return step(idle, before, { operator: operator ?? "", what, times, isCounted: (count ?? inner) !== undefined });
}

interface Command {
  readonly operator: string;
  readonly what: string;
  readonly times: number;
  readonly isCounted: boolean;
}

function plainCommand(vim: Vim, before: VimText, command: Command): VimStep {
  const { text, at } = before;
  const insertAt = (place: number, made = text): VimStep => {
    return { vim: { ...vim, mode: "insert" }, text: { text: made, at: place } };
  };
  const opened = (place: number, cursor: number): VimStep => {
    return insertAt(cursor, `${text.slice(0, place)}\n${text.slice(place)}`);
  };
  switch (command.what) {
    case "i":
      return insertAt(at);
    case "a":
      return insertAt(at < lineEnd(before) ? next(before) : at);
    case "I":
      return insertAt(firstLetter(before));
    case "A":
      return insertAt(lineEnd(before));
    case "o":
      return opened(lineEnd(before), lineEnd(before) + 1);
    case "O":
      return opened(lineStart(before), lineStart(before));
    case "u":
      return { vim, wants: "undo" };
    case "p":
    case "P":
      return put(vim, before, command);
    default: {
      const target = moved(before, command);
      return target === undefined ? { vim } : { vim, text: onLetter({ text, at: target }) };
    }
  }
}

/** Deletes, changes or yanks. */
function operated(vim: Vim, before: VimText, command: Command): VimStep {
  const { operator, what } = command;
  const range = what === operator || LINEWISE.has(what) ? lineRange(before, command) : charRange(before, command);
  if (range === undefined) return { vim };
  const { from, to, isLines } = range;
  const { text } = before;
  const taken: Vim = { ...vim, register: { text: text.slice(from, to), isLines } };
  if (operator === "y") return { vim: taken, text: { text, at: isLines ? before.at : from } };
  const left = text.slice(0, from) + text.slice(to);
  if (operator === "c") return { vim: { ...taken, mode: "insert" }, text: { text: left, at: from } };
  if (!isLines) return { vim: taken, text: onLetter({ text: left, at: from }) };
  // The line goes with its end: the one after it, or before the last one.
  const rest = to < text.length ? text.slice(0, from) + text.slice(to + 1) : text.slice(0, Math.max(0, from - 1));
  const at = Math.min(from, rest.length);
  return { vim: taken, text: { text: rest, at: firstLetter({ text: rest, at }) } };
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly isLines: boolean;
}

const LINEWISE: ReadonlySet<string> = new Set(["j", "k", "gg", "G"]);

function lineRange(before: VimText, command: Command): Range | undefined {
  const isDoubled = command.what === command.operator;
  const times = isDoubled ? command.times - 1 : command.times;
  const target = times === 0 ? before.at : moved(before, { ...command, what: isDoubled ? "j" : command.what, times });
  if (target === undefined) return undefined;
  const [first, last] = [Math.min(before.at, target), Math.max(before.at, target)];
  return { from: lineStart({ ...before, at: first }), to: lineEnd({ ...before, at: last }), isLines: true };
}

function charRange(before: VimText, command: Command): Range | undefined {
  // To change a word leaves the blanks behind it.
  const isWordChange = command.operator === "c" && command.what === "w" && classAt(before.text, before.at) !== "blank";
  const what = isWordChange ? "e" : command.what;
  const target = moved(before, { ...command, what });
  if (target === undefined) return undefined;
  const from = Math.min(before.at, target);
  const last = Math.max(before.at, target);
  const to = what === "e" ? next({ ...before, at: last }) : last;
  const end = lineEnd(before);
  return { from, to: what === "w" && command.times === 1 ? Math.min(to, end) : to, isLines: false };
}

function put(vim: Vim, before: VimText, { what, times }: Command): VimStep {
  const { text, isLines } = vim.register;
  if (text === "") return { vim };
  const isBefore = what === "P";
  if (isLines) {
    const lines = Array.from({ length: times }, () => text).join("\n");
    const place = isBefore ? lineStart(before) : lineEnd(before);
    const added = isBefore ? `${lines}\n` : `\n${lines}`;
    const made = before.text.slice(0, place) + added + before.text.slice(place);
    return { vim, text: { text: made, at: firstLetter({ text: made, at: isBefore ? place : place + 1 }) } };
  }
  const place = isBefore || before.at === lineEnd(before) ? before.at : next(before);
  const added = text.repeat(times);
  const made = before.text.slice(0, place) + added + before.text.slice(place);
  return { vim, text: { text: made, at: previous({ text: made, at: place + added.length }) } };
}

/** Where a motion leads; undefined for a key that is none. */
function moved(before: VimText, { what, times, isCounted }: Command): number | undefined {
  const motion = MOTIONS[what];
  if (motion !== undefined) {
    let { at } = before;
    for (let left = times; left > 0; left--) at = motion({ ...before, at });
    return at;
  }
  if (what === "gg" || what === "G") {
    const lines = before.text.split("\n");
    const line = isCounted ? Math.min(times, lines.length) : what === "G" ? lines.length : 1;
    return lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  }
  return undefined;
}

const MOTIONS: Readonly<Record<string, (from: VimText) => number>> = {
  h: (from) => Math.max(lineStart(from), previous(from)),
  l: (from) => Math.min(lineEnd(from), next(from)),
  j: (from) => inLine(from, lineEnd(from) + 1),
  k: (from) => inLine(from, lineStart(from) - 1),
  "0": lineStart,
  "^": firstLetter,
  $: lineEnd,
  w({ text, at }) {
    const kind = classAt(text, at);
    let to = at;
    while (to < text.length && kind !== "blank" && classAt(text, to) === kind) to = next({ text, at: to });
    while (to < text.length && classAt(text, to) === "blank") to = next({ text, at: to });
    return to;
  },
  e({ text, at }) {
    let to = next({ text, at });
    while (to < text.length && classAt(text, to) === "blank") to = next({ text, at: to });
    const kind = classAt(text, to);
    for (let after = next({ text, at: to }); after < text.length && classAt(text, after) === kind; ) {
      to = after;
      after = next({ text, at: to });
    }
    return Math.min(to, previous({ text, at: text.length }));
  },
  b({ text, at }) {
    let to = previous({ text, at });
    while (to > 0 && classAt(text, to) === "blank") to = previous({ text, at: to });
    const kind = classAt(text, to);
    while (to > 0 && classAt(text, previous({ text, at: to })) === kind) to = previous({ text, at: to });
    return to;
  },
};

/** In the line of `place`, in the same column as far as it reaches; the same place when there is no such line. */
function inLine(from: VimText, place: number): number {
  if (place < 0 || place > from.text.length) return from.at;
  const there = { ...from, at: place };
  const wanted = Math.min(lineStart(there) + from.at - lineStart(from), lineEnd(there));
  // Never inside of a character.
  return wanted >= from.text.length ? wanted : previous({ ...from, at: wanted + 1 });
}

function classAt(text: string, at: number): "blank" | "word" | "sign" {
  const letter = text.codePointAt(at);
  if (letter === undefined || /\s/u.test(String.fromCodePoint(letter))) return "blank";
  return /[\p{L}\p{N}_]/u.test(String.fromCodePoint(letter)) ? "word" : "sign";
}

/** The cursor stands on a character, and on the end of a line only when that is empty. */
function onLetter(from: VimText): VimText {
  const isBehind = from.at === lineEnd(from) && from.at > lineStart(from);
  return isBehind ? { ...from, at: previous(from) } : from;
}

function lineStart({ text, at }: VimText): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

function lineEnd({ text, at }: VimText): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

function firstLetter(from: VimText): number {
  const start = lineStart(from);
  return start + (/^[^\S\n]*/.exec(from.text.slice(start))?.[0].length ?? 0);
}

/** Characters as people see them: of a flag or a family no half. */
const segmenter = once(() => new Intl.Segmenter(undefined, { granularity: "grapheme" }));

function next({ text, at }: VimText): number {
  const found = segmenter().segment(text).containing(at);
  return found === undefined ? text.length : found.index + found.segment.length;
}

function previous({ text, at }: VimText): number {
  return at <= 0
    ? 0
    : (segmenter()
        .segment(text)
        .containing(at - 1)?.index ?? 0);
}
