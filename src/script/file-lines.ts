/** Lines of a text, from 1 and both ends included. A newline at the end ends the last line and begins no other. */

export interface Lines {
  readonly lines: readonly string[];
  readonly endsWithNewline: boolean;
}

export function splitLines(text: string): Lines {
  if (text === "") return { lines: [], endsWithNewline: true };
  const endsWithNewline = text.endsWith("\n");
  return { lines: (endsWithNewline ? text.slice(0, -1) : text).split("\n"), endsWithNewline };
}

/** The text with lines `start` to `end` replaced; `end` below `start` inserts before `start`. */
export function withLines(text: string, start: number, end: number, content: string): string {
  const { lines, endsWithNewline } = splitLines(text);
  const inserted = content === "" ? [] : splitLines(content).lines;
  const all = [...lines.slice(0, start - 1), ...inserted, ...lines.slice(end)];
  if (all.length === 0) return "";
  return all.join("\n") + (endsWithNewline || end >= lines.length ? "\n" : "");
}

/** Throws unless 1 <= start <= end <= count. */
export function checkRange(start: number, end: number, count: number): void {
  if (start < 1 || end < start || end > count) {
    throw new Error(`lines ${start} to ${end} are not in a file of ${count} lines`);
  }
}
