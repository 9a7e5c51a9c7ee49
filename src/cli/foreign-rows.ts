/**
 * Foreign text as rows of a screen. Each row begins with a prefix of ours and is shorter than the screen is wide, so that no text
 * can begin a row and imitate ours; a row that goes on with a line has another prefix than one that begins a line.
 */
import { visibleLine, visibleUnits } from "#base";
import type { QuestionScreen } from "./terminal.ts";

/** Before the rows of a text. */
export const BAR = "  │ ";
const GOES_ON = "  ↪ ";
const MIN_TEXT_COLUMNS = 8;

export type Screen = Pick<QuestionScreen, "columns" | "colour">;

export interface Row {
  readonly text: string;
  /** The line of the text ends here. */
  readonly endsLine: boolean;
}

/** Every line of the text. */
export function foreignRows(screen: Screen, text: string): Row[] {
  return text.split("\n").flatMap((line) => lineRows(screen, BAR, line));
}

/** One line behind a beginning of ours, whatever is in it. */
export function lineRows(screen: Screen, begin: string, line: string): Row[] {
  // The last column stays free: some terminals begin a row when it is filled.
  const width = Math.max(MIN_TEXT_COLUMNS, screen.columns - Math.max(columnsOf(begin), columnsOf(GOES_ON)) - 1);
  const pieces = wrapped(visibleLine(line), width);
  // On a narrow screen a long beginning has a row of its own.
  if (width === MIN_TEXT_COLUMNS && columnsOf(begin) > MIN_TEXT_COLUMNS) {
    const own = { text: begin.trimEnd(), endsLine: false };
    return [own, ...lineRows(screen, GOES_ON, line)];
  }
  return pieces.map((piece, at) => ({
    text: `${at === 0 ? begin : GOES_ON}${marked(screen, piece)}`,
    endsLine: at === pieces.length - 1,
  }));
}

/** Visible text in pieces of at most that many columns; nothing is lost, and no escape is cut. */
export function wrapped(visible: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  let columns = 0;
  for (const unit of visible.match(visibleUnits) ?? []) {
    const unitColumns = columnsOf(unit);
    if (columns > 0 && columns + unitColumns > width) {
      pieces.push(piece);
      piece = "";
      columns = 0;
    }
    piece += unit;
    columns += unitColumns;
  }
  return [...pieces, piece];
}

/** At least as many as any terminal takes for it. */
export function columnsOf(visible: string): number {
  let columns = 0;
  for (const character of visible) columns += (character.codePointAt(0) ?? 0) < WIDE_FROM || character === "⟨" ? 1 : 2;
  return columns;
}

/** Hangul; before it no character takes two columns. */
const WIDE_FROM = 0x1100;

/** What was written out stands out where there are colours. */
export function marked(screen: Pick<Screen, "colour">, visible: string): string {
  return visible.replace(/⟨U\+[0-9A-F]+⟩|[⇥⏎]/gu, (written) =>
    screen.colour ? `\u001b[7m${written}\u001b[27m` : written,
  );
}

/** Page by page; whoever has seen enough leaves. True when the last page was shown. */
export async function showPaged(
  screen: QuestionScreen,
  rows: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const pageRows = Math.max(1, screen.rows - 2);
  const pages = Math.ceil(rows.length / pageRows);
  for (let page = 0; page < pages; page++) {
    screen.show(`${rows.slice(page * pageRows, (page + 1) * pageRows).join("\n")}\n`);
    if (page === pages - 1) break;
    const long = `  page ${page + 1} of ${pages}: any key shows the next, [q] goes back > `;
    const prompt = long.length < screen.columns ? long : `  ${page + 1}/${pages}: any key: next, q: back > `;
    const answer = await screen.readKey(prompt, signal);
    if (answer.kind !== "key" || answer.key.toLowerCase() === "q") return false;
  }
  return true;
}
