/** The lines of an open file, a piece at a time. A line ends at "\n" and nowhere else; decoding is the caller's. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** Read at a time unless the caller knows that it wants less. */
const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export interface FileLine {
  /** Without its newline. */
  readonly bytes: Buffer;
  /** Where it begins in the file. */
  readonly start: number;
}

/** Lines from `from` to the byte `to`; a last line without a newline counts. Throws when one is longer than `maxBytes`. */
export function* fileLines(
  file: number,
  from: number,
  to: number,
  { maxBytes = Infinity, chunkBytes = CHUNK_BYTES }: { readonly maxBytes?: number; readonly chunkBytes?: number } = {},
): Generator<FileLine> {
  /** The beginning of a line whose end has not been read yet. */
  let parts: Buffer[] = [];
  let heldBytes = 0;
  let start = from;
  for (let at = from; at < to; ) {
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, to - at));
    const chunk = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, at));
    if (chunk.length === 0) break;
    at += chunk.length;
    let begin = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, begin)) {
      const tail = chunk.subarray(begin, end);
      const bytes = parts.length === 0 ? tail : Buffer.concat([...parts, tail]);
      yield { bytes, start };
      start += bytes.length + 1;
      begin = end + 1;
      parts = [];
      heldBytes = 0;
    }
    if (begin < chunk.length) parts.push(chunk.subarray(begin));
    heldBytes += chunk.length - begin;
    if (heldBytes > maxBytes) throw new RangeError(`a line is longer than ${maxBytes} bytes`);
  }
  if (heldBytes > 0) yield { bytes: Buffer.concat(parts), start };
}

/** The lines of a file as text. Throws when one is not UTF-8 or is longer than `maxBytes`. */
export function* readTextLines(path: string, maxBytes: number): Generator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const file = openSync(path, "r");
  try {
    let number = 0;
    for (const { bytes } of fileLines(file, 0, fstatSync(file).size, { maxBytes })) {
      number += 1;
      let text: string;
      try {
        text = decoder.decode(bytes);
      } catch (error) {
        throw new Error(`line ${number} is not UTF-8`, { cause: error });
      }
      yield text;
    }
  } finally {
    closeSync(file);
  }
}
