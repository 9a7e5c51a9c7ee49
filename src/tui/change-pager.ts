/** A change that is read hunk by hunk: where the reader is, and what they said about each hunk. Pure; every review is made of it. */
import type { RowStyle } from "./block-rows.ts";
import type { FileChange, Verdicts } from "./change.ts";
import { type ChangeView, changeView } from "./change-rows.ts";
import type { Keymap } from "./key-table.ts";
import type { LayerFacts, LayerView } from "./layer.ts";
import { headRow, keyHintRows } from "./layer-rows.ts";

/** What is said of a hunk; empty: nothing. */
export interface VerdictWords {
  readonly open: string;
  readonly accepted: string;
  readonly denied: string;
}

export interface Pager {
  readonly change: FileChange;
  readonly verdicts: Verdicts;
  readonly hunk: number;
  /** The first row on the screen. */
  readonly top: number;
  readonly isWhole: boolean;
  readonly words: VerdictWords;
  /** The rows as they were made last: to make those of a large file takes longer than a key may. */
  readonly made: { last?: MadeView };
}

interface MadeView extends Pick<Pager, "hunk" | "verdicts" | "isWhole"> {
  readonly columns: number;
  readonly theme: RowStyle["theme"];
  readonly view: ChangeView;
}

/** Where the pager is shown. */
export interface PagerPlace {
  readonly style: RowStyle;
  readonly keymap: Keymap;
  readonly rows: number;
}

export interface PagerFrame {
  readonly title: string;
  /** Where the reader is. */
  readonly at: string;
  readonly note: string;
  readonly hints: readonly (readonly [action: string, text: string])[];
}

/** The keys of every review. */
export const REVIEW_KEYS: LayerFacts["keys"] = [
  { action: "review-next", keys: ["n"], help: "The next hunk" },
  { action: "review-previous", keys: ["p"], help: "The hunk before" },
  { action: "review-accept", keys: ["a"], help: "Accept the hunk, or the file that you are asked about" },
  { action: "review-deny", keys: ["d"], help: "Deny the hunk, or the file that you are asked about" },
  { action: "review-whole", keys: ["v"], help: "Show the whole text, or only what changed" },
  { action: "review-save", keys: ["s"], help: "Save the change as a patch" },
  { action: "review-send", keys: ["enter"], help: "Answer with the hunks that you accepted" },
];

/** The head and the note. */
const OWN_ROWS = 2;
/** Unchanged lines above a hunk that stay in view. */
const ABOVE_ROWS = 4;

export function openPager(change: FileChange, words: VerdictWords): Pager {
  return { change, verdicts: {}, hunk: 0, top: 0, isWhole: false, words, made: {} };
}

/** Undefined for an action that is not one of reading. */
export function withPagerAction(pager: Pager, action: string | undefined, room: PagerRoom): Pager | undefined {
  const page = room.rows - 1;
  switch (action) {
    case "review-next":
      return atHunk(pager, pager.hunk + 1, room);
    case "review-previous":
      return atHunk(pager, pager.hunk - 1, room);
    case "review-whole":
      return atHunk({ ...pager, isWhole: !pager.isWhole }, pager.hunk, room);
    case "list-up":
      return scrolledTo(pager, pager.top - 1, room);
    case "list-down":
      return scrolledTo(pager, pager.top + 1, room);
    case "list-page-up":
      return scrolledTo(pager, pager.top - page, room);
    case "list-page-down":
      return scrolledTo(pager, pager.top + page, room);
    case "list-first":
      return scrolledTo(pager, 0, room);
    case "list-last":
      return scrolledTo(pager, Number.MAX_SAFE_INTEGER, room);
    default:
      return undefined;
  }
}

export interface PagerRoom {
  readonly style: RowStyle;
  /** Of the change itself. */
  readonly rows: number;
}

/** What the frame leaves of the place. */
export function pagerRoom({ style, keymap, rows }: PagerPlace, { hints }: Pick<PagerFrame, "hints">): PagerRoom {
  return { style, rows: Math.max(1, rows - OWN_ROWS - keyHintRows(hints, keymap, style).length) };
}

/** With the verdict about the hunk it is at, at the next one. */
export function withVerdict(pager: Pager, isAccepted: boolean, room: PagerRoom): Pager {
  return atHunk({ ...pager, verdicts: { ...pager.verdicts, [pager.hunk]: isAccepted } }, pager.hunk + 1, room);
}

/** The same change where the room is another one. */
export function refitted(pager: Pager, room: PagerRoom): Pager {
  return scrolledTo(pager, pager.top, room);
}

export function atHunk(pager: Pager, to: number, room: PagerRoom): Pager {
  const hunk = Math.max(0, Math.min(to, pager.change.hunks.length - 1));
  const next = { ...pager, hunk };
  const start = viewOf(next, room.style).starts[hunk] ?? 0;
  return scrolledTo(next, start - ABOVE_ROWS, room);
}

export function pagerView(pager: Pager, frame: PagerFrame, place: PagerPlace): LayerView {
  const { style } = place;
  const room = pagerRoom(place, frame);
  const shown = viewOf(pager, style).rows.slice(pager.top, pager.top + room.rows);
  return framed(shown, frame, place);
}

/** Rows of the caller's own in the frame of a review. */
export function framed(shown: readonly string[], frame: PagerFrame, place: PagerPlace): LayerView {
  const { style } = place;
  const { theme, widgets, columns } = style;
  const room = pagerRoom(place, frame).rows;
  const blank = Array.from({ length: Math.max(0, room - shown.length) }, () => "");
  return {
    rows: [
      headRow(frame.title, frame.at, style),
      ...shown.slice(0, room),
      ...blank,
      theme.paint("warn", widgets.truncateToWidth(frame.note, columns)),
      ...keyHintRows(frame.hints, place.keymap, style).map((row) => theme.paint("dim", row)),
    ],
  };
}

function viewOf({ change, verdicts, hunk, isWhole, words, made }: Pager, style: RowStyle): ChangeView {
  const { columns, theme } = style;
  const { last } = made;
  const isMade = last?.columns === columns && last.theme === theme;
  if (isMade && last.hunk === hunk && last.verdicts === verdicts && last.isWhole === isWhole) return last.view;
  const title = (at: number): string => {
    const verdict = verdicts[at] === undefined ? words.open : verdicts[at] ? words.accepted : words.denied;
    const text = `${at === hunk ? "▸" : " "} hunk ${at + 1}${verdict === "" ? "" : ` · ${verdict}`}`;
    return style.theme.paint(at === hunk ? "strong" : "accent", style.widgets.truncateToWidth(text, style.columns));
  };
  const view = changeView(change, { isWhole, title }, style);
  made.last = { hunk, verdicts, isWhole, columns, theme, view };
  return view;
}

/** Of all rows, those that are on the screen. */
export function rowsInView(pager: Pager, { style, rows }: PagerRoom): { from: number; to: number; count: number } {
  const count = viewOf(pager, style).rows.length;
  return { from: pager.top, to: Math.min(count, pager.top + rows), count };
}

function scrolledTo(pager: Pager, top: number, { style, rows }: PagerRoom): Pager {
  const last = Math.max(0, viewOf(pager, style).rows.length - rows);
  return { ...pager, top: Math.max(0, Math.min(top, last)) };
}
