/**
 * The mouse on a screen of its own: wheel and left button, as keys with a row. On the main screen the terminal has it, and with Shift
 * everywhere, so that text can be selected. Pure.
 */

export interface MouseEvent {
  /** As in the table of keys: `wheelUp`, `wheelDown`, `click`. */
  readonly key: string;
  /** Of the screen, counted from 0. */
  readonly row: number;
  /** A turn of the wheel is some rows. */
  readonly times: number;
}

const ESC = "\u001b";
/** Presses and releases, as numbers of any size. */
export const MOUSE_ON = `${ESC}[?1000h${ESC}[?1006h`;
export const MOUSE_OFF = `${ESC}[?1006l${ESC}[?1000l`;

const REPORT = new RegExp(`^${ESC}\\[<(\\d+);(\\d+);(\\d+)([Mm])$`);
/** Shift, Alt and Ctrl, which change nothing here. */
const MODIFIERS = 4 + 8 + 16;
const WHEEL_ROWS = 3;
const KEYS: ReadonlyMap<number, Pick<MouseEvent, "key" | "times">> = new Map([
  [0, { key: "click", times: 1 }],
  [64, { key: "wheelUp", times: WHEEL_ROWS }],
  [65, { key: "wheelDown", times: WHEEL_ROWS }],
]);

export function isMouse(sequence: string): boolean {
  return REPORT.test(sequence);
}

/** Undefined: a release, or a button that does nothing. */
export function mouseEvent(sequence: string): MouseEvent | undefined {
  const [, code, , row, end] = REPORT.exec(sequence) ?? [];
  const key = end === "M" ? KEYS.get(Number(code) & ~MODIFIERS) : undefined;
  return key === undefined ? undefined : { ...key, row: Number(row) - 1 };
}
