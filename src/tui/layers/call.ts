/** A call in full: its arguments to the byte, who allowed it and why, and everything that it gave back. */
import { visibleLine } from "#base";
import { callDetailRows } from "../block-text.ts";
import { argsText, foreignRows } from "../call-text.ts";
import { defineLayer, type LayerContext, type LayerStep } from "../layer.ts";
import { headRow, keyHints } from "../layer-rows.ts";
import { atEdge, emptyList, inView, type ListShape, type ListState, visibleRows, withListAction } from "../list.ts";
import { factRows } from "../question-rows.ts";
import { callOf } from "../transcript.ts";

interface CallState {
  readonly id: string;
  readonly list: ListState;
}

export const callLayer = defineLayer<CallState>({
  name: "call",
  title: "Call",
  kind: "screen",
  keys: [],
  open: (id, context): LayerStep<CallState> => {
    return rowsOf(id, context) === undefined ? { isClosed: true } : { state: { id, list: emptyList } };
  },
  update(state, message, context): LayerStep<CallState> {
    const shape = shapeOf(state, context);
    if (message.type === "changed") return { state: { ...state, list: inView(state.list, shape) } };
    if (message.type !== "key") return { state };
    if (message.action === "close" || message.text === "q") return { isClosed: true };
    const list = withListAction(atEdge(state.list, message.action, shape), message.action, shape);
    return { state: list === undefined ? state : { ...state, list } };
  },
  view(state, context) {
    const { style, keymap } = context;
    const rows = rowsOf(state.id, context) ?? [];
    const hint = keyHints(
      [
        ["close", "close"],
        ["list-page-down", "more"],
      ],
      keymap,
    );
    const shown = visibleRows(state.list, shapeOf(state, context), (at) => [rows[at] ?? ""]);
    return { rows: [headRow(titleOf(state.id, context), hint, style), ...shown] };
  },
});

function shapeOf({ id }: CallState, context: LayerContext): ListShape {
  return { count: rowsOf(id, context)?.length ?? 0, room: Math.max(1, context.rows - 1), heightOf: () => 1 };
}

function titleOf(id: string, { state }: LayerContext): string {
  const question = state.questions.waiting.find((one) => one.id === id);
  const label = question?.kind === "permission" ? question.asked.label : callOf(state.transcript, id)?.label;
  return visibleLine(label ?? "Call");
}

/** Undefined for a call that is not known. */
function rowsOf(id: string, { state, style }: LayerContext): readonly string[] | undefined {
  const question = state.questions.waiting.find((one) => one.id === id);
  if (question?.kind === "permission") {
    const { asked } = question;
    return [...foreignRows(argsText(asked.args, asked.summary), style), "", ...factRows(asked, style)];
  }
  const call = callOf(state.transcript, id);
  return call === undefined ? undefined : callDetailRows(call, style);
}
