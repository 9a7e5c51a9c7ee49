/**
 * A text as whoever reads its strings sees it: without the escapes of JSON and of most languages. Notations that are found in a file
 * are found in it as well when it was put into a string, and again when that was.
 */

export interface UnescapedView {
  readonly text: string;
  /** Where in the text that it was made from the character at `at` begins; at the end of the view, where that text ends. */
  place(at: number): number;
}

const ESCAPES = /\\(?:["\\/nrt]|u[0-9A-Fa-f]{4})/g;
/** Without one of these, nothing is hidden in a string. */
const STRING_ESCAPE = /\\(?:["nt]|u00[0-9A-Fa-f]{2})/;
const CONTROLS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** Undefined for a text without escapes. */
export function unescapedView(source: string): UnescapedView | undefined {
  if (!STRING_ESCAPE.test(source)) return undefined;
  const parts: string[] = [];
  /** Behind each escape: how far the view is, and how far the source. */
  const viewed: number[] = [0];
  const read: number[] = [0];
  let length = 0;
  let last = 0;
  for (const { 0: written, index } of source.matchAll(ESCAPES)) {
    parts.push(source.slice(last, index), meaning(written));
    length += index - last + 1;
    last = index + written.length;
    viewed.push(length);
    read.push(last);
  }
  parts.push(source.slice(last));
  return {
    text: parts.join(""),
    place(at) {
      let low = 0;
      let high = viewed.length;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (viewed[middle]! <= at) low = middle;
        else high = middle;
      }
      return read[low]! + at - viewed[low]!;
    },
  };
}

function meaning(written: string): string {
  const kind = written.charAt(1);
  if (kind === "u") return String.fromCharCode(Number.parseInt(written.slice(2), 16));
  return CONTROLS[kind] ?? kind;
}
