/** `modify(payload)`: the decision that replaces the payload. */
import { type FunctionRow, scripts } from "./definition.ts";

export const modify: FunctionRow = {
  name: "modify",
  params: "payload",
  audience: scripts,
  returns: "decision",
  meaning: 'Goes on with this payload instead, whole. The same as `{"action": "modify", "payload": …}`.',
  run: (args) => ({ action: "modify", payload: args.payload }),
};
