/**
 * Matching with `*` and `?` without regular expressions, in time bounded by the product of the two lengths. Not a path
 * glob: `*` crosses every character here, `/` included.
 */
import { matchStars } from "#base";

/** True when the whole `text` matches `pattern`, where `*` stands for any run of characters and `?` for one. */
export function matchWildcard(pattern: string, text: string): boolean {
  if (!pattern.includes("*") && !pattern.includes("?")) return pattern === text;
  return matchSequence([...pattern], [...text], "*", (part, char) => part === "?" || part === char);
}

/** The same over any two sequences; `isRun` is the element of `pattern` that stands for any run, also an empty one. */
export function matchSequence(
  pattern: readonly string[],
  items: readonly string[],
  isRun: string,
  same: (part: string, item: string, index: number) => boolean,
): boolean {
  return matchStars(pattern, items, (part) => part === isRun, same);
}

/**
 * The same with several kinds of runs, each of which takes only some items: `runOf` says what a part takes when it is one.
 * Follows every way to match at once, in time bounded by the product of both lengths.
 */
export function matchRuns(
  pattern: readonly string[],
  items: readonly string[],
  runOf: (part: string) => ((item: string, index: number) => boolean) | undefined,
  same: (part: string, item: string, index: number) => boolean,
): boolean {
  const runs = pattern.map(runOf);
  let reached = new Set<number>();
  const reach = (at: number, into: Set<number>): void => {
    for (let to = at; ; to++) {
      into.add(to);
      if (runs[to] === undefined) return;
    }
  };
  reach(0, reached);
  for (const [index, item] of items.entries()) {
    const next = new Set<number>();
    for (const at of reached) {
      const part = pattern[at];
      const run = runs[at];
      if (part === undefined) continue;
      if (run === undefined ? same(part, item, index) : run(item, index)) reach(run === undefined ? at + 1 : at, next);
    }
    if (next.size === 0) return false;
    reached = next;
  }
  return reached.has(pattern.length);
}

/** Longer patterns, as a product of their lengths, may always meet. */
const MAX_MEETING = 200_000;

/**
 * True when some name could match both patterns. Brackets count as "any one character", so the answer errs towards
 * true.
 */
export function globsMeet(left: string, right: string): boolean {
  const a = simplify(left);
  const b = simplify(right);
  if (a.length * b.length > MAX_MEETING) return true;
  const width = b.length + 1;
  const reachable = new Uint8Array((a.length + 1) * width);
  for (let i = a.length; i >= 0; i--) {
    for (let j = b.length; j >= 0; j--) {
      reachable[i * width + j] = meetsAt(a, b, i, j, (x, y) => reachable[x * width + y] === 1) ? 1 : 0;
    }
  }
  return reachable[0] === 1;
}

/** True when the word holds a character that a shell or a path glob gives a meaning to. */
export function hasGlob(text: string): boolean {
  return /[*?[{]/.test(text);
}

function meetsAt(
  a: readonly string[],
  b: readonly string[],
  i: number,
  j: number,
  rest: (i: number, j: number) => boolean,
): boolean {
  if (i === a.length && j === b.length) return true;
  const left = a[i];
  const right = b[j];
  if (left === "*" && (rest(i + 1, j) || (j < b.length && rest(i, j + 1)))) return true;
  if (right === "*" && (rest(i, j + 1) || (i < a.length && rest(i + 1, j)))) return true;
  if (left === undefined || right === undefined || left === "*" || right === "*") return false;
  return (left === "?" || right === "?" || left === right) && rest(i + 1, j + 1);
}

/** Each bracket becomes a `?`; one that is not closed stands for itself. */
function simplify(glob: string): string[] {
  const chars: string[] = [];
  for (let at = 0; at < glob.length; at++) {
    const close = glob[at] === "[" ? glob.indexOf("]", at) : -1;
    if (glob[at] === "[" && close < 0) return [...chars, ...glob.slice(at)];
    chars.push(close < 0 ? (glob[at] ?? "") : "?");
    if (close >= 0) at = close;
  }
  return chars;
}
