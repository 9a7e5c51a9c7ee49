/** What a background command has printed: the end of it, by position, so that a reader goes on where it stopped. Bounded. */

/** Kept for readers; what is older is counted. */
export const KEPT_CHARS = 256 * 1024;
/** An unfinished line is held back while more may come, so that a secret is not read in two halves; a longer one is not waited for. */
const LINE_CHARS = 4 * 1024;

export interface PrintedText {
  add(text: string): void;
  /** At most `maxChars` from the position on. `missed`: characters that were there and are no longer kept. */
  read(from: number, maxChars: number, isOver: boolean): { text: string; next: number; missed: number };
}

export function createPrintedText(): PrintedText {
  let kept = "";
  /** The position of its first character. */
  let start = 0;
  return {
    add(text) {
      kept += text;
      // Cut at twice the size and not at every chunk, so that the cost stays linear.
      if (kept.length <= 2 * KEPT_CHARS) return;
      start += kept.length - KEPT_CHARS;
      kept = kept.slice(-KEPT_CHARS);
    },
    read(from, maxChars, isOver) {
      const at = Math.min(Math.max(from, start), start + kept.length);
      const rest = kept.slice(at - start);
      const lines = rest.lastIndexOf("\n") + 1;
      const whole = isOver || rest.length - lines > LINE_CHARS ? rest : rest.slice(0, lines);
      const text = whole.slice(0, maxChars);
      return { text, next: at + text.length, missed: Math.max(0, start - from) };
    },
  };
}
