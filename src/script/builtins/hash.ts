/** `hash`: digests as hex. */
import { createHash } from "node:crypto";
import { bytesOf } from "../arguments.ts";
import { everyone, type FunctionRow, type ModuleRow } from "./definition.ts";

/** Bytes hashed for one step of the script's account. */
const BYTES_PER_STEP = 64;

function digest(name: string, meaning: string): FunctionRow {
  return {
    name,
    params: "s",
    returns: "string",
    meaning,
    run(args, _call, host) {
      const bytes = bytesOf(args, "s");
      host.charge(bytes.length / BYTES_PER_STEP);
      return createHash(name).update(bytes).digest("hex");
    },
  };
}

export const hash: ModuleRow = {
  name: "hash",
  meaning: "Digests, hex",
  audience: everyone,
  functions: [
    digest("md5", "MD5. For fingerprints only, not for security."),
    digest("sha1", "SHA-1. For fingerprints only, not for security."),
    digest("sha256", "SHA-256."),
    digest("sha512", "SHA-512."),
  ],
};
