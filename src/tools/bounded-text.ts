/** Keeps the beginning and the end of a text that may be endless, and counts what fell out between them. */
import { withoutCutEnd, withoutCutStart } from "#base";

export interface BoundedText {
  add(text: string): void;
  /** The text, with a marker in the middle when something was left out: what is kept are whole lines, as far as there are some. */
  text(): string;
}

export function createBoundedText(limits: { readonly headChars: number; readonly tailChars: number }): BoundedText {
  let head = "";
  let tail = "";
  let addedBytes = 0;
  let isCut = false;
  const trim = () => {
    if (tail.length <= limits.tailChars) return;
    isCut = true;
    tail = tail.slice(-limits.tailChars);
  };
  return {
    add(text) {
      addedBytes += Buffer.byteLength(text);
      const room = limits.headChars - head.length;
      head += text.slice(0, room);
      tail += text.slice(room);
      // Trimmed at twice the size and not at every chunk, so that the cost stays linear.
      if (tail.length > 2 * limits.tailChars) trim();
    },
    text() {
      trim();
      if (!isCut) return head + tail;
      const [first, last] = [withoutCutEnd(head), withoutCutStart(tail)];
      const leftBytes = addedBytes - Buffer.byteLength(first) - Buffer.byteLength(last);
      return `${first}${first.endsWith("\n") ? "" : "\n"}[… ${leftBytes} bytes left out …]\n${last}`;
    },
  };
}
