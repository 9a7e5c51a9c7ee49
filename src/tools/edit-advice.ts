/** Why a text to replace was not found, in terms the model can act on. Bounded work; it never changes anything. */
import { similarity } from "./near-names.ts";
import { cutLine, numberedLine, splitLines } from "./numbered-lines.ts";

const MAX_SCANNED_LINES = 10_000;
const MAX_WANTED_LINES = 200;
const MAX_COMPARED_CHARS = 120;
const MAX_SHOWN_LINES = 12;
const MAX_SIMILAR_LINES = 3;
const MAX_SHOWN_CHARS = 200;
const MIN_SIMILARITY = 0.6;

export function adviseNoMatch(text: string, oldText: string): string {
  const wanted = splitLines(oldText).slice(0, MAX_WANTED_LINES);
  if (wanted.length > 0 && wanted.every((line) => /^\s*\d+\t/.test(line))) {
    return "It begins with line numbers as fs.read shows them; leave those out.";
  }
  const lines = splitLines(text).slice(0, MAX_SCANNED_LINES);
  const at = findIgnoringSpace(lines, wanted);
  if (at !== -1) {
    const shown = lines.slice(at, at + Math.min(wanted.length, MAX_SHOWN_LINES));
    return `It differs only in white space from these lines:\n${numbered(shown, at)}`;
  }
  const similar = mostSimilar(lines, wanted);
  if (similar.length === 0) return "The file has no similar lines; read it again.";
  const shown = similar.map((index) => numbered(lines.slice(index, index + 1), index));
  return `The most similar lines are:\n${shown.join("\n")}`;
}

/** Index of the first run of lines equal to `wanted` but for white space; blank edges of `wanted` do not count. */
function findIgnoringSpace(lines: readonly string[], wanted: readonly string[]): number {
  const target = wanted.map(squeeze);
  while (target[0] === "") target.shift();
  while (target.at(-1) === "") target.pop();
  if (target.length === 0) return -1;
  const candidates = lines.map(squeeze);
  for (let at = 0; at + target.length <= candidates.length; at++) {
    if (target.every((line, index) => candidates[at + index] === line)) return at;
  }
  return -1;
}

/** Lines like the longest wanted one, which is the most telling; best first. */
function mostSimilar(lines: readonly string[], wanted: readonly string[]): number[] {
  const telling = wanted
    .map((line) => squeeze(line).slice(0, MAX_COMPARED_CHARS))
    .reduce((best, line) => (line.length > best.length ? line : best), "");
  return lines
    .map((line, index) => ({ index, score: similarity(telling, squeeze(line).slice(0, MAX_COMPARED_CHARS)) }))
    .filter(({ score }) => score >= MIN_SIMILARITY)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_SIMILAR_LINES)
    .map(({ index }) => index);
}

function squeeze(line: string): string {
  return line.trim().replace(/\s+/g, " ");
}

function numbered(lines: readonly string[], firstIndex: number): string {
  return lines.map((line, index) => numberedLine(cutLine(line, MAX_SHOWN_CHARS), firstIndex + index + 1)).join("\n");
}
