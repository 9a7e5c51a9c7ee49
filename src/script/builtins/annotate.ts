/** `annotate(...)`: attributes for the record of the operation. */
import { beginningOf } from "#base";
import type { Attributes } from "#engine";
import { dictOf, typeName } from "../arguments.ts";
import { row } from "./definition.ts";

const MAX_ATTRIBUTES = 50;
const MAX_VALUE_CHARS = 1_000;

export const annotate = row(
  "annotate(attributes?, **more)",
  "None",
  'Adds attributes to the record: `annotate({"policy.rule": "r1"})` or `annotate(rule="r1")`. Text, number or bool. A hook can also return `{"action": "annotate", "attributes": {…}}`.',
  { shown: "attributes={}, **more" },
).runs((args, call) => {
  call.parts.annotate(attributesOf({ ...dictOf(args, "attributes"), ...dictOf(args, "more") }));
  return null;
});

/** Throws for what a record cannot hold. */
export function attributesOf(given: Readonly<Record<string, unknown>>): Attributes {
  const entries = Object.entries(given);
  if (entries.length > MAX_ATTRIBUTES) throw new Error(`at most ${MAX_ATTRIBUTES} attributes at once`);
  const attributes: Record<string, string | number | boolean> = {};
  for (const [name, value] of entries) {
    if (typeof value === "string") attributes[name] = beginningOf(value, MAX_VALUE_CHARS);
    else if (typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) {
      attributes[name] = value;
    } else throw new Error(`attribute ${name}: got ${typeName(value)}, want string, number or bool`);
  }
  return attributes;
}
