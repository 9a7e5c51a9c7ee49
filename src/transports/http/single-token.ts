/** The simplest authenticator: one token for everything, made when a server starts. Compared in constant time. */
import { createHash, timingSafeEqual } from "node:crypto";
import { ReasonError } from "#protocol";
import type { Authenticate } from "./access.ts";

export function createSingleToken(token: string): Authenticate {
  const wanted = digest(token);
  return ({ token: given }) =>
    timingSafeEqual(digest(given), wanted)
      ? { claims: { jti: "start", identity_class: "human" } }
      : { refusal: new ReasonError("Unauthorized", { detail: "this one is not known" }) };
}

/** Of one length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
