/**
 * What the model was shown of a file may have `«redacted:KIND»` where a secret stands. Writing that back would destroy the secret:
 * a text with a mark that the file itself does not have is refused.
 */
import { markerPattern } from "#base";
import { ToolError } from "#engine";

/**
 * For a text that replaces all of `before`: each mark may be in it as often as it was. Throws a ToolError otherwise. An empty
 * `before` is a new file, into which nothing that was only shown is copied either.
 */
export function refuseRedactionMarks(path: string, before: string, text: string): void {
  const spare = new Map<string, number>();
  for (const mark of marksOf(before)) spare.set(mark, (spare.get(mark) ?? 0) + 1);
  for (const mark of marksOf(text)) {
    const left = (spare.get(mark) ?? 0) - 1;
    if (left < 0) throw shownMark(path, mark);
    spare.set(mark, left);
  }
}

/** For a text that goes into a part of the file, which was named word by word: marks that the file has may be in it. */
export function refuseForeignMarks(path: string, file: string, text: string): void {
  const foreign = foreignMark(file, text);
  if (foreign !== undefined) throw shownMark(path, foreign);
}

/** Why an exact text that was copied from a result is not in the file; undefined where marks are not the reason. */
export function adviseRedactionMark(file: string, wanted: string): string | undefined {
  const mark = foreignMark(file, wanted);
  if (mark === undefined) return undefined;
  return `${mark} stands for a secret that you were not shown: name only text around it, or ask the user to change it.`;
}

function shownMark(path: string, mark: string): ToolError {
  return new ToolError(
    `${path} was not changed: the text holds ${mark}, which is not in the file. It stands for a secret that you were not ` +
      "shown, and writing it would put these words in its place. Change the other parts with fs.edit and leave the lines " +
      "with the secret alone, or ask the user to change them.",
    "InvalidArguments",
  );
}

function foreignMark(file: string, text: string): string | undefined {
  return [...new Set(marksOf(text))].find((mark) => !file.includes(mark));
}

function marksOf(text: string): string[] {
  return Array.from(text.matchAll(markerPattern()), ([mark]) => mark);
}
