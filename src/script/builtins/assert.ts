/** `assert`: a precondition of a script. */
import { truth } from "#starlark";
import { row } from "./definition.ts";

/** `assert(condition, msg)`, which fails the script when the condition does not hold. */
export const assert = row(
  "assert(condition, msg?)",
  "None",
  "Fails the script with `msg` unless the condition holds.",
  { shown: "condition, msg=None", raw: ["condition"] },
).runs((args, _call, host) => {
  if (truth(host.values.get("condition") ?? null)) return null;
  throw new Error(args.msg === undefined ? "assertion failed" : `assertion failed: ${String(args.msg)}`);
});
