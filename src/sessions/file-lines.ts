/** The lines of an open file, a piece at a time. A line ends at "\n" and nowhere else; decoding is the caller's. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export interface FileLine {
  /** Without its newline; valid until the next one is asked for. */
  readonly bytes: Buffer;
  /** Where it begins in the file. */
  readonly start: number;
}

/** Lines from `from` to the byte `to`; a last line without a newline counts. Throws when one is longer than `maxBytes`. */
export function* fileLines(file: number, from: number, to: number, maxBytes = Infinity): Generator<FileLine> {
  let rest: Buffer = Buffer.alloc(0);
  let start = from;
  for (let at = from; at < to; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, to - at));
    const length = readSync(file, chunk, 0, chunk.length, at);
    if (length === 0) break;
    at += length;
    const piece = rest.length === 0 ? chunk.subarray(0, length) : Buffer.concat([rest, chunk.subarray(0, length)]);
    let begin = 0;
    for (let end = piece.indexOf(NEWLINE, rest.length); end >= 0; end = piece.indexOf(NEWLINE, begin)) {
      yield { bytes: piece.subarray(begin, end), start };
      start += end + 1 - begin;
      begin = end + 1;
    }
    rest = piece.subarray(begin);
    if (rest.length > maxBytes) throw new RangeError(`a line is longer than ${maxBytes} bytes`);
  }
  if (rest.length > 0) yield { bytes: rest, start };
}

/** The lines of a file as text. Throws when one is not UTF-8 or is longer than `maxBytes`. */
export function* readTextLines(path: string, maxBytes: number): Generator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const file = openSync(path, "r");
  try {
    let number = 0;
    for (const { bytes } of fileLines(file, 0, fstatSync(file).size, maxBytes)) {
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
