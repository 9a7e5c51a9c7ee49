/** `allow`, `block` and `modify`: what a hook decides about an operation. */
import { textOf } from "../arguments.ts";
import { row } from "./definition.ts";

export const allow = row(
  "allow()",
  "decision",
  'Lets the event continue unchanged. The same as `{"action": "allow"}`.',
).runs(() => ({
  action: "allow",
}));

export const block = row(
  "block(reason)",
  "decision",
  'Blocks the event, with the reason. The same as `{"action": "block", "reason": …}`.',
).runs((args) => ({ action: "block", reason: textOf(args, "reason") }));

export const modify = row(
  "modify(payload)",
  "decision",
  'Lets the event continue with these fields changed; the other fields stay. The same as `{"action": "modify", "payload": …}`.',
).runs((args) => ({ action: "modify", payload: args.payload }));
