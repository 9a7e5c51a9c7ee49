/** The calls of a session that were begun and have not ended, read from all of its lines: a plain file keeps no table of them. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CallId, EventOf } from "#protocol";
import { fileLines } from "../file-lines.ts";
import { checkedLine, type OpenFile } from "./file.ts";

/** Lines that are looked at before others get their turn: a few milliseconds. */
const LINES_PER_TURN = 10_000;
const INTENT = Buffer.from('"kind":"ToolIntent"');
const OUTCOME = Buffer.from('"kind":"ToolOutcome"');

/** Up to the byte `end`, oldest first. */
export async function unfinishedCalls(opened: OpenFile, end: number): Promise<EventOf<"ToolIntent">[]> {
  const calls = new Map<CallId, EventOf<"ToolIntent">>();
  let id = 0;
  for (const { bytes } of fileLines(opened.file, 0, end)) {
    id += 1;
    if (id % LINES_PER_TURN === 0) await nextTurn();
    if (!bytes.includes(INTENT) && !bytes.includes(OUTCOME)) continue;
    const { event } = checkedLine(bytes, id, opened);
    if (event.kind === "ToolIntent") calls.set(event.payload.call_id, event);
    else if (event.kind === "ToolOutcome") calls.delete(event.payload.call_id);
  }
  return [...calls.values()];
}
