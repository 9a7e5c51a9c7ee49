/** What was redacted in the payload of an event: its markers, counted by kind. Whoever put them there, and at whichever step. */
import { isRecord } from "#base";
import type { RedactionSummary } from "#protocol";
import type { Redactor } from "./redactor.ts";

/** Redaction refuses what is nested deeper. */
const MAX_DEPTH = 256;

/** Whether a value is such a summary, and nothing in it would be redacted as text. */
export function isSummary(value: unknown, redact: (text: string) => string): boolean {
  if (!isRecord(value) || !isRecord(value.counts) || typeof value.policy_version !== "string") return false;
  const texts = [value.policy_version, ...Object.keys(value.counts)];
  const numbers = [value.redacted_count, ...Object.values(value.counts)];
  return (
    Object.keys(value).length === SUMMARY_FIELDS &&
    numbers.every((number) => typeof number === "number") &&
    texts.every((text) => redact(text) === text)
  );
}

const SUMMARY_FIELDS = 3;

/** Undefined when there is no marker; a field of `skipped` holds none. */
export function summarisePayload(
  payload: object,
  redactor: Pick<Redactor, "countMarkers" | "status">,
  skipped: ReadonlySet<string>,
): RedactionSummary | undefined {
  const counts = new Map<string, number>();
  for (const [name, value] of Object.entries(payload)) {
    if (!skipped.has(name)) addMarkers(value, 0);
  }
  if (counts.size === 0) return undefined;
  return {
    policy_version: redactor.status().policy_version,
    redacted_count: [...counts.values()].reduce((sum, count) => sum + count, 0),
    counts: Object.fromEntries([...counts].sort()),
  };

  function addMarkers(value: unknown, depth: number): void {
    if (typeof value === "string") redactor.countMarkers(value, counts);
    else if (Array.isArray(value) && depth < MAX_DEPTH) for (const item of value) addMarkers(item, depth + 1);
    else if (value !== null && typeof value === "object" && depth < MAX_DEPTH) {
      for (const [name, item] of Object.entries(value)) {
        redactor.countMarkers(name, counts);
        addMarkers(item, depth + 1);
      }
    }
  }
}
