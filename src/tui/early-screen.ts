/**
 * The terminal from the first moment on: an empty editor in which what is typed can be seen, while the program still loads and connects.
 * The interface takes over where this one is; what has to be asked before gives the terminal back first.
 */
import { firstRegion } from "./first-paint.ts";
import type { ScreenPort } from "./screen-port.ts";
import { type Displayed, eraseRegion, nothingDisplayed, paintFrame } from "./screen-writer.ts";
import type { Theme } from "./theme.ts";

export interface EarlyScreen extends ScreenPort {
  /** Before `begin`: the terminal is as it was, and what was typed is dropped. Afterwards: nothing. */
  release(): void;
}

const CTRL_C = "\u0003";
const STATUS = "Starting ...";

/** `onInterrupt`: Ctrl-C before the interface has taken over. The terminal is as it was by then. */
export function takeScreenEarly(port: ScreenPort, theme: Theme, onInterrupt: () => void): EarlyScreen {
  let typed = "";
  let shown: Displayed = nothingDisplayed;
  let taken: Parameters<ScreenPort["begin"]>[0] | undefined;
  let giveBack: (() => void) | undefined;

  function paint(): void {
    const size = port.size();
    const painted = paintFrame(shown, [], firstRegion(typed, STATUS, size, theme), size);
    shown = painted.shown;
    port.write(painted.bytes);
  }

  function release(): void {
    if (taken !== undefined || giveBack === undefined) return;
    port.write(eraseRegion(shown));
    giveBack();
    giveBack = undefined;
  }

  giveBack = port.begin({
    bytes(chunk) {
      if (taken !== undefined) return taken.bytes(chunk);
      if (chunk.includes(CTRL_C)) {
        release();
        return onInterrupt();
      }
      typed += chunk;
      paint();
    },
    resize: () => (taken === undefined ? paint() : taken.resize()),
    resumed: () => (taken === undefined ? paint() : taken.resumed()),
  });
  paint();

  return {
    ...port,
    release,
    begin(on) {
      if (giveBack === undefined) return port.begin(on);
      const give = giveBack;
      giveBack = undefined;
      taken = on;
      port.write(eraseRegion(shown));
      if (typed !== "") on.bytes(typed);
      return give;
    },
  };
}
