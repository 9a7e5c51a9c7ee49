/** `base64`: the standard alphabet, padded. */
import { bytesOf, textOf } from "../arguments.ts";
import { decodeText } from "../utf8-text.ts";
import { everyone, module, row } from "./definition.ts";

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export const base64 = module("base64", "Base64", everyone, [
  row("encode(s)", "string", "The bytes of `s` in base64.").runs((args) =>
    Buffer.from(bytesOf(args, "s")).toString("base64"),
  ),
  row(
    "decode(s)",
    "string",
    "The decoded text. Fails if `s` is not base64, or if the decoded bytes are not UTF-8.",
  ).runs((args) => {
    const text = textOf(args, "s");
    if (!BASE64.test(text)) throw new Error("not valid base64");
    return decodeText(Buffer.from(text, "base64"), "the decoded bytes");
  }),
]);
