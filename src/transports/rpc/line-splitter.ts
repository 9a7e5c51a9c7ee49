/** Bytes into lines at `\n` and nowhere else. A line above the bound is told once and skipped, never kept. */

export type Line = { readonly bytes: Uint8Array } | { readonly tooLong: true };

export interface LineSplitter {
  push(chunk: Uint8Array): Line[];
  /** What stands behind the last `\n`, if anything. */
  end(): Line[];
}

const LINE_FEED = 0x0a;

export function createLineSplitter(maxBytes: number): LineSplitter {
  let parts: Uint8Array[] = [];
  let size = 0;
  let skipping = false;

  function take(): Line[] {
    const line: Line[] = skipping
      ? [{ tooLong: true }]
      : [{ bytes: parts.length === 1 ? parts[0]! : join(parts, size) }];
    parts = [];
    size = 0;
    skipping = false;
    return line;
  }

  function keep(piece: Uint8Array): void {
    if (skipping || piece.length === 0) return;
    if (size + piece.length > maxBytes) {
      parts = [];
      size = 0;
      skipping = true;
      return;
    }
    parts.push(piece);
    size += piece.length;
  }

  return {
    push(chunk) {
      const lines: Line[] = [];
      let from = 0;
      for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
        keep(chunk.subarray(from, at));
        lines.push(...take());
        from = at + 1;
      }
      keep(chunk.subarray(from));
      return lines;
    },
    end: () => (skipping || size > 0 ? take() : []),
  };
}

function join(parts: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
