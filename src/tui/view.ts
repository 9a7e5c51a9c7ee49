/** The live region: what is not settled yet, the question or the editor, and the status line. Pure. */
import { blockRows, duration, type RowStyle } from "./block-rows.ts";
import { questionRows } from "./question-rows.ts";
import type { LiveRegion } from "./screen-writer.ts";
import type { State } from "./state.ts";
import { type StatusFacts, statusLine } from "./status-line.ts";

/** The share of the screen that a question may take. */
const QUESTION_SHARE = 0.7;

export interface EditorRows {
  readonly rows: readonly string[];
  readonly cursor?: { readonly row: number; readonly column: number };
}

export function liveRegion(state: State, editor: EditorRows, facts: StatusFacts, style: RowStyle): LiveRegion {
  const { size, questions, isTypingAnswer } = state;
  const most = Math.max(1, size.rows - 1);
  const [question] = questions;
  const isEditing = question === undefined || isTypingAnswer;
  const typing = isEditing ? editor.rows : [];
  const share = Math.max(4, Math.floor(most * QUESTION_SHARE) - typing.length);
  const asked = question === undefined ? [] : questionRows(question, questions.length, share, isTypingAnswer, style);
  const status = statusLine(state, facts, style);
  const below = [...bannerRows(state, style), ...asked, ...typing, status];
  const above = [...state.transcript.blocks.flatMap((block) => blockRows(block, style)), ...waitingRows(state, style)];
  const room = Math.max(0, most - below.length);
  const shown = room === 0 ? [] : above.slice(-room);
  const rows = [...shown, ...below].slice(-most);
  if (!isEditing || editor.cursor === undefined) return { rows };
  const at = rows.length - 1 - typing.length + editor.cursor.row;
  return at < 0 ? { rows } : { rows, cursor: { row: at, column: editor.cursor.column } };
}

/** Says what is waited for, when no row above does. */
function waitingRows({ transcript, nowMs, questions }: State, { theme, columns, widgets }: RowStyle): string[] {
  const { isTurnRunning, waiting, turnSinceMs } = transcript;
  if (!isTurnRunning || waiting === "" || questions.length > 0) return [];
  const text = `· waiting for ${waiting} · ${duration(nowMs - turnSinceMs)} · Esc cancels`;
  return [theme.paint("dim", widgets.truncateToWidth(text, columns))];
}

function bannerRows({ banner }: State, { theme, columns, widgets }: RowStyle): string[] {
  return banner === undefined ? [] : [theme.paint("warn", widgets.truncateToWidth(banner.text, columns))];
}
