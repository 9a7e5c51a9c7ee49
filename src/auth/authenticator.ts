/** Whether a token may be used now: signature, time, revocation, on every request. What it may be used for is `checkScope`. */
import { createHash } from "node:crypto";
import { messageOf } from "#base";
import { ReasonError } from "#protocol";
import { type Claims, invalid } from "./claims.ts";
import type { FailureLimit } from "./failure-limit.ts";
import { readToken } from "./token.ts";
import type { TokenRecords } from "./token-records.ts";
import type { TokenTimes } from "./token-times.ts";

/** Tokens that were good before, so that whoever guesses on the same machine does not keep out who has one. */
const SEEN_MAX = 4096;

export interface Authenticator {
  /**
   * The claims of a token that is in force. Throws TokenRequired, TokenInvalid, TokenExpired, TokenRevoked or TooManyFailures.
   * `source` is whoever presents it, for the limit on failures: an address, a socket.
   */
  authenticate(token: string | undefined, source: string): Claims;
  /** A token that was made here for the owner: however often others fail, it need not wait. It is checked like any other. */
  know(token: string): void;
}

export interface AuthenticatorOptions {
  /** The same at every call. */
  readonly key: () => Uint8Array;
  readonly records: Pick<TokenRecords, "revokedAt">;
  readonly times: Pick<TokenTimes, "phase">;
  readonly failures: FailureLimit;
}

export function createAuthenticator({ key, records, times, failures }: AuthenticatorOptions): Authenticator {
  /** By their digests, oldest first; with the claims of those whose signature was checked. */
  const seen = new Map<string, Claims | undefined>();
  return {
    know: (token) => remember(digestOf(token), undefined),
    authenticate(token, source) {
      const digest = token === undefined ? "" : digestOf(token);
      if (!seen.has(digest)) failures.check(source);
      if (token === undefined) throw new ReasonError("TokenRequired");
      const claims = read(token, digest, source);
      remember(digest, claims);
      const { jti, nbf, exp, identity_class, sessions } = claims;
      const revoked = lookUp(claims);
      if (revoked !== undefined) {
        const which = revoked.jti === jti ? jti : `${jti} (by ${revoked.jti})`;
        throw new ReasonError("TokenRevoked", { jti: which, ts: revoked.at });
      }
      switch (times.phase(claims)) {
        case "early":
          throw invalid(`it is not valid before ${new Date(nbf * 1000).toISOString()}`);
        case "draining":
        case "expired":
          throw new ReasonError("TokenExpired", {
            exp: new Date(exp * 1000).toISOString(),
            id: sessions?.[0] ?? "<id>",
            class: identity_class,
          });
        case "valid":
        case "expiring":
          return claims;
      }
    },
  };

  function remember(digest: string, claims: Claims | undefined): void {
    seen.set(digest, claims);
    const [oldest] = seen.keys();
    if (seen.size > SEEN_MAX && oldest !== undefined) seen.delete(oldest);
  }

  /** Only what is not signed counts as a failure: it is the one thing that can be guessed at. */
  function read(token: string, digest: string, source: string): Claims {
    try {
      return seen.get(digest) ?? readToken(token, key());
    } catch (error) {
      failures.count(source);
      throw error instanceof ReasonError ? error : invalid("its claims cannot be read");
    }
  }

  function lookUp(claims: Claims) {
    try {
      return records.revokedAt(claims);
    } catch (error) {
      throw invalid(`Harness cannot tell whether it was revoked: ${messageOf(error)}`);
    }
  }
}

function digestOf(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
