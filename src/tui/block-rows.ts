/** Blocks of the conversation as rows of the terminal. Pure; no row is wider than `columns`. */
import { counted, visibleLine } from "#base";
import { duration } from "./amounts.ts";
import { answerRows } from "./answer-rows.ts";
import { changeOf, type FileChange } from "./change.ts";
import type { GrowingAnswers } from "./growing-answers.ts";
import { type ImageStyle, imageRows } from "./images.ts";
import type { Theme } from "./theme.ts";
import type { Block, CallBlock, DelegateBlock, Tone } from "./transcript.ts";
import type { Widgets } from "./widgets.ts";

export interface RowStyle {
  readonly columns: number;
  readonly theme: Theme;
  readonly widgets: Widgets;
  /** For what runs. */
  readonly nowMs: number;
  /** For rows that are final, where the terminal draws images. */
  readonly images?: ImageStyle;
  /** Of answers that are not final; without it they are made into rows as a whole. */
  readonly growing?: GrowingAnswers;
}

const PREVIEW_LINES = 4;
const INPUT_ROWS = 12;
const BAR = "  │ ";
/** As `fs.read` writes the lines of a file. */
const NUMBERED = /^ *\d+ /;
const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SPIN_MS = 120;

export function blockRows(block: Block, style: RowStyle): string[] {
  const { theme, columns, widgets } = style;
  switch (block.kind) {
    case "input":
      return ["", ...inputRows(block.text, style), ...(block.images ?? []).flatMap((image) => imageRows(image, style))];
    case "answer":
      return answerRows(block.text.slice(block.printed), style, block.fence);
    case "thinking":
      return [theme.paint("dim", block.isDone ? `∴ thought${forHowLong(block.forMs)} (Ctrl-O)` : "∴ thinking …")];
    case "call":
      return callRows(block, style);
    case "delegate":
      return delegateRows(block, style);
    case "notice":
      return wrapped(block.text, columns, widgets).map((row) => paintTone(theme, block.tone, row));
    case "summary":
      return [theme.paint("dim", widgets.truncateToWidth(block.text, columns))];
  }
}

function forHowLong(ms: number): string {
  return ms < 100 ? "" : ` for ${duration(ms)}`;
}

/** A long one is shortened, unless all of it is asked for. */
export function inputRows(text: string, { theme, columns, widgets }: RowStyle, isWhole = false): string[] {
  const rows = wrapped(text, columns - 2, widgets).map((row, at) => `${at === 0 ? "› " : "  "}${row}`);
  const left = rows.length - INPUT_ROWS;
  if (isWhole || left <= 1) return rows.map((row) => theme.paint("input", row));
  return [
    ...rows.slice(0, INPUT_ROWS).map((row) => theme.paint("input", row)),
    theme.paint("dim", `  … ${left} more lines (Ctrl-O)`),
  ];
}

function callRows(call: CallBlock, style: RowStyle): string[] {
  const { columns, theme, widgets, nowMs } = style;
  const indent = "  ".repeat(call.depth);
  const { ended } = call;
  const mark =
    ended === undefined
      ? theme.paint("accent", call.isAsked ? "?" : spinner(nowMs))
      : theme.paint(ended.isError ? "bad" : "good", ended.isError ? "✗" : "✓");
  const change = ended === undefined || ended.isError ? undefined : changeOf(call);
  const read = ended === undefined || ended.isError ? 0 : linesRead(call.name, ended.lines);
  const facts = [
    ...(change === undefined ? [] : [changedLines(change)]),
    ...(read === 0 ? [] : [counted(read, "line")]),
    ...(call.allowedBy === undefined ? [] : [call.allowedBy]),
    ...(ended === undefined || ended.outcome === "ok" ? [] : [ended.outcome]),
    ...(ended?.labels ?? []),
    ...(call.isAsked ? ["waits for an answer"] : []),
    ...(call.isAsked || call.deniedWhy !== undefined ? [] : [duration(ended?.durationMs ?? nowMs - call.sinceMs)]),
  ];
  const head = factRow({ indent, mark, label: call.label, subject: call.subject, facts }, style);
  if (change !== undefined) return [head, ...previewRows(change, indent, style)];
  const body = read > 0 ? [] : bodyRows(call, columns - indent.length - BAR.length, widgets);
  const under = body.map((line) => {
    return theme.paint(ended?.isError ? "warn" : "dim", widgets.truncateToWidth(`${indent}${BAR}${line}`, columns));
  });
  return [head, ...under, ...(ended?.images ?? []).flatMap((image) => imageRows(image, style))];
}

/** What a call prints or gave, shortened. An error is wrapped, so that what to do about it can be read. */
function bodyRows({ ended, tail, name, deniedWhy }: CallBlock, columns: number, widgets: Widgets): readonly string[] {
  if (ended === undefined) return tail;
  // Who denied it knows that.
  if (deniedWhy !== undefined) return deniedWhy === "" ? [] : wrapped(deniedWhy, columns, widgets);
  if (ended.isError)
    return shortened(
      ended.lines.flatMap((line) => wrapped(line, columns, widgets)),
      "head-and-end",
    );
  if (name === "delegate") return [];
  return shortened(ended.lines, name === "exec" ? "end" : "head");
}

/** Of a file that was read, nothing else is shown: it is there. */
function linesRead(name: string, lines: readonly string[]): number {
  return name === "fs.read" ? lines.filter((line) => NUMBERED.test(line)).length : 0;
}

/** The first changed lines. */
function previewRows({ lines }: FileChange, indent: string, { theme, widgets, columns }: RowStyle): string[] {
  const changed = lines.filter(({ mark }) => mark !== " ");
  const shown = changed.slice(0, PREVIEW_LINES).map(({ mark, text }) => {
    const row = widgets.truncateToWidth(`${indent}  │ ${mark} ${visibleLine(text)}`, columns);
    return theme.paint(mark === "+" ? "good" : "bad", row);
  });
  const left = changed.length - shown.length;
  return left <= 0 ? shown : [...shown, theme.paint("dim", `${indent}  │ … ${left} more changed lines (Ctrl-O)`)];
}

/** `+12 -4`; of a file that is not known from before, what it has now. */
function changedLines({ lines, isNew }: FileChange): string {
  if (isNew) return counted(lines.length - (lines.at(-1)?.text === "" ? 1 : 0), "line");
  const of = (mark: string): number => lines.filter((line) => line.mark === mark).length;
  return of("-") === 0 ? `+${of("+")}` : `+${of("+")} -${of("-")}`;
}

function delegateRows(delegate: DelegateBlock, style: RowStyle): string[] {
  const { theme, nowMs } = style;
  const { ended, agent, task, depth, isBeside, sinceMs, work } = delegate;
  const mark =
    ended !== undefined
      ? theme.paint(ended.isOk ? "good" : "bad", ended.isOk ? "✓" : "✗")
      : theme.paint("accent", isBeside ? "→" : spinner(nowMs));
  const time = ended === undefined ? (isBeside ? [] : [duration(nowMs - sinceMs)]) : [duration(ended.durationMs)];
  const progress = work.calls === 0 ? "working" : counted(work.calls, "call");
  const state = ended?.text ?? (isBeside ? "works in the background" : progress);
  const indent = "  ".repeat(depth);
  const head = factRow({ indent, mark, label: agent, subject: task, facts: [state, ...time] }, style);
  if (ended !== undefined || work.doing === "") return [head];
  return [head, theme.paint("dim", style.widgets.truncateToWidth(`${indent}${BAR}${work.doing}`, style.columns))];
}

interface FactRow {
  readonly indent: string;
  readonly mark: string;
  readonly label: string;
  readonly subject: string;
  readonly facts: readonly string[];
}

/** What it is on the left, cut where there is no room, and what became of it at the right edge. */
function factRow({ indent, mark, label, subject, facts }: FactRow, { columns, theme, widgets }: RowStyle): string {
  const text = facts.join(" · ");
  const room = columns - indent.length - 2 - widgets.visibleWidth(text) - 2;
  const name = widgets.truncateToWidth(`${label} ${subject}`, Math.max(10, room), "…");
  const gap = " ".repeat(Math.max(2, room - widgets.visibleWidth(name) + 2));
  const row = `${indent}${mark} ${theme.paint("strong", label)}${name.slice(label.length)}${gap}${theme.paint("dim", text)}`;
  return widgets.truncateToWidth(row, columns);
}

export function spinner(nowMs: number): string {
  return SPINNER[Math.floor(nowMs / SPIN_MS) % SPINNER.length] ?? "·";
}

/** The remedy of an error stands on its last line, and what a command comes to at its end. */
function shortened(lines: readonly string[], keep: "head" | "end" | "head-and-end"): readonly string[] {
  if (lines.length === 1 && lines[0] === "") return [];
  // A row that says that one is missing takes as much room as the one.
  if (lines.length <= PREVIEW_LINES + 1) return lines;
  const left = lines.length - PREVIEW_LINES;
  if (keep === "end") return [`… ${left} earlier lines (Ctrl-O)`, ...lines.slice(-PREVIEW_LINES)];
  const more = `… ${left} more lines (Ctrl-O)`;
  if (keep === "head") return [...lines.slice(0, PREVIEW_LINES), more];
  return [...lines.slice(0, PREVIEW_LINES - 1), more, ...lines.slice(-1)];
}

export function wrapped(text: string, columns: number, { wrapTextWithAnsi, truncateToWidth }: Widgets): string[] {
  return wrapTextWithAnsi(text, Math.max(1, columns)).map((row) => truncateToWidth(row, Math.max(1, columns)));
}

function paintTone(theme: Theme, tone: Tone, text: string): string {
  return tone === "plain" ? text : theme.paint(tone, text);
}
