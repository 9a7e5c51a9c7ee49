/** `assert`: a precondition of a script. */
import { truth } from "#starlark";
import { type FunctionRow, scripts } from "./definition.ts";

/** `assert(condition, msg)`, which fails the script when the condition does not hold. */
export const assert: FunctionRow = {
  name: "assert",
  params: "condition, msg?",
  shown: "condition, msg=None",
  raw: ["condition"],
  audience: scripts,
  returns: "None",
  meaning: "Fails the script with `msg` unless the condition holds.",
  run(args, _call, host) {
    if (truth(host.values.get("condition") ?? null)) return null;
    throw new Error(args.msg === undefined ? "assertion failed" : `assertion failed: ${String(args.msg)}`);
  },
};
