/** Pictures of the interface for the README and the guide, as SVG, from the committed screens of its tests. `node scripts/screenshots.ts`. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
/** With the columns and rows of the screen. */
const PICTURES = [
  ["showcase", 120, 40],
  ["undo", 80, 24],
  ["ack-change", 80, 24],
  ["search", 80, 24],
] as const;
const CELL = { width: 8.4, height: 18 } as const;
const PAD = 14;
const COLOURS: Readonly<Record<string, string>> = {
  fg1: "#f07178",
  fg2: "#a5d6a7",
  fg3: "#ffcb6b",
  fg4: "#82aaff",
  fg5: "#c792ea",
  fg6: "#89ddff",
  fg180: "#d7af87",
};

interface Run {
  readonly from: number;
  readonly to: number;
  readonly style: string;
}

for (const [name, columns, height] of PICTURES) {
  const text = readFileSync(join(root, "test/golden/tui", `${name}.txt`), "utf8");
  const head = `== ${columns}x${height} dark\n`;
  const begin = text.indexOf(head);
  if (begin < 0) throw new Error(`test/golden/tui/${name}.txt has no ${head.trim()}`);
  const section = text.slice(begin + head.length).split("\n\n== ")[0] ?? "";
  const [screen = "", styles = ""] = section.split("\n--\n");
  mkdirSync(join(root, "docs/images"), { recursive: true });
  writeFileSync(
    join(root, `docs/images/terminal-${name}.svg`),
    svg(screen.trimEnd().split("\n"), runsOf(styles), columns),
  );
}

/** `4: 1-60 dim, 62-70 bold+fg6`, by row. */
function runsOf(styles: string): ReadonlyMap<number, readonly Run[]> {
  const rows = [...styles.matchAll(/^(\d+): (.+)$/gm)].map(([, row, runs = ""]): [number, Run[]] => [
    Number(row),
    [...runs.matchAll(/(\d+)-(\d+) (\S+?)(?:,|$)/g)].map(([, from, to, style = ""]) => {
      return { from: Number(from), to: Number(to), style };
    }),
  ]);
  return new Map(rows);
}

function svg(rows: readonly string[], runs: ReadonlyMap<number, readonly Run[]>, columns: number): string {
  const width = columns * CELL.width + 2 * PAD;
  const height = rows.length * CELL.height + 2 * PAD;
  const texts = rows.flatMap((row, at) => rowTexts(row, at, runs.get(at + 1) ?? []));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">
<title>The terminal interface</title>
<rect width="100%" height="100%" rx="8" fill="#1b1f27"/>
${texts.join("\n")}
</svg>
`;
}

/** A piece of text for each run of one style; wide signs take two columns, as in the terminal. */
function rowTexts(row: string, at: number, runs: readonly Run[]): string[] {
  const y = PAD + at * CELL.height + CELL.height - 5;
  let column = 0;
  const pieces: { x: number; text: string; style: string; columns: number }[] = [];
  for (const { segment } of new Intl.Segmenter().segment(row)) {
    const cells = /\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hangul}/u.test(segment) ? 2 : 1;
    const style = runs.find(({ from, to }) => column + 1 >= from && column + 1 <= to)?.style ?? "";
    const last = pieces.at(-1);
    if (last?.style === style) {
      last.text += segment;
      last.columns += cells;
    } else pieces.push({ x: PAD + column * CELL.width, text: segment, style, columns: cells });
    column += cells;
  }
  return pieces
    .filter(({ text }) => text.trim() !== "")
    .map(({ x, text, style, columns }) => {
      const length = (columns * CELL.width).toFixed(1);
      return `<text x="${x.toFixed(1)}" y="${y}" textLength="${length}" xml:space="preserve" ${look(style)}>${escaped(text)}</text>`;
    });
}

function look(style: string): string {
  const parts = style.split("+");
  const colour = parts.map((part) => COLOURS[part]).find((known) => known !== undefined);
  const fill = colour ?? (parts.includes("dim") ? "#8b93a1" : "#e6e9ef");
  return `fill="${fill}"${parts.includes("bold") ? ' font-weight="bold"' : ""}${parts.includes("underline") ? ' text-decoration="underline"' : ""}`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
