/** The signed checkpoints of a session of the JSONL store: lines as in exports, in a file beside the events. */
import { closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "#base";
import type { Checkpoint } from "./checkpoint.ts";
import { evidenceLine, parseMark } from "./evidence-lines.ts";
import { corrupt } from "./jsonl-file.ts";
import { FILE_MODE } from "./jsonl-folder.ts";

const FILE_NAME = "checkpoints.jsonl";

/** In the order of their events; a line that was cut off while it was written is left out. Throws LogCorrupt. */
export function readCheckpoints(folder: string): readonly Checkpoint[] {
  const path = join(folder, FILE_NAME);
  const checkpoints = wholeLines(path).map((line, index) => {
    try {
      const mark = parseMark(line);
      if (mark?.type === "checkpoint") return mark.checkpoint;
    } catch {
      // Told below, with its line.
    }
    throw corrupt(path, `line ${index + 1} is no checkpoint.`);
  });
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

/** Takes away what was cut off, so that the next line begins a line. Only the writer of the session may. */
export function mendCheckpoints(folder: string): void {
  const path = join(folder, FILE_NAME);
  const bytes = readBytes(path);
  const end = bytes.lastIndexOf("\n") + 1;
  if (end === bytes.length) return;
  const file = openSync(path, "r+");
  try {
    ftruncateSync(file, end);
  } finally {
    closeSync(file);
  }
}

function wholeLines(path: string): string[] {
  return readBytes(path).toString("utf8").split("\n").slice(0, -1);
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
