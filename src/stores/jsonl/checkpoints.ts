/** The signed checkpoints of a session of the JSONL store: lines as in exports, in a file beside the events. */
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ifThere } from "#base";
import type { Checkpoint } from "../checkpoint.ts";
import { evidenceLine, parseMark } from "../evidence-lines.ts";
import { corrupt, readRange } from "./file.ts";
import { FILE_MODE } from "./folder.ts";

const FILE_NAME = "checkpoints.jsonl";
/** Room for several checkpoints: a session of a million events has a file of megabytes, of which the last one counts. */
const END_BYTES = 8 * 1024;

/** In the order of their events; a line that was cut off while it was written is left out. Throws LogCorrupt. */
export function readCheckpoints(folder: string): readonly Checkpoint[] {
  const path = join(folder, FILE_NAME);
  const checkpoints = wholeLines(path).map((line, index) => checkpointOf(line, path, `line ${index + 1}`));
  return checkpoints.sort((a, b) => a.event - b.event);
}

/** Durable when it returns. */
export function appendCheckpoints(folder: string, checkpoints: readonly Checkpoint[]): void {
  if (checkpoints.length === 0) return;
  const lines = checkpoints.map((checkpoint) => `${evidenceLine({ type: "checkpoint", checkpoint })}\n`);
  const file = openSync(join(folder, FILE_NAME), "a", FILE_MODE);
  try {
    writeSync(file, lines.join(""));
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The last event that a checkpoint covers; 0 when there is none. Looks at the end of the file alone. Throws LogCorrupt. */
export function signedTo(folder: string): number {
  const path = join(folder, FILE_NAME);
  const { bytes, isWhole } = readEnd(path);
  const lines = bytes
    .toString("utf8")
    .split("\n")
    .slice(isWhole ? 0 : 1, -1);
  if (lines.length === 0 && !isWhole) return readCheckpoints(folder).at(-1)?.event ?? 0;
  return Math.max(0, ...lines.map((line) => checkpointOf(line, path, "a line near its end").event));
}

/** Takes away what was cut off, so that the next line begins a line. Only the writer of the session may. */
export function mendCheckpoints(folder: string): void {
  const path = join(folder, FILE_NAME);
  const near = readEnd(path);
  const { bytes, from } = near.isWhole || near.bytes.includes("\n") ? near : { bytes: readBytes(path), from: 0 };
  const end = bytes.lastIndexOf("\n") + 1;
  if (end === bytes.length) return;
  const file = openSync(path, "r+");
  try {
    ftruncateSync(file, from + end);
  } finally {
    closeSync(file);
  }
}

function checkpointOf(line: string, path: string, where: string): Checkpoint {
  try {
    const mark = parseMark(line);
    if (mark?.type === "checkpoint") return mark.checkpoint;
  } catch {
    // Told below, with its line.
  }
  throw corrupt(path, `${where} is not a checkpoint.`);
}

/** The last bytes of the file, or all of it. */
function readEnd(path: string): { readonly bytes: Buffer; readonly from: number; readonly isWhole: boolean } {
  const file = ifThere(() => openSync(path, "r"));
  if (file === undefined) return { bytes: Buffer.alloc(0), from: 0, isWhole: true };
  try {
    const { size } = fstatSync(file);
    const from = Math.max(0, size - END_BYTES);
    return { bytes: readRange(file, from, size), from, isWhole: from === 0 };
  } finally {
    closeSync(file);
  }
}

function wholeLines(path: string): string[] {
  return readBytes(path).toString("utf8").split("\n").slice(0, -1);
}

function readBytes(path: string): Buffer {
  return ifThere(() => readFileSync(path)) ?? Buffer.alloc(0);
}
