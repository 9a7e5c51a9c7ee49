/** The plan of the session as text: the one that waits for an answer, or the one that is agreed. */
import { foreignRows } from "../call-text.ts";
import type { Effect } from "../effects.ts";
import { defineLayer, type LayerContext, type LayerStep } from "../layer.ts";
import { headRow, keyHintRows } from "../layer-rows.ts";
import { atEdge, emptyList, inView, type ListShape, type ListState, visibleRows, withListAction } from "../list.ts";

export const planLayer = defineLayer<ListState>({
  name: "plan",
  title: "Plan",
  kind: "screen",
  answersQuestion: true,
  opener: { keys: ["alt+l"], help: "Show the plan, and answer it or close it" },
  words: ["plan show"],
  keys: [
    { action: "plan-approve", keys: ["a"], help: "Approve the plan that waits" },
    { action: "plan-edit", keys: ["e"], help: "Write the plan as it should be, and approve that" },
    { action: "plan-reject", keys: ["w"], help: "Say what is wrong with the plan" },
    { action: "plan-done", keys: ["x"], help: "The agreed plan is done" },
    { action: "plan-drop", keys: ["ctrl+x"], help: "Drop the agreed plan" },
  ],
  open: () => ({ state: emptyList }),
  update(state, message, context): LayerStep<ListState> {
    const shape = shapeOf(context);
    if (message.type === "changed") return { state: inView(state, shape) };
    if (message.type !== "key") return { state };
    const { action, text } = message;
    if (action === "close" || text === "q") return { isClosed: true };
    const effect = effectOf(action, context);
    if (effect !== undefined) return { isClosed: true, effects: [effect] };
    return { state: withListAction(atEdge(state, action, shape), action, shape) ?? state };
  },
  view(state, context) {
    const rows = planRows(context);
    const shown = visibleRows(state, shapeOf(context), (at) => [rows[at] ?? ""]);
    const { agreed, proposed } = context.state.plan;
    const which = proposed !== undefined ? "waits for you" : agreed !== undefined ? "agreed" : "";
    const hints = hintRows(context).map((row) => context.style.theme.paint("dim", row));
    return { rows: [headRow("Plan", which, context.style), ...hints, ...shown] };
  },
});

function effectOf(action: string | undefined, { state: { plan } }: LayerContext): Effect | undefined {
  const { agreed, proposed } = plan;
  switch (action) {
    case "plan-approve":
      return proposed && { type: "plan", answer: "approve" };
    case "plan-edit":
      return proposed && { type: "plan", answer: "edit" };
    case "plan-reject":
      return proposed && { type: "plan", answer: "reject" };
    case "plan-done":
    case "plan-drop": {
      if (agreed === undefined || proposed !== undefined) return undefined;
      return { type: "submit", command: { kind: "ClosePlan", as: action === "plan-done" ? "done" : "dropped" } };
    }
    default:
      return undefined;
  }
}

function hintRows({ state: { plan }, keymap, style }: LayerContext): readonly string[] {
  const own: readonly (readonly [string, string])[] =
    plan.proposed !== undefined
      ? [
          ["plan-approve", "approve"],
          ["plan-edit", "edit and approve"],
          ["plan-reject", "no, and say why"],
        ]
      : plan.agreed !== undefined
        ? [
            ["plan-done", "done"],
            ["plan-drop", "drop"],
          ]
        : [];
  return keyHintRows([...own, ["close", "close"]], keymap, style);
}

function planRows({ state: { plan }, style }: LayerContext): readonly string[] {
  const text = plan.proposed?.plan ?? plan.agreed;
  if (text !== undefined) return foreignRows(text, style);
  return [style.theme.paint("dim", "There is no plan. /plan enters plan mode; then the agent proposes one.")];
}

function shapeOf(context: LayerContext): ListShape {
  const room = Math.max(1, context.rows - 1 - hintRows(context).length);
  return { count: planRows(context).length, room, heightOf: () => 1 };
}
