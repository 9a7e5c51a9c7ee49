/**
 * The YAML of most heads, lines of `key: plain text`, read without the parser, which takes a tenth of a millisecond for each file of a
 * start. Gives exactly what the parser gives, or nothing where a line could mean anything else.
 */
import type { MapEntry, MapTree } from "./yaml-tree.ts";

/** Larger heads are rare, and the parser has its bounds. */
const MAX_LINES = 40;
const LINE = /^([A-Za-z_][\w-]*): (.+)$/;
/** Printable characters; no line breaks of other kinds, no blanks of other kinds. */
const TEXT = /^[\x20-\x7e\u00c0-\u167f\u3041-\ud7ff]*$/;
/** Text that is neither a number nor a word of YAML, begins no other form, and has neither a comment nor a further key in it. */
const PLAIN = /^(?!(?:true|false|null)$)[A-Za-z](?:(?:(?!: | #).)*[^\s:])?$/i;
const QUOTED = /^(?:"[^"\\]*"|'[^']*')$/;
const WORDS = /^(?:true|false|null)$/i;

export function readPlainYaml(file: string, text: string): MapTree | undefined {
  const lines = text.split("\n");
  if (lines.length > MAX_LINES) return undefined;
  const entries = new Map<string, MapEntry>();
  for (const [index, line] of lines.entries()) {
    // Heads begin with the lines above them, so that places are those of the file.
    if (line === "") continue;
    const [, key = "", written = ""] = LINE.exec(line) ?? [];
    if (key === "" || WORDS.test(key) || entries.has(key) || !TEXT.test(written)) return undefined;
    const isQuoted = QUOTED.test(written);
    if (!isQuoted && !PLAIN.test(written)) return undefined;
    const at = (column: number) => ({ file, line: index + 1, column });
    const column = key.length + 3;
    const [place, textPlace] = [at(column), at(isQuoted ? column + 1 : column)];
    const value = isQuoted ? written.slice(1, -1) : written;
    const scalar = { kind: "scalar", value, place, textPlace, linesHold: true } as const;
    entries.set(key, { key, keyPlace: at(1), value: scalar });
  }
  const [first] = entries.values();
  return first === undefined ? undefined : { kind: "map", entries: [...entries.values()], place: first.keyPlace };
}
