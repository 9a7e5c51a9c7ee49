/** `json`: the language's own module, so that ints, floats and key order survive. */
import { jsonModule, type Value } from "#starlark";
import { everyone, module } from "./definition.ts";

export const json = module("json", "JSON text", everyone, [
  {
    name: "encode",
    params: "x",
    returns: "string",
    meaning: "The value as canonical JSON: keys in order, no spaces. Fails for functions, cycles, `nan` and `inf`.",
    native: member("encode"),
  },
  {
    name: "decode",
    params: "x, default?",
    shown: "x, default=…",
    returns: "value",
    meaning: "The value of a JSON text. Text that is not JSON fails, or gives `default` when there is one.",
    native: member("decode"),
  },
  {
    name: "encode_indent",
    params: 'x, prefix?="", indent?="\t"',
    shown: 'x, *, prefix="", indent="\\t"',
    returns: "string",
    meaning: "As `json.indent(json.encode(x))`.",
    native: member("encode_indent"),
  },
  {
    name: "indent",
    params: 'x, prefix?="", indent?="\t"',
    shown: 'x, *, prefix="", indent="\\t"',
    returns: "string",
    meaning: "A JSON text over several lines.",
    native: member("indent"),
  },
]);

function member(name: string): Value {
  const found = jsonModule.members.get(name);
  if (found === undefined) throw new Error(`the language has no json.${name}`);
  return found;
}
