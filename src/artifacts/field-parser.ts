/** The parser of fields, loaded when a session has a project: whoever only looks at cached files needs no YAML. */
import type { parseFields } from "./parse-fields.ts";

export type FieldParser = typeof parseFields;

export async function loadFieldParser(): Promise<FieldParser> {
  return (await import("./parse-fields.ts")).parseFields;
}
