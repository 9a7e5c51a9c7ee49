/** `modify(payload)`: the decision that changes the payload. */
import { type FunctionRow, scripts } from "./definition.ts";

export const modify: FunctionRow = {
  name: "modify",
  params: "payload",
  audience: scripts,
  returns: "decision",
  meaning:
    'Goes on with the fields that it names changed, and the rest as it was. The same as `{"action": "modify", "payload": …}`.',
  run: (args) => ({ action: "modify", payload: args.payload }),
};
