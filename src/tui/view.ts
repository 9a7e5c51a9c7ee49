/** What is on the screen: a layer on all of it, or the live region with what is not settled, the question, layer or editor, and the status line. Pure. */
import { counted, visibleLine } from "#base";
import { duration } from "./amounts.ts";
import { blockRows, type RowStyle, spinner, wrapped } from "./block-rows.ts";
import type { FullFrame } from "./full-screen.ts";
import type { LayerView } from "./layer.ts";
import { keyName } from "./layer-rows.ts";
import { layerContext } from "./layer-stack.ts";
import { pinnedRows } from "./pinned.ts";
import { questionRows } from "./question-rows.ts";
import { queueRows } from "./queue.ts";
import type { LiveRegion } from "./screen-writer.ts";
import { hasKeys, type State, type UpdateContext } from "./state.ts";
import { type StatusFacts, statusLine } from "./status-line.ts";

/** The share of the screen that a question may take. */
const QUESTION_SHARE = 0.7;
/** A low screen shows more of what is asked, and less of the conversation. */
const LOW_ROWS = 30;
const LOW_SHARE = 0.85;
const REMINDER_ROWS = 4;

export interface EditorRows {
  readonly rows: readonly string[];
  readonly cursor?: { readonly row: number; readonly column: number };
}

/** The layer that has the whole screen; undefined when there is none. */
export function fullScreen(state: State, style: RowStyle, context: UpdateContext): FullFrame | undefined {
  const top = state.layers.at(-1);
  if (top?.facts.kind !== "screen") return undefined;
  const own = layerContext(state, "screen", context);
  const { rows, cursor } = top.view(own);
  const waiting = top.facts.answersQuestion ? 0 : state.questions.waiting.length;
  const note = `${counted(waiting, "question")} waiting for you: close this to answer.`;
  const blank = Array.from({ length: Math.max(0, own.rows - rows.length) }, () => "");
  const below = waiting === 0 ? [] : [...blank, style.theme.paint("warn", note.slice(0, style.columns))];
  return { rows: [...rows.slice(0, own.rows), ...below], ...(cursor !== undefined && { cursor }) };
}

export function liveRegion(
  state: State,
  editor: EditorRows,
  facts: StatusFacts,
  style: RowStyle,
  context: UpdateContext,
): LiveRegion {
  const most = Math.max(1, state.size.rows - 1);
  const focus = focused(state, editor, style, context);
  const share = Math.max(
    4,
    Math.floor(most * (state.size.rows < LOW_ROWS ? LOW_SHARE : QUESTION_SHARE)) - focus.rows.length,
  );
  const asked = questionRows(state.questions, share, style);
  const status = statusLine(state, facts, style);
  const pinned = pinnedRows(state, context.keymap, style);
  const queued = queueRows(state.queue, state.input.stashed, context.keymap, style);
  const below = [
    ...reminderRows(state, style, context),
    ...pinned,
    ...queued,
    ...bannerRows(state, style),
    ...asked,
    ...focus.rows,
    status,
  ];
  const room = Math.max(0, most - below.length);
  const shown = room === 0 ? [] : movingRows(state, room, style).slice(-room);
  const rows = [...shown, ...below].slice(-most);
  if (focus.cursor === undefined) return { rows };
  const at = rows.length - 1 - focus.rows.length + focus.cursor.row;
  return at < 0 ? { rows } : { rows, cursor: { row: at, column: focus.cursor.column } };
}

/** What is not printed yet, as far as there is room for it at its end. */
function movingRows(state: State, room: number, style: RowStyle): readonly string[] {
  const { isTurnRunning, turn } = state.transcript;
  // Where the next input would begin.
  let rows: readonly string[] = [...doingRows(state, style), ...(isTurnRunning || turn === "" ? [] : [""])];
  for (const block of state.transcript.blocks.toReversed()) {
    if (rows.length >= room) break;
    const own = block.kind === "answer" ? style.growing?.(block, style) : undefined;
    rows = [...(own ?? blockRows(block, style)), ...rows];
  }
  return rows;
}

/** What has the keys, below the question: a modal layer or the editor; nothing while a key answers. */
function focused(state: State, editor: EditorRows, style: RowStyle, context: UpdateContext): LayerView {
  const top = state.layers.at(-1);
  switch (hasKeys(state)) {
    case "layer":
      return top === undefined ? { rows: [] } : top.view(layerContext(state, top.facts.kind, context));
    case "question":
      return state.questions.isTypingAnswer ? editor : { rows: [] };
    case "input":
      return withHint(editor, state, style, context);
  }
}

/** Before the first turn, an empty input says what else can be typed. */
function withHint(editor: EditorRows, { transcript }: State, style: RowStyle, { keymap }: UpdateContext): EditorRows {
  const line = editor.cursor?.row;
  if (line === undefined || transcript.turn !== "" || editor.rows[line] !== "") return editor;
  const keys = keyName(keymap.keyOf("open-help"));
  const hint = `/ commands · @ files · ! shell${keys === "" ? "" : ` · ${keys} keys`}`;
  return { ...editor, rows: editor.rows.with(line, style.theme.paint("dim", hint)) };
}

/** While a turn runs and nobody is asked, one row that moves says what it does. */
function doingRows({ transcript, nowMs, questions }: State, { theme, columns, widgets }: RowStyle): string[] {
  const { isTurnRunning, doing, doingSinceMs } = transcript;
  if (!isTurnRunning || doing === "" || questions.waiting.length > 0) return [];
  const text = `${spinner(nowMs)} ${doing} · ${duration(nowMs - doingSinceMs)} · Esc cancels`;
  return [theme.paint("dim", widgets.truncateToWidth(text, columns))];
}

function reminderRows({ reminder }: State, { theme, columns, widgets }: RowStyle, { keymap }: UpdateContext): string[] {
  if (reminder === "") return [];
  const key = keyName(keymap.keyOf("hide-reminder"));
  const text = `${visibleLine(reminder)}${key === "" ? "" : `  ${key} hides this`}`;
  return wrapped(text, columns, widgets)
    .slice(0, REMINDER_ROWS)
    .map((row) => theme.paint("warn", row));
}

function bannerRows({ banner }: State, { theme, columns, widgets }: RowStyle): string[] {
  return banner === undefined ? [] : [theme.paint("warn", widgets.truncateToWidth(banner.text, columns))];
}
