/** `allow`, `block` and `modify`: what a hook decides about an operation. */
import { textOf } from "../arguments.ts";
import { row } from "./definition.ts";

export const allow = row("allow()", "decision", 'Goes on unchanged. The same as `{"action": "allow"}`.', () => ({
  action: "allow",
}));

export const block = row(
  "block(reason)",
  "decision",
  'Stops it, with the reason. The same as `{"action": "block", "reason": …}`.',
  (args) => ({ action: "block", reason: textOf(args, "reason") }),
);

export const modify = row(
  "modify(payload)",
  "decision",
  'Goes on with the fields that it names changed, and the rest as it was. The same as `{"action": "modify", "payload": …}`.',
  (args) => ({ action: "modify", payload: args.payload }),
);
