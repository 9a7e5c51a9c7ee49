/** `allow()`: the decision that lets an operation go on as it is. */
import { type FunctionRow, scripts } from "./definition.ts";

export const allow: FunctionRow = {
  name: "allow",
  params: "",
  audience: scripts,
  returns: "decision",
  meaning: 'Goes on unchanged. The same as `{"action": "allow"}`.',
  run: () => ({ action: "allow" }),
};
