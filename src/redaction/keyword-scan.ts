/**
 * Finds all keywords in one pass over the text, whatever their number: an Aho–Corasick automaton as one table. Letters of ASCII
 * count as the same in both cases; whoever needs the case looks again at what was found. Texts meet few of its states, and each
 * is made when it is first met: a program that has just started does not wait for the others.
 */
export interface KeywordScan {
  /**
   * Calls `hit` for each keyword that ends in `text` behind `from`, in order, the longest first, and returns how many
   * characters at the end of the text could be the beginning of a keyword.
   */
  scan(text: string, from: number, hit: (keyword: number, at: number, after: number) => void): number;
}

const CHARACTERS = 65_536;
const FIRST_ROWS = 64;
/** Set in a state at which a keyword ends; the rest of the state is where its row begins. */
const ENDS = 1;
/** The row before it is of no node, so that 0 in the table can say that nobody has gone that way yet. */
const ROOT = 1;

/** What all keywords between two places of the sorted list begin with. */
interface Node {
  readonly first: number;
  readonly last: number;
  readonly depth: number;
  /** The node of the longest suffix that another keyword begins with. */
  readonly suffix: number;
  /** The keywords that end here, the longest first. */
  readonly endings: readonly number[];
}

/**
 * Keywords are in lower case, each of them once. `apart`: they are letters and digits, and are found wherever other characters stand
 * between theirs; then only `after` is right of what `hit` is told.
 */
export function createKeywordScan(keywords: readonly string[], apart = false): KeywordScan {
  const { symbols, codes } = assignSymbols(keywords);
  const passedOver = apart ? codes.push(-1) - 1 : -1;
  if (apart) for (let code = 0; code < CHARACTERS; code++) if (!isAlnum(code)) symbols[code] = passedOver;
  // A power of two, so that the number of a row is a shift away.
  const shift = Math.ceil(Math.log2(codes.length));
  const stride = 2 ** shift;
  const lengths = Uint16Array.from(keywords, ({ length }) => length);
  const sorted = keywords.toSorted();
  const numbers = new Map(keywords.map((keyword, number) => [keyword, number]));
  const root: Node = { first: 0, last: sorted.length, depth: 0, suffix: ROOT, endings: [] };
  const nodes: Node[] = [root, root];
  const start = (ROOT * stride) << 1;
  let table = new Int32Array(FIRST_ROWS * stride);

  /** The state behind a symbol: one character further in a keyword, or where the suffix would go. */
  function follow(node: number, symbol: number): number {
    const edge = node * stride + symbol;
    const known = table[edge]!;
    if (known !== 0) return known;
    if (symbol === passedOver) {
      table[edge] = (node * stride) << 1;
      return table[edge]!;
    }
    const elsewhere = node === ROOT ? start : follow(nodes[node]!.suffix, symbol);
    const to = symbol === 0 ? elsewhere : (grow(nodes[node]!, codes[symbol]!, elsewhere) ?? elsewhere);
    table[edge] = to;
    return to;
  }

  /** Adds the node behind one more character, where keywords go on with it. */
  function grow({ first, last, depth }: Node, code: number, elsewhere: number): number | undefined {
    const from = firstAtLeast(sorted, first, last, depth, code);
    const to = firstAtLeast(sorted, from, last, depth, code + 1);
    if (from === to) return undefined;
    const suffix = elsewhere >> (shift + 1);
    const inherited = nodes[suffix]!.endings;
    const own = sorted[from]!.length === depth + 1 ? numbers.get(sorted[from]!) : undefined;
    const endings = own === undefined ? inherited : [own, ...inherited];
    const row = nodes.push({ first: from, last: to, depth: depth + 1, suffix, endings }) - 1;
    if (nodes.length * stride > table.length) {
      const larger = new Int32Array(table.length * 2);
      larger.set(table);
      table = larger;
    }
    return ((row * stride) << 1) | (endings.length === 0 ? 0 : ENDS);
  }

  return {
    scan(text, from, hit) {
      let rows = table;
      let state = start;
      for (let at = from; at < text.length; at++) {
        const symbol = symbols[text.charCodeAt(at)]!;
        const next = rows[(state >> 1) + symbol]!;
        if (next === 0) {
          state = follow(state >> (shift + 1), symbol);
          rows = table;
        } else {
          state = next;
        }
        if ((state & ENDS) === 0) continue;
        const { endings } = nodes[state >> (shift + 1)]!;
        for (let index = 0; index < endings.length; index++) {
          const keyword = endings[index]!;
          hit(keyword, at + 1 - lengths[keyword]!, at + 1);
        }
      }
      return nodes[state >> (shift + 1)]!.depth;
    },
  };
}

/** Whether one of the words, which are in lower case, is in a text. */
export function createWordTest(words: readonly string[]): (text: string) => boolean {
  const { scan } = createKeywordScan(words);
  let found = false;
  const hit = (): void => {
    found = true;
  };
  return (text) => {
    found = false;
    scan(text, 0, hit);
    return found;
  };
}

/** Gives each character of the keywords a number from 1; 0 is for all that no keyword has. `codes` leads back. */
function assignSymbols(keywords: readonly string[]): { symbols: Uint16Array; codes: number[] } {
  const symbols = new Uint16Array(CHARACTERS);
  const codes = [-1];
  // By units of UTF-16, as texts are scanned.
  for (const char of new Set(keywords.join("").split(""))) {
    const code = char.charCodeAt(0);
    const symbol = codes.push(code) - 1;
    symbols[code] = symbol;
    if (code >= 97 && code <= 122) symbols[code - 32] = symbol;
  }
  return { symbols, codes };
}

function isAlnum(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

/** In the sorted list, the first word that has `code` or more at `depth`; one that ends there has less than any. */
function firstAtLeast(sorted: readonly string[], from: number, to: number, depth: number, code: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    const word = sorted[middle]!;
    if (depth < word.length && word.charCodeAt(depth) >= code) high = middle;
    else low = middle + 1;
  }
  return low;
}
