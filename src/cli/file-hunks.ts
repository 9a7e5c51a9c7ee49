/** A file that waits for an ack as pieces that fit on a screen: what changed with a few lines around it, or the file page by page. */
import type { WaitingFile } from "#trust";
import { paint } from "./renderer.ts";
import { revealed, type Terminal } from "./terminal.ts";

const CONTEXT_LINES = 3;
const PAGE_LINES = 40;
/** Then the whole is shown instead of what changed. */
const DIFF_TIMEOUT_MS = 1000;
/** Both panes get at least 55 columns of text. */
const SIDE_BY_SIDE_COLUMNS = 120;

export interface Hunk {
  readonly title: string;
  /** As in a unified diff: the first character is the mark. */
  readonly lines: readonly string[];
}

export async function hunksOf({ change, text, acked }: WaitingFile): Promise<readonly Hunk[]> {
  if (change === "removed") return acked?.text === undefined ? [] : pages("-", acked.text, "acked");
  if (text === undefined) return [];
  if (change === "new" || acked?.text === undefined) return pages("+", text, change === "new" ? "[new file]" : "now");
  const { structuredPatch } = await import("diff");
  const patch = structuredPatch("acked", "now", acked.text, text, "", "", {
    context: CONTEXT_LINES,
    timeout: DIFF_TIMEOUT_MS,
  });
  if (patch === undefined) return pages("+", text, "now");
  if (patch.hunks.length === 0) {
    return [{ title: "only line ends or a byte order mark changed", lines: [] }];
  }
  return patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
    title: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    lines,
  }));
}

/** The whole difference as a patch, for other programs. */
export async function patchText({ file, text = "", acked }: WaitingFile): Promise<string> {
  const { createTwoFilesPatch } = await import("diff");
  const patch = createTwoFilesPatch(`acked/${file}`, `now/${file}`, acked?.text ?? "", text, "", "", {
    timeout: DIFF_TIMEOUT_MS,
  });
  return patch ?? `The two are too different to be compared.\n--- acked\n${acked?.text ?? ""}\n+++ now\n${text}\n`;
}

export function renderHunk(terminal: Pick<Terminal, "colour" | "columns">, hunk: Hunk, position: string): string {
  const title = paint(terminal, "dim", `  ${hunk.title} · ${position}`);
  const { columns } = terminal;
  const isWide = Number.isFinite(columns) && columns >= SIDE_BY_SIDE_COLUMNS;
  const isChange = hunk.lines.some((line) => line.startsWith("-")) && hunk.lines.some((line) => line.startsWith("+"));
  const lines =
    isWide && isChange ? sideBySide(terminal, hunk.lines, columns) : hunk.lines.map((line) => unified(terminal, line));
  return `${title}\n${lines.map((line) => `${line}\n`).join("")}`;
}

function unified(terminal: Pick<Terminal, "colour">, line: string): string {
  return coloured(terminal, line[0] ?? " ", `  ${revealed(line).replaceAll("\t", "    ")}`);
}

/** What was acked on the left, what is there now on the right. */
function sideBySide(terminal: Pick<Terminal, "colour">, lines: readonly string[], columns: number): string[] {
  const width = Math.floor((columns - 7) / 2);
  const rows: string[] = [];
  let left: string[] = [];
  let right: string[] = [];
  const flush = (): void => {
    for (let row = 0; row < Math.max(left.length, right.length); row++) {
      const [before, after] = [left[row], right[row]];
      const cells = wrap(before, width).map((cell) => coloured(terminal, "-", cell.padEnd(width)));
      const others = wrap(after, width).map((cell) => coloured(terminal, "+", cell));
      for (let at = 0; at < Math.max(cells.length, others.length); at++) {
        rows.push(`  ${cells[at] ?? " ".repeat(width)} │ ${others[at] ?? ""}`);
      }
    }
    left = [];
    right = [];
  };
  for (const line of lines) {
    const text = revealed(line.slice(1)).replaceAll("\t", "    ");
    if (line.startsWith("-")) left.push(text);
    else if (line.startsWith("+")) right.push(text);
    else {
      flush();
      for (const cell of wrap(text, width)) rows.push(`  ${cell.padEnd(width)} │ ${cell}`);
    }
  }
  flush();
  return rows;
}

/** Nothing is cut off: what does not fit goes on in the next row. */
function wrap(text: string | undefined, width: number): string[] {
  if (text === undefined) return [];
  const cells: string[] = [];
  for (let at = 0; at === 0 || at < text.length; at += width) cells.push(text.slice(at, at + width));
  return cells;
}

function coloured(terminal: Pick<Terminal, "colour">, mark: string, text: string): string {
  if (mark === "-") return paint(terminal, "red", text);
  return mark === "+" ? paint(terminal, "green", text) : text;
}

function pages(mark: "+" | "-", text: string, title: string): readonly Hunk[] {
  const lines = text.replace(/\n$/, "").split("\n");
  const starts = Array.from({ length: Math.ceil(lines.length / PAGE_LINES) }, (_, page) => page * PAGE_LINES);
  return starts.map((start) => {
    const shown = lines.slice(start, start + PAGE_LINES);
    return {
      title: `${title} lines ${start + 1}–${start + shown.length} of ${lines.length}`,
      lines: shown.map((line) => `${mark}${line}`),
    };
  });
}
