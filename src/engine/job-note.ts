/** What the model is told about the end of a background command. Bounded and pure. */
import { type EventPayload, howItEnded } from "#protocol";

const COMMAND_CHARS = 200;

export function jobNote({ job, status, duration_ms, detail, ...ended }: EventPayload<"JobEnded">): string {
  const seconds = (duration_ms / 1000).toFixed(1);
  const why = detail === undefined ? "" : ` (${JSON.stringify(detail.slice(0, COMMAND_CHARS))})`;
  if (status === "lost") {
    return `[harness: The background command ${job} was interrupted when the program stopped${why}. It no longer runs, nobody knows how far it got, and its output is gone. Look before you rely on it.]`;
  }
  return `[harness: The background command ${job} has ended after ${seconds} s: ${howItEnded({ status, ...ended })}${why}. Read what it printed with job.read.]`;
}
