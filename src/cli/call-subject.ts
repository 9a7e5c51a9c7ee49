/** What a recorded call was about, on one line. */
import type { RecordedCall } from "#governance";
import { summarise } from "./renderer.ts";

const SUBJECT_CHARS = 120;

export function subjectOf({ args }: Pick<RecordedCall, "args">): string {
  const { command, path, url } = args ?? {};
  const [plain] = [command, path, url].filter((value) => typeof value === "string");
  const text = (plain ?? summarise(args)).replace(/\s*\n\s*/g, " ⏎ ");
  return text.length > SUBJECT_CHARS ? `${text.slice(0, SUBJECT_CHARS)}…` : text;
}
