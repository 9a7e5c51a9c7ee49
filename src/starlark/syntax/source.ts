/** A source text with its line table: turns offsets, which the tree holds, into positions, which people read. */
import type { Position } from "../errors.ts";

export interface SourceOptions {
  /** Line and column of the text's first character in the file that contains it, e.g. a block in a Markdown file. */
  readonly firstLine?: number;
  readonly firstColumn?: number;
}

export interface Source {
  readonly file: string;
  /** With all line ends as "\n". */
  readonly text: string;
  position(offset: number): Position;
}

/** Columns count code points; `firstColumn` shifts every line, as an indented block does. */
export function makeSource(file: string, raw: string, options: SourceOptions = {}): Source {
  const text = raw.includes("\r") ? raw.replace(/\r\n?/g, "\n") : raw;
  const firstLine = options.firstLine ?? 1;
  const firstColumn = options.firstColumn ?? 1;
  let starts: number[] | null = null;
  return {
    file,
    text,
    position(offset) {
      starts ??= lineStarts(text);
      let low = 0;
      let high = starts.length - 1;
      while (low < high) {
        const mid = (low + high + 1) >> 1;
        if ((starts[mid] ?? 0) <= offset) low = mid;
        else high = mid - 1;
      }
      const start = starts[low] ?? 0;
      return { file, line: firstLine + low, column: firstColumn + codePoints(text, start, offset) };
    },
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) starts.push(i + 1);
  return starts;
}

function codePoints(text: string, start: number, end: number): number {
  let n = 0;
  for (let i = start; i < end; i++) if ((text.charCodeAt(i) & 0xfc00) !== 0xdc00) n++;
  return n;
}
