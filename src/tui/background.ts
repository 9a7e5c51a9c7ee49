/**
 * The background of the terminal while the interface runs: asked for again whenever the terminal says that its colours or its focus
 * have changed. What it reports is never a key. Terminals that know none of this say nothing.
 */
import type { ScreenPort } from "./screen-port.ts";
import { ASK_BACKGROUND, type ThemeName, themeFor } from "./theme.ts";
import type { Widgets } from "./widgets.ts";

export interface BackgroundWatch {
  /** After each time that the terminal was taken. */
  begin(): void;
  /** Whether the sequence was one of its reports. */
  takes(sequence: string): boolean;
}

const ESC = "\u001b";
/** Changes of the colour scheme (2031) and of the focus (1004) are reported. */
const WATCH_ON = `${ESC}[?2031h${ESC}[?1004h`;
/** Part of how a terminal is given back. */
export const WATCH_OFF = `${ESC}[?1004l${ESC}[?2031l`;
const FOCUS_IN = `${ESC}[I`;
const FOCUS_OUT = `${ESC}[O`;
const SCHEME = new RegExp(`^${ESC}\\[\\?997;[12]n$`);

export function createBackgroundWatch({
  screen,
  widgets,
  isOn,
  onTheme,
}: {
  readonly screen: Pick<ScreenPort, "write">;
  readonly widgets: Pick<Widgets, "parseOsc11BackgroundColor">;
  readonly isOn: boolean;
  /** Also when it is the same one. */
  onTheme(name: ThemeName): void;
}): BackgroundWatch {
  return {
    begin() {
      if (isOn) screen.write(WATCH_ON + ASK_BACKGROUND);
    },
    takes(sequence) {
      if (sequence === FOCUS_OUT) return true;
      if (sequence === FOCUS_IN || SCHEME.test(sequence)) {
        // The scheme that is preferred says nothing of the colour that is there.
        if (isOn) screen.write(ASK_BACKGROUND);
        return true;
      }
      const background = widgets.parseOsc11BackgroundColor(sequence);
      if (background === undefined) return false;
      if (isOn) onTheme(themeFor(background));
      return true;
    },
  };
}
