/** When frames are written: for keys at once, for events thirty times a second, and never faster than the terminal takes them. */
import type { Clock } from "#base";
import { type FullDisplayed, type FullFrame, paintFullScreen } from "./full-screen.ts";
import type { ScreenPort } from "./screen-port.ts";
import {
  type Displayed,
  eraseRegion,
  eraseWrapped,
  type LiveRegion,
  leaveRegion,
  nothingDisplayed,
  paintFrame,
  type Size,
} from "./screen-writer.ts";

const FRAME_MS = 33;
const CLEAR_ALL = "\u001b[0m\u001b[H\u001b[2J\u001b[3J";
const CLEAR_FULL = "\u001b[0m\u001b[H\u001b[2J";

export interface MainFrame {
  /** Rows that are printed above the region and never change again. */
  readonly settled: readonly string[];
  readonly region: LiveRegion;
}

/** The conversation on the main screen, or something else on the alternate one. */
export type Frame = MainFrame | { readonly full: FullFrame };

export interface Painter {
  now(): void;
  soon(): void;
  /** After a change of size. */
  again(): void;
  /** Takes everything off the screen and out of the scrollback, because somebody asked for that. */
  clear(): void;
  /** Takes the region off the screen; the next frame begins where the cursor stands. */
  erase(): void;
  /** Nothing is written until the returned function is called; it writes nothing itself. */
  hold(): () => void;
  /** Leaves what is shown on the screen, with the cursor below it. */
  leave(): void;
}

export interface PainterOptions {
  readonly screen: ScreenPort;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly widthOf: (row: string) => number;
  /** Taken once for each frame that is written: what it settles is on the screen then. */
  frame(): Frame;
}

export function createPainter({ screen, clock, signal, widthOf, frame }: PainterOptions): Painter {
  let shown: Displayed = nothingDisplayed;
  /** While the alternate screen is on, with the size that the main screen had before. */
  let full: { readonly shown: FullDisplayed | undefined; readonly mainSize: Size } | undefined;
  /** Something was shown by no frame yet. */
  let isDue = false;
  /** Until the next frame for events; keys do not begin another wait. */
  let isWaiting = false;
  let isBlocked = false;
  /** Another program has the terminal. */
  let isHeld = false;

  function write(bytes: string): void {
    if (bytes === "" || screen.write(bytes)) return;
    // A terminal that is behind gets the newest state, not every state.
    isBlocked = true;
    screen.onDrain(() => {
      isBlocked = false;
      now();
    });
  }

  function eraseMain(): void {
    screen.write(eraseWrapped(shown, screen.size(), widthOf));
    shown = nothingDisplayed;
  }

  function leaveFull(): void {
    if (full === undefined) return;
    const { mainSize } = full;
    full = undefined;
    const { columns, rows } = screen.size();
    const isResized = columns !== mainSize.columns || rows !== mainSize.rows;
    // tmux moves rows of the alternate screen into the scrollback of the main one when its size has changed in between.
    if (isResized) screen.write(CLEAR_FULL);
    screen.useFull(false);
    if (isResized) eraseMain();
  }

  function now(): void {
    isDue = false;
    if (isBlocked || isHeld || signal.aborted) return;
    const next = frame();
    if ("full" in next) {
      if (full === undefined) screen.useFull(true);
      const painted = paintFullScreen(full?.shown, next.full, screen.size());
      full = { shown: painted.shown, mainSize: full?.mainSize ?? screen.size() };
      write(painted.bytes);
      return;
    }
    leaveFull();
    const painted = paintFrame(shown, next.settled, next.region, screen.size());
    shown = painted.shown;
    write(painted.bytes);
  }

  return {
    now,
    soon() {
      isDue = true;
      if (isWaiting) return;
      isWaiting = true;
      void clock.sleep(FRAME_MS, signal).then(() => {
        isWaiting = false;
        if (isDue) now();
      });
    },
    again() {
      if (isHeld || signal.aborted) return;
      if (full === undefined) eraseMain();
      now();
    },
    clear() {
      leaveFull();
      screen.write(CLEAR_ALL);
      shown = nothingDisplayed;
      now();
    },
    erase() {
      if (isHeld) return;
      leaveFull();
      screen.write(eraseRegion(shown));
      shown = nothingDisplayed;
    },
    hold() {
      isHeld = true;
      return () => {
        isHeld = false;
      };
    },
    leave() {
      if (isHeld) return;
      leaveFull();
      screen.write(leaveRegion(shown));
    },
  };
}
