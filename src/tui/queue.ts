/** Inputs that wait, for their turn or put aside: what they say, above the editor, and how the last one comes back into it. Pure. */
import { counted, visibleLine, visibleProse } from "#base";
import { displayText, type Event, type InputBlock, type SessionId } from "#protocol";
import type { RowStyle } from "./block-rows.ts";
import type { Effect } from "./effects.ts";
import type { Keymap } from "./key-table.ts";
import { keyName } from "./layer-rows.ts";

export interface WaitingInput {
  /** The id of its InputQueued event. */
  readonly id: number;
  readonly content: readonly InputBlock[];
}

/** Inputs that are shown; the others are counted. */
const SHOWN = 3;

/** Oldest first. */
export function withQueueEvent(
  before: readonly WaitingInput[],
  event: Event,
  session: SessionId,
): readonly WaitingInput[] {
  if (event.session !== session) return before;
  switch (event.kind) {
    case "InputQueued":
      return [...before, { id: event.id, content: event.payload.content }];
    case "TurnStarted":
    case "InputRefused": {
      const { queued } = event.payload;
      return queued === undefined ? before : before.filter(({ id }) => id !== queued);
    }
    default:
      return before;
  }
}

/** Takes back the one that was queued last; its text goes before what is typed. */
export function takeBack(waiting: readonly WaitingInput[]): readonly Effect[] {
  const last = waiting.at(-1);
  return last === undefined ? [] : [{ type: "take-back", queued: last.id, text: textOf(last.content) }];
}

export function queueRows(
  waiting: readonly WaitingInput[],
  stashed: string,
  keymap: Keymap,
  { theme, columns, widgets }: RowStyle,
): string[] {
  const more = waiting.length - SHOWN;
  const hint = (action: string, text: string): string => {
    const key = keyName(keymap.keyOf(action));
    return key === "" ? "" : `  ${key} ${text}`;
  };
  const row = (text: string, end: string): string => {
    const shown = widgets.truncateToWidth(`: ${visibleLine(text)}`, Math.max(1, columns - end.length), "…");
    return theme.paint("dim", widgets.truncateToWidth(`${shown}${end}`, columns));
  };
  const shown = waiting.slice(-SHOWN);
  return [
    ...(more > 0 ? [row(`${counted(more, "queued input")} before these`, "")] : []),
    ...shown.map(({ content }, at) =>
      row(`queued: ${textOf(content)}`, at === shown.length - 1 ? hint("edit-queued", "edits") : ""),
    ),
    ...(stashed === "" ? [] : [row(`put aside: ${stashed}`, hint("stash", "takes it back"))]),
  ];
}

function textOf(content: readonly InputBlock[]): string {
  return visibleProse(displayText(content));
}
