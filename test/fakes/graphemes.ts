/**
 * Widths of characters as the terminals of today show them, for the terminal of the tests. The addon reads its table from the start of
 * the memory of a `Buffer`, and so only reads it right when the buffer has memory of its own.
 */
import type { Terminal } from "@xterm/headless";

const { poolSize } = Buffer;
Buffer.poolSize = 0;
const { UnicodeGraphemesAddon } = await import("@xterm/addon-unicode-graphemes");
Buffer.poolSize = poolSize;

export function useGraphemes(terminal: Terminal): void {
  terminal.loadAddon(new UnicodeGraphemesAddon());
}
