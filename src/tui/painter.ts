/** When frames are written: for keys at once, for events thirty times a second, and never faster than the terminal takes them. */
import type { Clock } from "#base";
import type { ScreenPort } from "./screen-port.ts";
import {
  type Displayed,
  eraseRegion,
  eraseWrapped,
  type LiveRegion,
  leaveRegion,
  nothingDisplayed,
  paintFrame,
} from "./screen-writer.ts";

const FRAME_MS = 33;

export interface Frame {
  /** Rows that are printed above the region and never change again. */
  readonly settled: readonly string[];
  readonly region: LiveRegion;
}

export interface Painter {
  now(): void;
  soon(): void;
  /** After a change of size. */
  again(): void;
  /** Takes the region off the screen; the next frame begins where the cursor stands. */
  erase(): void;
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
  let isDue = false;
  let isBlocked = false;

  function write(bytes: string): void {
    if (bytes === "" || screen.write(bytes)) return;
    // A terminal that is behind gets the newest state, not every state.
    isBlocked = true;
    screen.onDrain(() => {
      isBlocked = false;
      now();
    });
  }

  function now(): void {
    isDue = false;
    if (isBlocked || signal.aborted) return;
    const { settled, region } = frame();
    const painted = paintFrame(shown, settled, region, screen.size());
    shown = painted.shown;
    write(painted.bytes);
  }

  return {
    now,
    soon() {
      if (isDue) return;
      isDue = true;
      void clock.sleep(FRAME_MS, signal).then(() => {
        if (isDue) now();
      });
    },
    again() {
      if (signal.aborted) return;
      screen.write(eraseWrapped(shown, screen.size(), widthOf));
      shown = nothingDisplayed;
      now();
    },
    erase() {
      screen.write(eraseRegion(shown));
      shown = nothingDisplayed;
    },
    leave: () => void screen.write(leaveRegion(shown)),
  };
}
