/**
 * Where the line of an event begins in a file of events, found by halving the file: ids go up from line to line, so that a page deep in
 * a long session needs neither an index nor the lines before it. Does not judge lines: whoever reads them does.
 */
import { readSync } from "node:fs";

/** Read at a time, and the stretch that is no longer halved: reading its lines costs as little. */
const PROBE_BYTES = 16 * 1024;
const NEWLINE = 0x0a;
/** `formatLine` writes the id first. */
const ID_START = /^\{"id":(\d{1,16}),/;
const ID_START_BYTES = 32;

/** The event whose line begins at this byte of the file. */
export interface FilePlace {
  readonly id: number;
  readonly offset: number;
}

/** A place at or shortly before the event `id`, between `known` and the byte `end`. `known` itself where lines do not begin with an id. */
export function seekEvent(file: number, known: FilePlace, end: number, id: number): FilePlace {
  let low = known;
  let high = end;
  while (low.id < id && high - low.offset > PROBE_BYTES) {
    const middle = Math.floor((low.offset + high) / 2);
    const start = nextLineStart(file, middle, high);
    if (start === undefined) {
      high = middle;
      continue;
    }
    const found = idAt(file, start);
    // What is wrong with that line is told by whoever reads up to it.
    if (found === undefined || found <= low.id) return low;
    if (found <= id) low = { id: found, offset: start };
    else high = middle;
  }
  return low;
}

/** Of the first line that begins behind `from` and before `to`. */
function nextLineStart(file: number, from: number, to: number): number | undefined {
  const buffer = Buffer.allocUnsafe(PROBE_BYTES);
  for (let at = from; at < to; ) {
    const length = readSync(file, buffer, 0, Math.min(PROBE_BYTES, to - at), at);
    if (length === 0) return undefined;
    const newline = buffer.subarray(0, length).indexOf(NEWLINE);
    if (newline >= 0) return at + newline + 1 < to ? at + newline + 1 : undefined;
    at += length;
  }
  return undefined;
}

function idAt(file: number, offset: number): number | undefined {
  const buffer = Buffer.alloc(ID_START_BYTES);
  const length = readSync(file, buffer, 0, ID_START_BYTES, offset);
  const id = ID_START.exec(buffer.toString("latin1", 0, length))?.[1];
  return id === undefined ? undefined : Number(id);
}
