/** Text as the model sees it: lines with their numbers, cut to bounds. */
import { beginningOf } from "#base";

/** A longer line is cut, with a marker that says how much is missing. */
const MAX_LINE_CHARS = 2_000;
const NUMBER_WIDTH = 6;

/** Without line endings; a final newline opens no further line, and an empty text has no lines. */
export function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

export function numberedLine(line: string, number: number): string {
  return `${String(number).padStart(NUMBER_WIDTH)}\t${cutLine(line, MAX_LINE_CHARS)}`;
}

export function cutLine(line: string, maxChars: number): string {
  if (line.length <= maxChars) return line;
  const kept = beginningOf(line, maxChars);
  return `${kept}… [${line.length - kept.length} more characters]`;
}

/** One-based line of a position in a text. */
export function lineNumberAt(text: string, position: number): number {
  let number = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) number++;
  return number;
}
