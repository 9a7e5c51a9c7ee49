/** Where two JSON values differ first, and how to say so. */
import { structuredPatch } from "diff";
import { canonicalJson } from "#base";
import { ReasonError } from "#protocol";
import { print } from "./cassette-text.ts";

export interface Difference {
  /** As in `messages[2].content[0].text`; empty for the values themselves. */
  readonly path: string;
  readonly recorded: unknown;
  readonly now: unknown;
}

const SHOWN_CHARS = 160;
const MAX_DIFF_LINES = 60;
/** Beyond it the texts have little in common, and where they begin to differ says more. */
const MAX_EDITS = 1000;

/** Undefined when they are the same; a field that is undefined is a field that is not there. */
export function firstDifference(recorded: unknown, now: unknown, path = ""): Difference | undefined {
  if (recorded === now) return undefined;
  if (!isObject(recorded) || !isObject(now) || Array.isArray(recorded) !== Array.isArray(now)) {
    return { path, recorded, now };
  }
  if (Array.isArray(recorded) && Array.isArray(now)) {
    for (let index = 0; index < Math.max(recorded.length, now.length); index++) {
      const found = firstDifference(recorded[index], now[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const key of Object.keys(recorded)) {
    const found = firstDifference(recorded[key], now[key], below(path, key));
    if (found !== undefined) return found;
  }
  for (const key of Object.keys(now)) {
    if (recorded[key] === undefined && now[key] !== undefined) {
      return { path: below(path, key), recorded: undefined, now: now[key] };
    }
  }
  return undefined;
}

function below(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

/** `what` is asked for in another way than on the cassette. */
export function mismatch(place: string, what: string, recorded: unknown, now: unknown): ReasonError {
  const difference = firstDifference(recorded, now) ?? { path: "", recorded, now };
  const { path } = difference;
  const lines = [
    `${what} differs at ${path === "" ? "its value" : path}: recorded ${valueText(difference.recorded)}, now ${valueText(difference.now)}`,
    ...unifiedDiff(recorded, now),
  ];
  return new ReasonError("CassetteMismatch", { place, detail: lines.join("\n") });
}

export function valueText(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}… (${text.length} characters)`;
}

function unifiedDiff(recorded: unknown, now: unknown): string[] {
  const patch = structuredPatch("recorded", "now", inOrder(recorded), inOrder(now), "", "", {
    context: 3,
    maxEditLength: MAX_EDITS,
  });
  if (patch === undefined) return [];
  const lines = patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: changed }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...changed.map((line) => (line.length <= SHOWN_CHARS * 2 ? line : `${line.slice(0, SHOWN_CHARS * 2)}…`)),
  ]);
  const left = lines.length - MAX_DIFF_LINES;
  const rest = left > 0 ? [`… ${left} more lines`] : [];
  return ["--- recorded", "+++ now", ...lines.slice(0, MAX_DIFF_LINES), ...rest];
}

/** With sorted keys: their order is no difference. */
function inOrder(value: unknown): string {
  return `${print(JSON.parse(canonicalJson(value ?? null)))}\n`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
