/** What a schema of somebody else may be before anything compiles it: small, flat and complete in itself. */
import { isRecord } from "#base";

const MAX_CHARS = 64 * 1024;
const MAX_DEPTH = 64;
const MAX_PROPERTIES = 1_000;

/** Why it is refused; undefined for one that may be compiled. */
export function schemaFault(schema: Readonly<Record<string, unknown>>): string | undefined {
  const { $schema } = schema;
  if (typeof $schema === "string" && /draft-0[1-4]/.test($schema))
    return "it is written for a JSON Schema draft older than 6";
  let properties = 0;

  function fault(value: unknown, depth: number): string | undefined {
    if (typeof value !== "object" || value === null) return undefined;
    if (depth > MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} levels deep`;
    if (isRecord(value)) {
      if (isRecord(value.properties)) properties += Object.keys(value.properties).length;
      if (properties > MAX_PROPERTIES) return `it has more than ${MAX_PROPERTIES} properties`;
      const ref = value.$ref ?? value.$dynamicRef;
      if (typeof ref === "string" && !ref.startsWith("#")) return "it refers to another document";
    }
    for (const field of Object.values(value)) {
      const found = fault(field, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  // The depth first: writing out what is too deep would overflow the stack.
  return (
    fault(schema, 0) ??
    (JSON.stringify(schema).length > MAX_CHARS ? `it is longer than ${MAX_CHARS} characters` : undefined)
  );
}
