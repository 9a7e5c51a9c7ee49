/** A file that waits for an ack as pages that fit on a screen: what changed with a few lines around it, or the whole file. */

import { paint, visibleLine } from "#base";
import type { WaitingFile } from "#program";
import { columnsOf, lineRows, marked, type Screen, wrapped } from "./foreign-rows.ts";
import type { QuestionScreen } from "./terminal.ts";

const CONTEXT_LINES = 3;
/** What else stands on the screen: the name of the file, what it is, how it changed, the title and the keys. */
const OTHER_ROWS = 9;
const PAGE_ROWS_MIN = 3;
/** Then the whole is shown instead of what changed. */
const DIFF_TIMEOUT_MS = 1000;
/** Both panes get at least 55 columns of text. */
const SIDE_BY_SIDE_COLUMNS = 120;

interface Hunk {
  readonly title: string;
  /** As in a unified diff: the first character is the mark. */
  readonly lines: readonly string[];
  /** Of the whole file. */
  readonly isPart?: boolean;
}

/** `isWhole`: the pages show the whole file, not a difference. */
export interface FilePages {
  readonly pages: readonly string[];
  readonly isWhole: boolean;
}

/** No page is longer than the screen, however long the lines and hunks are. */
export async function pagesOf(screen: QuestionScreen, waiting: WaitingFile): Promise<FilePages> {
  const room = Math.max(PAGE_ROWS_MIN, screen.rows - OTHER_ROWS);
  const hunks = await hunksOf(waiting, room);
  const parts = hunks.flatMap(({ title, lines }) => {
    const rows = renderedRows(screen, lines);
    const starts = Array.from({ length: Math.max(1, Math.ceil(rows.length / room)) }, (_, page) => page * room);
    return starts.map((start) => ({
      title: start === 0 ? title : `${title} (continued)`,
      rows: rows.slice(start, start + room),
    }));
  });
  return {
    isWhole: hunks.every(({ isPart = false }) => isPart),
    pages: parts.map(({ title, rows }, at) => {
      const head = paint(screen, "dim", `  ${title} · page ${at + 1} of ${parts.length}`);
      return `${[head, ...rows].join("\n")}\n`;
    }),
  };
}

async function hunksOf({ change, text, acked }: WaitingFile, pageLines: number): Promise<readonly Hunk[]> {
  if (change === "removed") return acked?.text === undefined ? [] : pages("-", acked.text, "acked", pageLines);
  if (text === undefined) return [];
  if (change === "new" || acked?.text === undefined)
    return pages("+", text, change === "new" ? "[new file]" : "now", pageLines);
  const { structuredPatch } = await import("diff");
  const patch = structuredPatch("acked", "now", acked.text, text, "", "", {
    context: CONTEXT_LINES,
    timeout: DIFF_TIMEOUT_MS,
  });
  if (patch === undefined) return pages("+", text, "now", pageLines);
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

function renderedRows(screen: Screen, lines: readonly string[]): readonly string[] {
  const isWide = Number.isFinite(screen.columns) && screen.columns >= SIDE_BY_SIDE_COLUMNS;
  const isChange = lines.some((line) => line.startsWith("-")) && lines.some((line) => line.startsWith("+"));
  return isWide && isChange ? sideBySide(screen, lines) : lines.flatMap((line) => unified(screen, line));
}

function unified(screen: Screen, line: string): string[] {
  const mark = line[0] ?? " ";
  return lineRows(screen, `  │ ${mark}`, line.slice(1)).map(({ text }) => coloured(screen, mark, text));
}

/** What was acked on the left, what is there now on the right. */
function sideBySide(screen: Screen, lines: readonly string[]): string[] {
  const width = Math.floor((screen.columns - 10) / 2);
  const cellsOf = (text: string | undefined): string[] => (text === undefined ? [] : wrapped(visibleLine(text), width));
  const cell = (text: string): string => marked(screen, text) + " ".repeat(Math.max(0, width - columnsOf(text)));
  const rows: string[] = [];
  let left: string[] = [];
  let right: string[] = [];
  const flush = (): void => {
    for (let row = 0; row < Math.max(left.length, right.length); row++) {
      const [before, after] = [cellsOf(left[row]), cellsOf(right[row])];
      for (let at = 0; at < Math.max(before.length, after.length); at++) {
        const bar = at === 0 ? "│" : "↪";
        rows.push(
          `  ${bar} ${coloured(screen, "-", cell(before[at] ?? ""))} ${bar} ${coloured(screen, "+", marked(screen, after[at] ?? ""))}`,
        );
      }
    }
    left = [];
    right = [];
  };
  for (const line of lines) {
    if (line.startsWith("-")) left.push(line.slice(1));
    else if (line.startsWith("+")) right.push(line.slice(1));
    else {
      flush();
      for (const [at, text] of cellsOf(line.slice(1)).entries()) {
        const bar = at === 0 ? "│" : "↪";
        rows.push(`  ${bar} ${cell(text)} ${bar} ${marked(screen, text)}`);
      }
    }
  }
  flush();
  return rows;
}

function coloured(screen: Screen, mark: string, text: string): string {
  if (mark === "-") return paint(screen, "red", text);
  return mark === "+" ? paint(screen, "green", text) : text;
}

function pages(mark: "+" | "-", text: string, title: string, pageLines: number): readonly Hunk[] {
  const lines = text.replace(/\n$/, "").split("\n");
  const starts = Array.from({ length: Math.ceil(lines.length / pageLines) }, (_, page) => page * pageLines);
  return starts.map((start) => {
    const shown = lines.slice(start, start + pageLines);
    return {
      title: `${title} lines ${start + 1}–${start + shown.length} of ${lines.length}`,
      lines: shown.map((line) => `${mark}${line}`),
      isPart: true,
    };
  });
}
