/**
 * What a background command has printed: the end of it, by position, so that a reader goes on where it stopped. Bounded. A reader begins
 * and stops anywhere, so what is read was redacted before: a secret that is read in two halves is known by nobody.
 */
import type { RedactedStream } from "#engine";

/** Kept for readers; what is older is counted. */
export const KEPT_CHARS = 256 * 1024;
/** Of what is dropped, redacted with what follows: a secret that began there is known for one. */
const LEAD_CHARS = 16 * 1024;

export interface PrintedText {
  add(text: string): void;
  /** No more text comes. Throws `RedactionFailed`. */
  end(): void;
  /** At most `maxChars` from the position on. `missed`: characters that were there and are no longer kept. Throws `RedactionFailed`. */
  read(from: number, maxChars: number): { text: string; next: number; missed: number };
}

export function createPrintedText(createStream: () => RedactedStream): PrintedText {
  let stream = createStream();
  let kept = "";
  /** The position of its first character. */
  let start = 0;
  /** Not redacted yet: of a flood that nobody reads, most never is. */
  let pending = "";

  function keep(text: string): void {
    kept += text;
    const excess = kept.length - KEPT_CHARS;
    if (excess <= 0) return;
    start += excess;
    kept = kept.slice(excess);
  }

  function takeIn(): void {
    const text = pending;
    pending = "";
    keep(stream.push(text));
  }

  return {
    add(text) {
      pending += text;
      // Cut at twice the size and not at every chunk, so that the cost stays linear.
      if (pending.length <= 2 * KEPT_CHARS) return;
      const cut = pending.length - KEPT_CHARS;
      start += kept.length + cut;
      kept = "";
      stream = createStream();
      stream.push(pending.slice(Math.max(0, cut - LEAD_CHARS), cut));
      pending = pending.slice(cut);
    },
    end() {
      takeIn();
      keep(stream.flush());
    },
    read(from, maxChars) {
      takeIn();
      const at = Math.min(Math.max(from, start), start + kept.length);
      const text = kept.slice(at - start, at - start + maxChars);
      return { text, next: at + text.length, missed: Math.max(0, start - from) };
    },
  };
}
