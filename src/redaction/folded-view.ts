/**
 * A text as somebody reads it who looks for a secret that was taken apart: its letters and digits alone, in lower case. What `fold`,
 * `od`, `xxd` and their like put between the bytes is gone. Dumps are read by column, because the lines of one column follow each other.
 */

export interface FoldedView {
  readonly text: string;
  /** What is before it was looked at; absent: nothing was. */
  readonly from?: number;
  /** Where in the text that it was made from the character at `at` stands. */
  place(at: number): number;
}

/**
 * Of what begins at `from`: the text itself, and each column of the dumps in it. `final` as in `Probe`. `columnsOnly`: the text itself
 * is known to hold nothing.
 */
export function foldedViews(text: string, from: number, final: boolean, columnsOnly: boolean): FoldedView[] {
  const { bytes, characters } = dumpColumns(text, from, final);
  const ranges = [columnsOnly ? [] : [from, text.length], bytes, characters];
  return ranges.filter(({ length }) => length > 0).map((range) => viewOf(text, range));
}

/** What becomes of a character; 0 for those that are left out. */
const FOLDED = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  return /[A-Za-z0-9]/.test(char) ? char.toLowerCase().charCodeAt(0) : 0;
});

/** `ranges`: where each begins and ends, in order. */
function viewOf(text: string, ranges: readonly number[]): FoldedView {
  let most = 0;
  for (let at = 0; at < ranges.length; at += 2) most += ranges[at + 1]! - ranges[at]!;
  const codes = Buffer.allocUnsafe(most);
  const places = new Int32Array(most);
  let length = 0;
  for (let range = 0; range < ranges.length; range += 2) {
    const end = ranges[range + 1]!;
    for (let at = ranges[range]!; at < end; at++) {
      const code = text.charCodeAt(at);
      const folded = code < 128 ? FOLDED[code]! : 0;
      if (folded === 0) continue;
      codes[length] = folded;
      places[length] = at;
      length += 1;
    }
  }
  return { text: codes.toString("latin1", 0, length), place: (at) => places[at]! };
}

/** The first `chars` folded characters of what begins `back` of them in front of `after`. */
export function foldedHead(text: string, after: number, back: number, chars: number): string {
  let start = after;
  for (let left = back; left > 0 && start > 0; ) {
    start -= 1;
    if (foldedCode(text, start) !== 0) left -= 1;
  }
  let head = "";
  for (let at = start; at < text.length && head.length < chars; at++) {
    const code = foldedCode(text, at);
    if (code !== 0) head += String.fromCharCode(code);
  }
  return head;
}

function foldedCode(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < FOLDED.length ? FOLDED[code]! : 0;
}

interface DumpColumns {
  /** The bytes, as numbers or as characters. */
  readonly bytes: number[];
  /** The same bytes as text, at the end of each line. */
  readonly characters: number[];
}

/** How far back the line may begin in which `from` stands. */
const LOOK_BACK_CHARS = 128;

/** Of lines of `od`, `xxd` and `hexdump`. Empty where no line begins with an offset. */
function dumpColumns(text: string, from: number, final: boolean): DumpColumns {
  const columns: DumpColumns = { bytes: [], characters: [] };
  // Where its bytes are in the file, and the bytes. A longer line is not one of a dump.
  const dumpLine = /^([0-9A-Fa-f]{6,16})(:?)[ \t].{0,256}$/gm;
  dumpLine.lastIndex = Math.max(0, from - LOOK_BACK_CHARS, text.lastIndexOf("\n", from - 1) + 1);
  for (let line = dumpLine.exec(text); line !== null; line = dumpLine.exec(text)) {
    const [whole, offset, colon] = line;
    const end = line.index + whole.length;
    const start = line.index + offset!.length + 1;
    const isWhole = final || end < text.length;
    const gap = colon === ":" ? afterBytes(text, start, end) : beforeQuoted(text, start, end, isWhole);
    addRange(columns.bytes, from, start, gap);
    addRange(columns.characters, from, gap, end);
  }
  return columns;
}

/** `xxd` puts two spaces in front of the characters and one between the bytes. */
function afterBytes(text: string, start: number, end: number): number {
  const gap = text.indexOf("  ", start + 1);
  return gap < 0 || gap > end ? end : gap;
}

/** `hexdump -C` and `od -z` put quotes around the characters. In a line whose end is still to come, the first one counts. */
function beforeQuoted(text: string, start: number, end: number, isWhole: boolean): number {
  const last = text.charAt(end - 1);
  const line = text.slice(start, end);
  const gap = Math.max(
    !isWhole || last === "|" ? line.indexOf("  |") : -1,
    !isWhole || last === "<" ? line.indexOf("  >") : -1,
  );
  return gap < 0 ? end : start + gap;
}

function addRange(ranges: number[], from: number, start: number, end: number): void {
  if (end > from && end > start) ranges.push(Math.max(start, from), end);
}
