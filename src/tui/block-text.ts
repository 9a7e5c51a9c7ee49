/** What a search in the conversation looks at, and a block in full. Pure. */
import { visibleProse } from "#base";
import { duration, money } from "./amounts.ts";
import { answerRows } from "./answer-rows.ts";
import { blockRows, inputRows, type RowStyle, wrapped } from "./block-rows.ts";
import { argsText, changeRows, foreignRows } from "./call-text.ts";
import { changeOf } from "./change.ts";
import { type Block, type CallBlock, isFinished } from "./transcript.ts";

export function blockText(block: Block): string {
  switch (block.kind) {
    case "call":
      return [block.label, argsText(block.args), ...(block.ended?.lines ?? block.tail)].join("\n");
    case "delegate":
      return `${block.agent} ${block.task} ${block.ended?.text ?? ""}`;
    default:
      return block.text;
  }
}

/** A block on the screen of the whole conversation: calls and thoughts are one row each until they are opened. */
export function transcriptRows(block: Block, isOpen: boolean, style: RowStyle): readonly string[] {
  const rows = closedRows(block, style);
  if (!isOpen) return rows;
  switch (block.kind) {
    case "call":
      return [...rows, ...callDetailRows(block, style)];
    case "input":
      return ["", ...inputRows(block.text, style, true), ...rows.slice(1 + inputRows(block.text, style).length)];
    case "thinking":
      return [
        ...rows,
        ...wrapped(visibleProse(block.text), style.columns - 2, style.widgets).map((row) =>
          style.theme.paint("dim", `  ${row}`),
        ),
      ];
    default:
      return rows;
  }
}

function closedRows(block: Block, style: RowStyle): readonly string[] {
  if (block.kind === "answer") return answerRows(block.text, style);
  const rows = blockRows(block, style);
  const isFolded = block.kind === "call" && isFinished(block);
  return isFolded ? rows.slice(0, 1) : rows;
}

/** What a call did, in full. */
export function callDetailRows(call: CallBlock, style: RowStyle): string[] {
  const { theme } = style;
  const { ended, allowedBy, modelCostUsd = 0 } = call;
  const receipt = [
    ...(allowedBy === undefined ? [] : [`allowed by ${allowedBy}`]),
    ...(ended === undefined ? ["running"] : [ended.outcome, duration(ended.durationMs)]),
    ...(ended?.labels ?? []).map((label) => `label ${label}`),
    ...(modelCostUsd === 0 ? [] : [`model call ${money(modelCostUsd)}`]),
  ].join(" · ");
  const output = ended?.lines ?? call.tail;
  const change = changeOf(call);
  return [
    ...(change === undefined ? foreignRows(argsText(call.args), style) : changeRows(call.args, change, style)),
    theme.paint("dim", style.widgets.truncateToWidth(`  ${receipt}`, style.columns)),
    ...output.flatMap((line) => {
      return style.widgets.wrapTextWithAnsi(line, Math.max(1, style.columns - 4)).map((row) => `    ${row}`);
    }),
  ];
}
