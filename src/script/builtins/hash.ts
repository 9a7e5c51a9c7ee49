/** `hash`: digests as hex. */
import { createHash } from "node:crypto";
import { bytesOf } from "../arguments.ts";
import { everyone, type FunctionRow, module, row } from "./definition.ts";

/** Bytes hashed for one step of the script's account. */
const BYTES_PER_STEP = 64;

function digest(name: string, meaning: string): FunctionRow {
  return row(`${name}(s)`, "string", meaning).runs((args, _call, host) => {
    const bytes = bytesOf(args, "s");
    host.charge(bytes.length / BYTES_PER_STEP);
    return createHash(name).update(bytes).digest("hex");
  });
}

export const hash = module("hash", "Digests, hex", everyone, [
  digest("md5", "MD5. For fingerprints only, not for security."),
  digest("sha1", "SHA-1. For fingerprints only, not for security."),
  digest("sha256", "SHA-256."),
  digest("sha512", "SHA-512."),
]);
