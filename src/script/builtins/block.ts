/** `block(reason)`: the decision that stops an operation. */
import { textOf } from "../arguments.ts";
import { type FunctionRow, scripts } from "./definition.ts";

export const block: FunctionRow = {
  name: "block",
  params: "reason",
  audience: scripts,
  returns: "decision",
  meaning: 'Stops it, with the reason. The same as `{"action": "block", "reason": …}`.',
  run: (args) => ({ action: "block", reason: textOf(args, "reason") }),
};
