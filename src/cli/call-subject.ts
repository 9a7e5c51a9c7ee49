/** What a recorded call was about, cut. Whoever shows it makes it visible. */
import type { RecordedCall } from "#program";
import { summarise } from "./renderer.ts";

const SUBJECT_CHARS = 120;

export function subjectOf({ args }: Pick<RecordedCall, "args">): string {
  const { command, path, url } = args ?? {};
  const [plain] = [command, path, url].filter((value) => typeof value === "string");
  const text = plain ?? summarise(args);
  return text.length > SUBJECT_CHARS ? `${text.slice(0, SUBJECT_CHARS)}…` : text;
}
