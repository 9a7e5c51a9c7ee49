/** The lines of an open file, a piece at a time. A line ends at "\n" and nowhere else; decoding is the caller's. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { createLineSplitter, type Line } from "#wire";

/** Read at a time unless the caller knows that it wants less. */
const CHUNK_BYTES = 256 * 1024;

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
  const splitter = createLineSplitter(maxBytes);
  let start = from;
  function* placed(lines: readonly Line[]): Generator<FileLine> {
    for (const line of lines) {
      if ("tooLong" in line) throw new RangeError(`a line is longer than ${maxBytes} bytes`);
      const { buffer, byteOffset, length } = line.bytes;
      yield { bytes: Buffer.from(buffer, byteOffset, length), start };
      start += length + 1;
    }
  }
  for (let at = from; at < to; ) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, to - at));
    const read = readSync(file, chunk, 0, chunk.length, at);
    if (read === 0) break;
    at += read;
    yield* placed(splitter.push(chunk.subarray(0, read)));
  }
  yield* placed(splitter.end());
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
