/**
 * An answer as rows: Markdown, and what of it is final while the rest still streams: all blocks but the last, and of a fence of code
 * each finished line. Pure.
 */
import { visibleProse } from "#base";
import type { RowStyle } from "./block-rows.ts";
import { codeRows } from "./code-rows.ts";
import type { CodeCarry } from "./code-spans.ts";
import type { Role } from "./theme.ts";
import type { AnswerBlock } from "./transcript.ts";

/** A fence whose first lines are final. */
export interface OpenFence {
  /** Three or more of one sign. */
  readonly marker: string;
  readonly indent: number;
  readonly carry: CodeCarry | undefined;
}

const OPENING = /^( {0,3})(`{3,}|~{3,})([^\n`]*)\n/;
const INDENT = "  ";

/** Without `fence` from the beginning of a block on, otherwise from the beginning of a line in it. */
export function answerRows(text: string, style: RowStyle, fence?: OpenFence): string[] {
  if (fence === undefined) return markdownRows(text, style);
  const { lines, rest } = splitAtClosing(text, fence);
  const last = lines.at(-1);
  // The end of the text, and a closing fence that is on its way.
  const inside = rest === undefined && isBeginOf(last ?? "", fence) ? lines.slice(0, -1) : lines;
  return [...fencedRows(inside, fence, style).rows, ...(rest === undefined ? [] : markdownRows(rest, style))];
}

/** The rows that are final and not printed yet, and the answer in which they are. */
export function finalRows(
  answer: AnswerBlock,
  style: RowStyle,
): { readonly rows: string[]; readonly answer: AnswerBlock } {
  const inside = answer.fence === undefined ? { rows: [], answer } : finalCode(answer, answer.fence, style);
  if (inside.answer.fence !== undefined) return inside;
  const text = inside.answer.text.slice(inside.answer.printed);
  const { done, isCodeLast } = finishedMarkdown(text, style);
  const rows = [...inside.rows, ...markdownRows(done, style)];
  const after = { ...inside.answer, printed: inside.answer.printed + done.length };
  const opening = isCodeLast ? OPENING.exec(text.slice(done.length)) : null;
  if (opening === null) return { rows, answer: after };
  const [whole, indent = "", marker = "", name = ""] = opening;
  const fence = { marker, indent: indent.length, carry: style.widgets.codeCarry(name) };
  const open = finalCode({ ...after, printed: after.printed + whole.length }, fence, style);
  // A fence without a finished line may still become something else.
  if (open.rows.length === 0) return { rows, answer: after };
  return { rows: [...rows, "", ...open.rows], answer: open.answer };
}

function finalCode(answer: AnswerBlock, fence: OpenFence, style: RowStyle): ReturnType<typeof finalRows> {
  const text = answer.text.slice(answer.printed);
  const finished = text.slice(0, text.lastIndexOf("\n") + 1);
  if (finished === "") return { rows: [], answer: { ...answer, fence } };
  const { lines, rest } = splitAtClosing(finished, fence);
  const { rows, after } = fencedRows(rest === undefined ? lines.slice(0, -1) : lines, fence, style);
  if (rest === undefined) {
    return {
      rows,
      answer: { ...answer, printed: answer.printed + finished.length, fence: { ...fence, carry: after } },
    };
  }
  const { fence: _closed, ...open } = answer;
  const printed = answer.printed + finished.length - rest.length;
  return { rows, answer: { ...open, printed } };
}

/** The lines of the code, and what stands behind the line that closes it. */
function splitAtClosing(text: string, { marker }: OpenFence): { lines: readonly string[]; rest: string | undefined } {
  const lines = text.split("\n");
  const closing = new RegExp(`^ {0,3}${marker.slice(0, 1)}{${marker.length},}[ \\t]*$`);
  const at = lines.findIndex((line) => closing.test(line));
  return at < 0 ? { lines, rest: undefined } : { lines: lines.slice(0, at), rest: lines.slice(at + 1).join("\n") };
}

function isBeginOf(line: string, { marker }: OpenFence): boolean {
  return line.length < marker.length && marker.startsWith(line);
}

/** Without the marks of the fence: code is what is indented. */
function fencedRows(lines: readonly string[], { indent, carry }: OpenFence, style: RowStyle) {
  const own = lines.map((line) => {
    const spaces = /^ */.exec(line)?.[0].length ?? 0;
    return visibleProse(line.slice(Math.min(indent, spaces))).replaceAll("\t", "   ");
  });
  const { rows, after } = codeRows(own, carry, style);
  return { rows: rows.flatMap((row, at) => wrappedCode(row, own[at] ?? "", style)), after };
}

/** What does not fit continues further in than its line begins. */
function wrappedCode(row: string, text: string, style: RowStyle): string[] {
  const { wrapTextWithAnsi, visibleWidth } = style.widgets;
  if (visibleWidth(text) <= style.columns - INDENT.length) return [fitted(`${INDENT}${row}`, style)];
  const spaces = /^ */.exec(text)?.[0] ?? "";
  const own = spaces.length < style.columns / 2 && row.startsWith(spaces) ? spaces : "";
  const columns = Math.max(1, style.columns - own.length - 2 * INDENT.length);
  return wrapTextWithAnsi(row.slice(own.length), columns).map((part, at) => {
    return fitted(`${INDENT}${own}${at === 0 ? "" : INDENT}${part}`, style);
  });
}

function fitted(row: string, { widgets, columns }: RowStyle): string {
  return widgets.truncateToWidth(row.trimEnd(), columns);
}

function markdownRows(text: string, style: RowStyle): string[] {
  const tokens = style.widgets.lexer(text);
  const rows: string[] = [];
  let prose = "";
  for (const { type, raw } of tokens) {
    const opening = type === "code" ? OPENING.exec(raw) : null;
    if (opening === null) {
      prose += raw;
      continue;
    }
    const [whole, indent = "", marker = "", name = ""] = opening;
    const fence = { marker, indent: indent.length, carry: style.widgets.codeCarry(name) };
    const { lines, rest } = splitAtClosing(raw.slice(whole.length), fence);
    const code = rest === undefined && isBeginOf(lines.at(-1) ?? "", fence) ? lines.slice(0, -1) : lines;
    rows.push(...proseRows(prose, style), "", ...fencedRows(code, fence, style).rows);
    prose = "";
  }
  return [...rows, ...proseRows(prose, style)];
}

function proseRows(text: string, style: RowStyle): string[] {
  const own = text.replace(/^\n+/, "");
  if (own.trim() === "") return [];
  // What the model writes must not reach the terminal as a sequence of its own.
  const rows = new style.widgets.Markdown(visibleProse(own), 0, 0, markdownTheme(style)).render(style.columns);
  // Each piece has one blank row above it.
  const end = rows.findLastIndex((row) => row.trim() !== "") + 1;
  return ["", ...rows.slice(0, end).map((row) => fitted(row, style))];
}

/** All blocks of Markdown but the last one: nothing that follows can change them. */
function finishedMarkdown(
  text: string,
  { widgets }: RowStyle,
): { readonly done: string; readonly isCodeLast: boolean } {
  // One line cannot hold two blocks.
  if (!text.includes("\n")) return { done: "", isCodeLast: false };
  const tokens = widgets.lexer(text);
  const last = tokens.findLastIndex(({ type }) => type !== "space");
  // A link definition at the end would change what stands before it; the rendering of finished blocks does not wait for that.
  const done = tokens
    .slice(0, Math.max(0, last))
    .map(({ raw }) => raw)
    .join("");
  return text.startsWith(done) ? { done, isCodeLast: tokens[last]?.type === "code" } : { done: "", isCodeLast: false };
}

function markdownTheme({ theme, widgets }: RowStyle) {
  const as = (role: Role) => (text: string) => theme.paint(role, text);
  const style = (on: string, off: string) => (text: string) =>
    theme.name === "none" ? text : `\u001b[${on}m${text}\u001b[${off}m`;
  return {
    heading: as("heading"),
    link: as("link"),
    linkUrl: as("dim"),
    code: as("code"),
    codeBlock: as("code"),
    codeBlockBorder: as("dim"),
    highlightCode: (code: string, name = "") => [
      ...codeRows(code.split("\n"), widgets.codeCarry(name), { theme, widgets }).rows,
    ],
    quote: as("dim"),
    quoteBorder: as("dim"),
    hr: as("dim"),
    listBullet: as("accent"),
    bold: style("1", "22"),
    italic: style("3", "23"),
    strikethrough: style("9", "29"),
    underline: style("4", "24"),
  };
}
