/**
 * Rows of answers that grow behind a call that still runs. None of them can be printed before the call ends, so an answer of any length
 * stays in the live region; what of it is final is made into rows once, and not again with each frame.
 */
import { answerRows, finalRows } from "./answer-rows.ts";
import type { RowStyle } from "./block-rows.ts";
import type { AnswerBlock } from "./transcript.ts";

/** Answers that are kept; one behind the other they are older. */
const MAX_KEPT = 8;

interface Known {
  readonly style: RowStyle;
  /** As it came. */
  readonly from: AnswerBlock;
  /** Its beginning as if that were printed, and the rows of it. */
  readonly answer: AnswerBlock;
  readonly rows: readonly string[];
}

export type GrowingAnswers = (answer: AnswerBlock, style: RowStyle) => readonly string[];

export function createGrowingAnswers(): GrowingAnswers {
  const known = new Map<string, Known>();
  return (answer, style) => {
    const last = known.get(answer.key);
    const before = last !== undefined && isContinued(last, answer, style) ? last : fresh(answer, style);
    const grown = { ...before.answer, text: answer.text, isDone: answer.isDone };
    const { rows: final, answer: next } = finalRows(grown, style);
    const rows = [...before.rows, ...final];
    known.delete(answer.key);
    known.set(answer.key, { style, from: answer, answer: next, rows });
    for (const oldest of known.keys()) {
      if (known.size <= MAX_KEPT) break;
      known.delete(oldest);
    }
    return [...rows, ...answerRows(next.text.slice(next.printed), style, next.fence)];
  };
}

function fresh(answer: AnswerBlock, style: RowStyle): Known {
  return { style, from: answer, answer, rows: [] };
}

function isContinued({ style, from }: Known, answer: AnswerBlock, { columns, theme }: RowStyle): boolean {
  const isSameStyle = style.columns === columns && style.theme === theme;
  return isSameStyle && from.printed === answer.printed && answer.text.startsWith(from.text);
}
