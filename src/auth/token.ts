/**
 * Claims as a token, `hat1.CLAIMS.MAC`: base64url, signed with HMAC-SHA-256 under a key that is derived from the key of the machine. The
 * same machine makes and checks tokens, so that no second key is needed. Nothing of a token is looked at before its signature holds.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type Claims, invalid, parseClaims } from "./claims.ts";

const PREFIX = "hat1";
export const TOKEN_MAX_CHARS = 32 * 1024;
/** What the key for tokens is derived for; another purpose is another key. */
export const TOKEN_KEY_PURPOSE = "capability tokens, form 1";

export function signToken(claims: Claims, key: Uint8Array): string {
  const body = `${PREFIX}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  return `${body}.${macOf(body, key).toString("base64url")}`;
}

/** Throws TokenInvalid; says nothing of what was given. */
export function readToken(token: string, key: Uint8Array): Claims {
  const [, body = "", payload = "", mac = ""] =
    token.length > TOKEN_MAX_CHARS ? [] : (/^(hat1\.([\w-]+))\.([\w-]+)$/.exec(token) ?? []);
  const given = Buffer.from(mac, "base64url");
  const expected = macOf(body, key);
  // One spelling of each token: base64url has spare bits, which must not make a second one.
  const isSigned = given.length === expected.length && given.toString("base64url") === mac;
  if (!isSigned || !timingSafeEqual(given, expected)) throw invalid("it is not a token of this machine");
  return parseClaims(JSON.parse(Buffer.from(payload, "base64url").toString("utf8")));
}

function macOf(body: string, key: Uint8Array): Buffer {
  return createHmac("sha256", key).update(body).digest();
}
