/** Canonical events as sightings, and fields of values that a foreign program has sent. */
import { isRecord } from "#base";
import type { Sighting } from "./driver.ts";

/** A field of a value of unknown shape; undefined where there is none. */
export function fieldOf(value: unknown, ...path: readonly (string | number)[]): unknown {
  let at = value;
  for (const name of path) {
    if (Array.isArray(at) && typeof name === "number") at = at[name];
    else at = isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}

export function textField(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const found = fieldOf(value, ...path);
  return typeof found === "string" ? found : undefined;
}

export function numberField(value: unknown, ...path: readonly (string | number)[]): number | undefined {
  const found = fieldOf(value, ...path);
  return typeof found === "number" ? found : undefined;
}

/** A field with its value, or nothing, to be spread. */
export function given<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  // A record of one key, or of none.
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value };
}

export function sightingOf(event: unknown): Sighting {
  return {
    kind: textField(event, "kind") ?? "",
    ...given("id", numberField(event, "id")),
    ...given("callId", textField(event, "payload", "call_id")),
    ...given("text", textField(event, "kind") === "TextDelta" ? textField(event, "payload", "text") : undefined),
    event,
    raw: event,
  };
}
