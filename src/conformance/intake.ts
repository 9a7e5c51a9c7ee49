/** How much is taken from a server that is tried: it may be anybody's, and mean harm. */
import { numberField } from "./sighting.ts";

/** One line, frame or answer. */
export const PIECE_MAX_BYTES = 64 * 1024 * 1024;
/** All that comes on one stream. */
const STREAM_MAX_BYTES = 256 * 1024 * 1024;

/** Counts what comes; throws when it is too much. */
export function createIntake(): (bytes: number) => void {
  let taken = 0;
  return (bytes) => {
    taken += bytes;
    if (taken > STREAM_MAX_BYTES) throw new Error(`the server sent more than ${STREAM_MAX_BYTES} bytes`);
  };
}

/** No scenario makes a log that is longer. */
const LOG_MAX_EVENTS = 100_000;

/** Throws when a log would be read without end: a page that is not the last has to be behind `after`. */
export function checkPage(page: readonly unknown[], after: number, known: number): void {
  const isBehind = page.every((event) => (numberField(event, "id") ?? 0) > after);
  if (page.length === 0 || !isBehind) throw new Error("cannot read the log: a page does not advance");
  if (known > LOG_MAX_EVENTS)
    throw new Error(`cannot read the log: the server sent more than ${LOG_MAX_EVENTS} events`);
}
