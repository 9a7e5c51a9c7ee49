/** The bytes that change one row of the screen into another, with the cursor somewhere in it. Pure. */

const ESC = "\u001b";
const RESET = `${ESC}[0m`;
const ERASE_RIGHT = `${ESC}[K`;

/** Keeps what both rows begin with, as far as every terminal gives it the same width. */
export function rowChange(old: string, text: string): string {
  const { at: from, columns, styles } = commonPrefix(old, text);
  const on = styles.join("");
  const rest = text.slice(from);
  const isStyled = on !== "" || rest.includes(ESC);
  // A row ends without styles; what is longer than before covers what stood there.
  const reset = isStyled && !rest.endsWith(RESET) ? RESET : "";
  const erase = old.slice(from).replace(STYLE, "") === "" ? "" : ERASE_RIGHT;
  // Before the rest: at the end of a full row it would take the last character with it.
  return `\r${forward(columns)}${erase}${on}${rest}${reset}`;
}

const STYLE = new RegExp(`${ESC}\\[[0-9;]*m`, "g");
/** Plain characters and styles: what every terminal gives the same width. */
const UNIT = new RegExp(`${ESC}\\[([0-9;]*)m|[ -~]`, "y");

const PLAIN = new RegExp(`[${ESC} -~]`);

interface Prefix {
  /** Where the texts begin to differ. */
  readonly at: number;
  readonly columns: number;
  /** The styles that are on there. */
  readonly styles: readonly string[];
}

function commonPrefix(old: string, text: string): Prefix {
  let prefix: Prefix = { at: 0, columns: 0, styles: [] };
  let beforeLast = prefix;
  UNIT.lastIndex = 0;
  for (let unit = UNIT.exec(text); unit !== null && old.startsWith(unit[0], unit.index); unit = UNIT.exec(text)) {
    const { at, columns, styles } = prefix;
    const [found, codes] = unit;
    if (codes === undefined) beforeLast = prefix;
    prefix = {
      at: at + found.length,
      columns: columns + (codes === undefined ? 1 : 0),
      styles: codes === undefined ? styles : withStyle(styles, found, codes),
    };
  }
  // What follows may belong to the last character: an accent, the rest of an emoji.
  const isOpen = [old, text].some((row) => row.length > prefix.at && !PLAIN.test(row.charAt(prefix.at)));
  return isOpen ? beforeLast : prefix;
}

/** What each of these turns off, as it is turned on. */
const OFF: Readonly<Record<string, readonly string[]>> = { "22": ["1", "2"], "23": ["3"], "24": ["4"], "29": ["9"] };

function withStyle(styles: readonly string[], found: string, codes: string): readonly string[] {
  if (codes === "" || codes === "0") return [];
  const ended = OFF[codes] ?? [];
  const left = styles.filter((style) => !ended.some((code) => style === `${ESC}[${code}m`));
  // A longer style may have turned on the same: then nothing is left out.
  const isAlone = left.length < styles.length && !left.some((style) => style.includes(";"));
  return isAlone ? left : [...styles, found];
}

export function forward(columns: number): string {
  return columns <= 0 ? "" : `${ESC}[${columns}C`;
}
