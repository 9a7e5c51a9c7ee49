/** Keeps the beginning and the end of a text that may be endless, and counts what fell out between them. */
import { cutText } from "./numbered-lines.ts";

export interface BoundedText {
  add(text: string): void;
  /** The text, with a marker in the middle when something was left out. */
  text(): string;
}

export function createBoundedText(limits: { readonly headChars: number; readonly tailChars: number }): BoundedText {
  let head = "";
  let tail = "";
  let droppedBytes = 0;
  const drop = (text: string) => {
    droppedBytes += Buffer.byteLength(text, "utf8");
  };
  const trim = () => {
    const kept = lastChars(tail, limits.tailChars);
    drop(tail.slice(0, tail.length - kept.length));
    tail = kept;
  };
  return {
    add(text) {
      let rest = text;
      if (tail === "" && droppedBytes === 0) {
        const taken = cutText(rest, limits.headChars - head.length);
        head += taken;
        rest = rest.slice(taken.length);
      }
      tail += rest;
      // Trimmed at twice the size and not at every chunk, so that the cost stays linear.
      if (tail.length > 2 * limits.tailChars) trim();
    },
    text() {
      trim();
      if (droppedBytes === 0) return head + tail;
      return `${head}\n[… ${droppedBytes} bytes left out …]\n${tail}`;
    },
  };
}

function lastChars(text: string, count: number): string {
  if (text.length <= count) return text;
  const first = text.charCodeAt(text.length - count);
  return text.slice(text.length - count + (first >= 0xdc00 && first <= 0xdfff ? 1 : 0));
}
