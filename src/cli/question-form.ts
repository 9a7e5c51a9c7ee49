/** How much of a permission question a screen has room for, and which answers count there. */

import { counted, paint } from "#base";
import type { Decision } from "#protocol";
import { lineRows } from "./foreign-rows.ts";
import { type PermissionQuestion, textsOf } from "./permission-question.ts";
import type { QuestionScreen } from "./terminal.ts";

export interface QuestionForm {
  /** Shown once, before the keys. */
  readonly text: string;
  /** The last line is the prompt. */
  readonly keys: string;
  readonly answers: ReadonlyMap<string, Decision>;
  /** What `v` shows page by page; undefined where there is no room for pages. */
  readonly pages: readonly string[] | undefined;
  /** Stands before the keys when the pages were shown. */
  readonly behindPages: string;
  /** What an answer that is none is told. */
  readonly hint: string;
}

type Size = Pick<QuestionScreen, "rows" | "columns" | "colour">;

const SHOWN_ROWS_MIN = 3;
/** Below it there is no room for a row of the command, what was left out, the keys, and a note that keys were dropped. */
const LEAST_ROWS = 7;
const LEAST_COLUMNS = 36;
/** Of a small screen: the note takes two, the keys two, and what was left out one. */
const SMALL_REST_ROWS = 5;

/** `hasSeenAll`: the pages were shown to their end. */
export function questionForm(screen: Size, question: PermissionQuestion, hasSeenAll: boolean): QuestionForm {
  const { head, content, facts, keys } = question;
  // Below the content: how much is missing, the keys, and a row for a note about dropped keys.
  const room = screen.rows - (head.length + facts.length + keys.split("\n").length + 3);
  if (room >= Math.min(SHOWN_ROWS_MIN, content.length)) return wholeForm(screen, question, room);
  if (screen.rows < LEAST_ROWS || screen.columns < LEAST_COLUMNS) return noForm(screen, question);
  return smallForm(screen, question, hasSeenAll);
}

/** As much of the content as fits on a screen with all the rest. */
function wholeForm(screen: Size, question: PermissionQuestion, room: number): QuestionForm {
  const { head, content, facts, keys, answers, letters } = question;
  const more = content.slice(room).filter(({ endsLine }) => endsLine).length;
  const left =
    more === 0 ? [] : textsOf(lineRows(screen, "  … ", `${counted(more, "more line")}; [v] shows everything`));
  const hint = `Type ${letters}; "d because …" tells the model why; v shows everything.`;
  return {
    text: linesOf([...head, ...textsOf(content.slice(0, room)), ...left, ...facts]),
    keys,
    answers,
    pages: textsOf(content),
    behindPages: linesOf(facts),
    hint: linesOf(textsOf(lineRows(screen, "  ", hint))),
  };
}

/** The beginning of the command and how many rows are missing. What allows more than this call has to be read first. */
function smallForm(screen: Size, question: PermissionQuestion, hasSeenAll: boolean): QuestionForm {
  const { head, content, facts, keys, answers, letters, isOutside } = question;
  const pages = [...head, ...textsOf(content), ...facts, ...keys.split("\n").slice(0, -1)];
  const room = screen.rows - SMALL_REST_ROWS;
  const warning = isOutside ? [paint(screen, "bold", "  Runs OUTSIDE the sandbox")] : [];
  const first = head.length + warning.length < room ? [...head, ...warning] : warning;
  const shown = textsOf(content.slice(0, room - first.length));
  const left = pages.length - shown.length - (first.length - warning.length);
  const few = new Map([...answers].filter(([, decision]) => decision === "allow_once" || decision === "deny"));
  const once = few.values().some((decision) => decision === "allow_once") ? "[o] once  " : "";
  return {
    text: linesOf([...first, ...shown, `  … ${counted(left, "more row")}; v shows all`]),
    keys: hasSeenAll ? `  ${letters}; v shows all again\n  > ` : `  ${once}[d] deny  [v] show all\n  > `,
    answers: hasSeenAll ? answers : few,
    pages,
    behindPages: "",
    hint: "",
  };
}

function noForm(screen: Size, { answers }: PermissionQuestion): QuestionForm {
  const why = `A question needs ${LEAST_ROWS} rows and ${LEAST_COLUMNS} columns. Enlarge the terminal and press Enter; d denies.`;
  return {
    text: "",
    keys: `${textsOf(lineRows(screen, "  ", why)).join("\n")}\n  > `,
    answers: new Map([...answers].filter(([, decision]) => decision === "deny")),
    pages: undefined,
    behindPages: "",
    hint: "",
  };
}

function linesOf(rows: readonly string[]): string {
  return rows.map((row) => `${row}\n`).join("");
}
