/** Bytes into lines at `\n` and nowhere else. A line above the bound is told once, as soon as it is, and skipped, never kept. */

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
  let isSkipping = false;

  function take(): Line {
    const bytes = parts.length === 1 ? parts[0]! : join(parts, size);
    parts = [];
    size = 0;
    return { bytes };
  }

  /** True when the line has just become too long. */
  function keep(piece: Uint8Array): boolean {
    if (isSkipping || piece.length === 0) return false;
    isSkipping = size + piece.length > maxBytes;
    if (isSkipping) {
      parts = [];
      size = 0;
    } else {
      parts.push(piece);
      size += piece.length;
    }
    return isSkipping;
  }

  return {
    push(chunk) {
      const lines: Line[] = [];
      let from = 0;
      for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
        if (keep(chunk.subarray(from, at))) lines.push({ tooLong: true });
        if (!isSkipping) lines.push(take());
        isSkipping = false;
        from = at + 1;
      }
      if (keep(chunk.subarray(from))) lines.push({ tooLong: true });
      return lines;
    },
    end: () => (size > 0 ? [take()] : []),
  };
}

/** Lines as text, of a sender that is given up when it goes too far: throws for a line above the bound. */
export function createTextLines(maxBytes: number): (chunk: Uint8Array) => string[] {
  const splitter = createLineSplitter(maxBytes);
  const decoder = new TextDecoder();
  return (chunk) =>
    splitter.push(chunk).map((line) => {
      if ("tooLong" in line) throw new RangeError(`a line is longer than ${maxBytes} bytes`);
      return decoder.decode(line.bytes);
    });
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
