/** `crypto`: message authentication. The key may be a secret. */
import { createHmac } from "node:crypto";
import { bytesOf, revealed } from "../arguments.ts";
import { everyone, type FunctionRow, module, row } from "./definition.ts";

const BYTES_PER_STEP = 64;

function hmac(algorithm: "sha256" | "sha512"): FunctionRow {
  return row(
    `hmac_${algorithm}(key, msg)`,
    "string",
    `HMAC-${algorithm.toUpperCase().replace("SHA", "SHA-")} of \`msg\`, hex. \`key\` may be a secret.`,
  ).runs((args, _call, host) => {
    const message = bytesOf(args, "msg");
    host.charge(message.length / BYTES_PER_STEP);
    const key = args.key instanceof Uint8Array ? args.key : revealed(args.key, "key");
    return createHmac(algorithm, key).update(message).digest("hex");
  });
}

export const crypto = module("crypto", "Message authentication", everyone, [hmac("sha256"), hmac("sha512")]);
