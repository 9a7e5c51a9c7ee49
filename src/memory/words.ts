/** Text as the words that memories are compared by: folded, split, without endings and without words that say nothing. */

/** The beginning of a text is looked at. */
const MAX_TEXT_CHARS = 32 * 1024;
const MAX_WORD_CHARS = 40;
const MARK = /\p{M}/gu;
const WORD = /[\p{L}\p{N}]+/gu;
/** `maxRetries`, `HTTPServer`. */
const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/** Stems in order, repeated ones included. */
export function wordsOf(text: string): readonly string[] {
  return writtenWordsOf(text).map(([word]) => word);
}

/** The same, each with what was written. */
export function writtenWordsOf(text: string): readonly (readonly [stem: string, written: string])[] {
  const words: [string, string][] = [];
  const folded = text.slice(0, MAX_TEXT_CHARS).normalize("NFKD").replace(MARK, "");
  for (const [run] of folded.matchAll(WORD)) {
    const parts = run.split(HUMP);
    for (const part of parts.length > 1 ? [run, ...parts] : parts) {
      const word = part.toLowerCase();
      if (word.length > MAX_WORD_CHARS || (word.length < 2 && !/\p{N}/u.test(word)) || EMPTY.has(word)) continue;
      words.push([stem(word), word]);
    }
  }
  return words;
}

/** Two neighbours written as one word, also those that say nothing alone: `on call` finds `oncall`, but `a pie` no `api`. */
export function joinedWordsOf(text: string): readonly string[] {
  const runs = [...text.slice(0, MAX_TEXT_CHARS).toLowerCase().matchAll(WORD)].map(([run]) => run);
  return runs.slice(1).flatMap((run, at) => (runs[at] === "a" ? [] : [stem(`${runs[at]}${run}`)]));
}

/** Of English words, so that forms of one word meet: `deployed` and `deploys`, `policies` and `policy`. */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  if (WHOLE.has(word.replace(/s$/, ""))) return word.replace(/s$/, "");
  const singular = word
    .replace(/ies$/, "y")
    .replace(/(ss|sh|ch|x|z)es$/, "$1")
    .replace(/([^sui])s$/, "$1");
  for (const [ending, instead] of ENDINGS) {
    const head = singular.slice(0, -ending.length);
    if (!singular.endsWith(ending) || head.length < 3 || !/[aeiouy]/.test(head)) continue;
    return last(`${head}${instead}`);
  }
  return last(singular);
}

/** What is left of them without their ending is another word. */
const WHOLE: ReadonlySet<string> = new Set(
  "docker folder header letter meter number order paper power production server user worker writer".split(" "),
);

const ENDINGS = [
  ["ization", "ize"],
  ["isation", "ize"],
  ["ational", "ate"],
  ["fulness", "ful"],
  ["ication", "y"],
  ["ation", "ate"],
  ["ments", ""],
  ["ment", ""],
  ["ness", ""],
  ["able", ""],
  ["ible", ""],
  ["ally", ""],
  ["ing", ""],
  ["ion", ""],
  ["ed", ""],
  ["er", ""],
  ["or", ""],
  ["ly", ""],
  ["al", ""],
] as const;

/** `stopp` and `stop`, `cache` and `cach`, `policy` and `polici` meet. */
function last(word: string): string {
  return word
    .replace(/([bdfgklmnprt])\1$/, "$1")
    .replace(/y$/, "i")
    .replace(/(?<=.{3})(?:at)?e$/, "")
    .replace(/(?<=.{3})at$/, "");
}

const EMPTY: ReadonlySet<string> = new Set(
  `a about after again all also am an and any anybody are as ask at be because been before being but by call can cannot
  could did do does doing done down each else ever every few for from get gets getting give go goes going good got had
  has have having he help her here him his how if in into is it its itself just know let like look looks made make makes
  may me might more most much must my need needs no not now of off ok on once one only onto or other our out over own
  please put really said same say see set she should show so some someone something still such take tell than that the
  their them then there these they thing things this those though through to too try until up us use used uses using
  very via want wants was way we well were what when where whether which while who whom whose why will with without work
  would yet you your`.split(/\s+/),
);
