/**
 * The events of one session in a file of lines. What is appended together ends with a marked line; whatever follows the
 * last marked line was never acknowledged. Synchronous: durable when a call returns.
 */
import { fdatasyncSync, fstatSync, ftruncateSync, readSync, writeSync } from "node:fs";
import { defined, messageOf } from "#base";
import { ReasonError, type SessionId } from "#protocol";
import { formatLine, type ParsedLine, parseLine, toChained } from "../event-line.ts";
import { fileLines } from "../file-lines.ts";
import type { ChainedRecord } from "../record.ts";
import type { FilePlace } from "./seek.ts";

const NEWLINE = 0x0a;
/** Of the end of the file, read first; a longer last line makes it grow. */
const TAIL_BYTES = 16 * 1024;
const TAIL_GROWTH = 8;
/** Lines that are written at once when a whole session is. */
const WRITE_BATCH_CHARS = 1024 * 1024;
/** Read at a time for a page, which is small. */
const PAGE_CHUNK_BYTES = 64 * 1024;

export interface OpenFile {
  readonly file: number;
  readonly path: string;
  readonly session: SessionId;
}

export interface FileTail {
  readonly last?: ChainedRecord;
  /** When the last event was appended; absent when there is none. */
  readonly updatedAt?: string;
  /** Where the next event goes. */
  readonly end: number;
  /** Bytes behind that, left by a write that was cut off. */
  readonly tornBytes: number;
}

/**
 * What the end of the file says. Throws LogCorrupt for a whole line that is not an event: a write that was cut off leaves a
 * line without an end or, after a loss of power, zeros.
 */
export function readTail({ file, path }: OpenFile): FileTail {
  const { size } = fstatSync(file);
  for (let window = TAIL_BYTES; ; window *= TAIL_GROWTH) {
    const from = Math.max(0, size - window);
    const bytes = readRange(file, from, size);
    for (let stop = bytes.lastIndexOf(NEWLINE) + 1; stop > 0; ) {
      const start = stop < 2 ? 0 : bytes.lastIndexOf(NEWLINE, stop - 2) + 1;
      // Its beginning may lie before what was read.
      if (start === 0 && from > 0) break;
      const line = committedLine(bytes.subarray(start, stop - 1), path);
      if (line !== undefined) {
        if (line.link === undefined) throw corrupt(path, "its last line has no 'x_evidence'");
        return {
          last: toChained(line),
          ...defined({ updatedAt: line.storedAt }),
          end: from + stop,
          tornBytes: size - from - stop,
        };
      }
      stop = start;
    }
    if (from === 0) return { end: 0, tornBytes: size };
  }
}

function committedLine(bytes: Buffer, path: string): ParsedLine | undefined {
  if (bytes.includes(0)) return undefined;
  let line: ParsedLine;
  try {
    line = parseLine(bytes.toString("utf8"));
  } catch (error) {
    throw corrupt(path, `its last line is not an event: ${messageOf(error)}`);
  }
  return line.storedAt === undefined ? undefined : line;
}

/** Appends behind `tail`, or leaves the file as it was and throws. */
export function appendRecords(
  { file, session }: OpenFile,
  end: number,
  records: readonly ChainedRecord[],
  now: string,
) {
  const lines = records.map((record, index) =>
    formatLine(session, record, index === records.length - 1 ? now : undefined),
  );
  const bytes = Buffer.from(`${lines.join("\n")}\n`, "utf8");
  try {
    writeAt(file, bytes, end);
    fdatasyncSync(file);
  } catch (error) {
    ftruncateSync(file, end);
    throw error;
  }
  return end + bytes.length;
}

/** Writes a whole session into an empty file, as one append. */
export function writeRecords({ file, session }: OpenFile, records: Iterable<ChainedRecord>, now: string): void {
  let end = 0;
  let waiting: ChainedRecord | undefined;
  let text = "";
  const flush = (): void => {
    end += writeAt(file, Buffer.from(text, "utf8"), end);
    text = "";
  };
  for (const record of records) {
    if (waiting !== undefined) text += `${formatLine(session, waiting)}\n`;
    waiting = record;
    if (text.length > WRITE_BATCH_CHARS) flush();
  }
  if (waiting !== undefined) text += `${formatLine(session, waiting, now)}\n`;
  flush();
  fdatasyncSync(file);
}

export interface LineRange {
  /** A place in the file at or before the first event that is wanted. */
  readonly from: FilePlace;
  readonly after: number;
  readonly end: number;
  readonly limit: number;
  /** The page ends with the line that reaches this. */
  readonly maxBytes: number;
}

export interface LinePage {
  readonly lines: readonly ParsedLine[];
  /** Of the last line that was looked at: the next page begins behind it. */
  readonly last: FilePlace;
}

/** A page of the events with `id > after` up to `end`. */
export function readLinesAfter(opened: OpenFile, { from, after, end, limit, maxBytes }: LineRange): LinePage {
  const lines: ParsedLine[] = [];
  let last = from;
  let { id } = from;
  let left = maxBytes;
  if (limit < 1) return { lines, last };
  for (const { bytes, start } of fileLines(opened.file, from.offset, end, { chunkBytes: PAGE_CHUNK_BYTES })) {
    last = { id, offset: start };
    if (id > after) {
      lines.push(checkedLine(bytes, id, opened));
      left -= bytes.length;
      if (lines.length >= limit || left <= 0) break;
    }
    id += 1;
  }
  return { lines, last };
}

/** Line n holds event n of its own session, or the file was damaged. */
export function checkedLine(
  bytes: Buffer,
  id: number,
  { session, path }: Pick<OpenFile, "session" | "path">,
): ParsedLine {
  let line: ParsedLine;
  try {
    line = parseLine(bytes.toString("utf8"));
  } catch (error) {
    throw corrupt(path, `line ${id}: ${messageOf(error)}.`);
  }
  if (line.event.id !== id) throw corrupt(path, `line ${id} holds event ${line.event.id}.`);
  if (line.event.session !== session) throw corrupt(path, `line ${id} belongs to ${line.event.session}.`);
  return line;
}

function writeAt(file: number, bytes: Buffer, position: number): number {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
  }
  return bytes.length;
}

export function readRange(file: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(to - from);
  let length = 0;
  while (length < bytes.length) {
    const read = readSync(file, bytes, length, bytes.length - length, from + length);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}

export function corrupt(path: string, detail: string): ReasonError {
  return new ReasonError("LogCorrupt", { path, detail });
}
