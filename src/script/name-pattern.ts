/** Patterns for names as Go's `filepath.Match` has them: `*`, `?`, `[a-z]`, `[^a-z]` and `\` before a character. Linear enough. */
import { matchStars } from "#base";

type Piece = { readonly star: true } | { readonly star: false; matches(character: string): boolean };

/** Throws for a pattern that is not well-formed. */
export function compileNamePattern(pattern: string): (name: string) => boolean {
  const pieces = parse(pattern);
  return (name) =>
    matchStars(
      pieces,
      [...name],
      ({ star }) => star,
      (piece, character) => !piece.star && piece.matches(character),
    );
}

/** Does it hold anything but plain characters? */
export function isNamePattern(text: string): boolean {
  return /[*?[\\]/.test(text);
}

function parse(pattern: string): Piece[] {
  const characters = [...pattern];
  const pieces: Piece[] = [];
  for (let i = 0; i < characters.length; i++) {
    const c = characters[i] ?? "";
    if (c === "*") pieces.push({ star: true });
    else if (c === "?") pieces.push({ star: false, matches: () => true });
    else if (c === "[") {
      const { end, matches: inClass } = parseClass(characters, i, pattern);
      pieces.push({ star: false, matches: inClass });
      i = end;
    } else {
      if (c === "\\") i += 1;
      const literal = characters[i];
      if (literal === undefined) throw malformed(pattern);
      pieces.push({ star: false, matches: (other) => other === literal });
    }
  }
  return pieces;
}

function parseClass(
  characters: readonly string[],
  start: number,
  pattern: string,
): { end: number; matches(character: string): boolean } {
  let i = start + 1;
  const negated = characters[i] === "^";
  if (negated) i += 1;
  const ranges: [string, string][] = [];
  const next = (): string => {
    if (characters[i] === "\\") i += 1;
    const c = characters[i];
    if (c === undefined) throw malformed(pattern);
    i += 1;
    return c;
  };
  while (characters[i] !== "]" || ranges.length === 0) {
    const low = next();
    let high = low;
    if (characters[i] === "-" && characters[i + 1] !== "]") {
      i += 1;
      high = next();
    }
    ranges.push([low, high]);
  }
  return { end: i, matches: (c) => ranges.some(([low, high]) => low <= c && c <= high) !== negated };
}

function malformed(pattern: string): Error {
  return new Error(`the pattern ${JSON.stringify(pattern)} is not well-formed`);
}
