/**
 * Reads patterns such as `[^a-z]` in awk and sed the way every implementation does. Where implementations disagree on the
 * end of one, it gives no answer, so that a program with such a pattern asks.
 */

const CLASS = /\[:[a-z]+:\]/y;

/** The index behind the pattern that `mark` ends, for a pattern that begins at `start`; undefined when it is not certain. */
export function patternEnd(text: string, start: number, mark: string): number | undefined {
  let at = start;
  while (at < text.length) {
    const char = text[at];
    if (char === mark) return at + 1;
    if (char === "\n") return undefined;
    if (char === "\\") {
      if (at + 1 >= text.length || text[at + 1] === "\n") return undefined;
      at += 2;
    } else if (char === "[") {
      const end = bracketEnd(text, at, mark);
      if (end === undefined) return undefined;
      at = end;
    } else {
      at++;
    }
  }
  return undefined;
}

/**
 * Some programs ignore brackets when they look for the mark, some read `\]` as an escape, some take a leading `]` as the
 * end. An expression passes only when all of them see it closed before the mark.
 */
function bracketEnd(text: string, start: number, mark: string): number | undefined {
  let at = start + 1;
  if (text[at] === "^") at++;
  if (text[at] === "]") at++;
  while (at < text.length) {
    const char = text[at];
    if (char === "]") return at + 1;
    if (char === mark || char === "\n") return undefined;
    if (char === "\\") {
      if (/[[\]\n]/.test(text[at + 1] ?? "\n")) return undefined;
      at += 2;
    } else if (char === "[") {
      CLASS.lastIndex = at;
      const name = CLASS.exec(text)?.[0];
      if (name === undefined || name.includes(mark)) return undefined;
      at += name.length;
    } else {
      at++;
    }
  }
  return undefined;
}
