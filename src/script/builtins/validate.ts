/** `validate`: is this text well-formed? Each answers with a bool and never fails. */
import { jsonIn } from "#base";
import { textOf } from "../arguments.ts";
import { everyone, module, row } from "./definition.ts";

const MAX_EMAIL_CHARS = 320;
const MAX_LOCAL_CHARS = 64;
const LOCAL_PART = /^(?:[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*|"[^"\\\r\n]*")$/u;
const DOMAIN_LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u;

export const validate = module("validate", "Whether a value is well-formed", everyone, [
  row("email(s)", "bool", "Whether it is an email address: `name@example.com`, without a display name.").runs((args) =>
    isEmail(textOf(args, "s")),
  ),
  row("url(s)", "bool", "Whether it is an absolute URL with scheme and host.").runs((args) => {
    const text = textOf(args, "s");
    const parsed = /\s/.test(text) ? null : URL.parse(text);
    return parsed !== null && parsed.hostname !== "" && /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  }),
  row("json(s)", "bool", "Whether it is JSON text.").runs((args) => jsonIn(textOf(args, "s")) !== undefined),
]);

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at < 1 || at > MAX_LOCAL_CHARS || text.length > MAX_EMAIL_CHARS) return false;
  const labels = text.slice(at + 1).split(".");
  return LOCAL_PART.test(text.slice(0, at)) && labels.every((label) => DOMAIN_LABEL.test(label));
}
