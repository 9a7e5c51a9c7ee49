/** `string`: what the methods of strings lack, and some of them as functions. Characters are code points. */
import { integerOf, textOf, textsOf } from "../arguments.ts";
import { everyone, type FunctionRow, module, row } from "./definition.ts";

const MAX_WIDTH = 1_000_000;
/** Characters worked on for one step of the script's account. */
const CHARS_PER_STEP = 64;

function mapped(name: string, meaning: string, map: (s: string) => string): FunctionRow {
  return row(`${name}(s)`, "string", meaning).runs((args, _call, host) => {
    const text = textOf(args, "s");
    host.charge(text.length / CHARS_PER_STEP);
    return map(text);
  });
}

function padded(name: "pad_left" | "pad_right", meaning: string): FunctionRow {
  return row(`${name}(s, width, char?=" ")`, "string", meaning).runs((args) => {
    const [text, width, char] = [textOf(args, "s"), integerOf(args, "width"), textOf(args, "char")];
    if ([...char].length !== 1) throw new Error("char must be one character");
    if (width > MAX_WIDTH) throw new Error(`width must be at most ${MAX_WIDTH}`);
    const fill = char.repeat(Math.max(0, width - [...text].length));
    return name === "pad_left" ? fill + text : text + fill;
  });
}

/** At most `count` characters; the ellipsis is among them where it fits. */
export function truncated(text: string, count: number, ellipsis: string): string {
  if (count < 0) throw new Error("n must not be negative");
  if (text.length <= count) return text;
  const characters = [...text];
  if (characters.length <= count) return text;
  const end = [...ellipsis];
  if (end.length >= count) return characters.slice(0, count).join("");
  return characters.slice(0, count - end.length).join("") + ellipsis;
}

export const string = module("string", "Text", everyone, [
  mapped("upper", "The string in upper case.", (s) => s.toUpperCase()),
  mapped("lower", "The string in lower case.", (s) => s.toLowerCase()),
  mapped("trim", "The string without white space at both ends.", (s) => s.trim()),
  row("split(s, sep)", "list", "The parts between the separators. An empty separator splits into characters.").runs(
    (args, _call, host) => {
      const [text, separator] = [textOf(args, "s"), textOf(args, "sep")];
      host.charge(text.length / CHARS_PER_STEP);
      host.alloc(text.length);
      return separator === "" ? [...text] : text.split(separator);
    },
  ),
  row("join(parts, sep)", "string", "The parts with the separator between them.").runs((args, _call, host) => {
    const [parts, separator] = [textsOf(args, "parts"), textOf(args, "sep")];
    host.alloc(parts.reduce((sum, part) => sum + part.length + separator.length, 0));
    return parts.join(separator);
  }),
  row(
    'truncate(s, n, ellipsis?="…")',
    "string",
    "At most `n` characters. If the string is longer, it is cut and ends with the ellipsis, which counts.",
  ).runs((args) => truncated(textOf(args, "s"), integerOf(args, "n"), textOf(args, "ellipsis"))),
  padded("pad_left", "Padded on the left to `width` characters."),
  padded("pad_right", "Padded on the right to `width` characters."),
]);
