/**
 * Finds all keywords in one pass over the text, whatever their number: an Aho–Corasick automaton as one table. Letters of ASCII
 * count as the same in both cases; whoever needs the case looks again at what was found.
 */

export interface KeywordScan {
  /**
   * Calls `hit` for each keyword that ends in `text` behind `from`, in order, the longest first, and returns how many
   * characters at the end of the text could be the beginning of a keyword.
   */
  scan(text: string, from: number, hit: (keyword: number, at: number, after: number) => void): number;
}

const CHARACTERS = 65_536;
const MAX_SYMBOLS = 255;

/** Keywords are in lower case. */
export function createKeywordScan(keywords: readonly string[]): KeywordScan {
  const symbols = new Uint8Array(CHARACTERS);
  const stride = assignSymbols(symbols, keywords);
  const { next, outputs, depths } = buildTable(buildTree(keywords, symbols), stride);
  const lengths = keywords.map((keyword) => keyword.length);
  return {
    scan(text, from, hit) {
      let state = 0;
      for (let at = from; at < text.length; at++) {
        state = next[(state >> 1) + symbols[text.charCodeAt(at)]!]!;
        if ((state & ENDS) === 0) continue;
        const output = outputs[(state >> 1) / stride]!;
        for (let index = 0; index < output.length; index++) {
          const keyword = output[index]!;
          hit(keyword, at + 1 - lengths[keyword]!, at + 1);
        }
      }
      return depths[(state >> 1) / stride]!;
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

/** Set in a state at which a keyword ends; the rest of the state is where its row begins. */
const ENDS = 1;

/** Gives each character of the keywords a number from 1; 0 is for all that no keyword has. Returns how many there are. */
function assignSymbols(symbols: Uint8Array, keywords: readonly string[]): number {
  let count = 1;
  for (const keyword of keywords) {
    for (let at = 0; at < keyword.length; at++) {
      const code = keyword.charCodeAt(at);
      if (symbols[code] !== 0) continue;
      // More than that would be secrets in many scripts: the last number is then shared, and hits are looked at again.
      if (count < MAX_SYMBOLS) count += 1;
      symbols[code] = count - 1;
      if (code >= 97 && code <= 122) symbols[code - 32] = count - 1;
    }
  }
  return count;
}

/** Nodes by number, the root is 0: each has its first child and its next sibling, and 0 for none. */
interface Tree {
  readonly count: number;
  readonly firstChild: Int32Array;
  readonly sibling: Int32Array;
  /** By which symbol a node is reached. */
  readonly symbol: Uint8Array;
  /** The keywords that end at a node. */
  readonly endings: (readonly number[] | undefined)[];
}

function buildTree(keywords: readonly string[], symbols: Uint8Array): Tree {
  const most = keywords.reduce((sum, { length }) => sum + length, 1);
  const firstChild = new Int32Array(most);
  const sibling = new Int32Array(most);
  const symbol = new Uint8Array(most);
  const endings: (readonly number[] | undefined)[] = [];
  let count = 1;
  keywords.forEach((keyword, number) => {
    let node = 0;
    for (let at = 0; at < keyword.length; at++) {
      const wanted = symbols[keyword.charCodeAt(at)]!;
      let child = firstChild[node]!;
      while (child !== 0 && symbol[child] !== wanted) child = sibling[child]!;
      if (child === 0) {
        child = count++;
        symbol[child] = wanted;
        sibling[child] = firstChild[node]!;
        firstChild[node] = child;
      }
      node = child;
    }
    endings[node] = [...(endings[node] ?? []), number];
  });
  return { count, firstChild, sibling, symbol, endings };
}

/**
 * One row for each node, and in it where each symbol leads: to a child, or to where the longest suffix of what leads here would
 * go. Rows are filled the shorter first, so that the row of the suffix is there to copy.
 */
function buildTable({ count, firstChild, sibling, symbol, endings }: Tree, stride: number) {
  const next = new Int32Array(count * stride);
  const depths = new Uint16Array(count);
  const suffix = new Int32Array(count);
  const queue = new Int32Array(count);
  let last = 1;
  for (let first = 0; first < last; first++) {
    const node = queue[first]!;
    const row = node * stride;
    const fallback = suffix[node]! * stride;
    if (node !== 0) next.copyWithin(row, fallback, fallback + stride);
    for (let child = firstChild[node]!; child !== 0; child = sibling[child]!) {
      const edge = row + symbol[child]!;
      const elsewhere = node === 0 ? 0 : (next[edge]! >> 1) / stride;
      suffix[child] = elsewhere;
      depths[child] = depths[node]! + 1;
      const inherited = endings[elsewhere];
      if (inherited !== undefined) endings[child] = [...(endings[child] ?? []), ...inherited];
      next[edge] = ((child * stride) << 1) | (endings[child] === undefined ? 0 : ENDS);
      queue[last++] = child;
    }
  }
  return { next, outputs: endings, depths };
}
