/**
 * Where tokens are asked for, confirmed, passed on and taken back. Every token that is made here is on the record before anybody has
 * it; a request without a token is nothing until a person has confirmed it.
 */
import type { Clock } from "#base";
import { ReasonError, TokenId } from "#protocol";
import type { Claims } from "./claims.ts";
import { createFailureLimit, type FailureLimit } from "./failure-limit.ts";
import type { ConfirmationChannel, Issuance } from "./issuance.ts";
import { mintClaims, type TokenRequest } from "./mint.ts";
import { signToken } from "./token.ts";
import type { TokenRecords, TokenRun } from "./token-records.ts";

/** Tokens that one token may make in a minute, with those that it has made: each leaves a record. */
export const MINTS_PER_MINUTE = 30;

export interface MintedToken {
  readonly token: string;
  readonly claims: Claims;
}

export interface RequestedToken {
  readonly claims: Claims;
  /** Where the code is shown. */
  readonly channel: ConfirmationChannel["kind"];
  readonly expiresAtMs: number;
}

export interface TokenDesk {
  /** Shows a person what is asked for, with a code. Throws ConfirmationUnavailable, UsageInvalid or TooManyFailures. */
  request(asked: TokenRequest): Promise<RequestedToken>;
  /** Throws ConfirmationFailed, and TooManyFailures for a `source` that guesses. A code is good for one token. */
  confirm(jti: string, code: string, source: string): MintedToken;
  /** With a token that may, and for no more than it has. Throws TokenScope, UsageInvalid or TooManyFailures. */
  mint(asked: TokenRequest, parent: Claims): MintedToken;
  /** Without anybody having been asked: for whoever runs the program, on its start. */
  mintForOwner(asked: TokenRequest, run?: TokenRun): MintedToken;
  /** False when it was revoked before. Throws TokenScope unless it is the token itself, comes from it, or the owner asks. */
  revoke(jti: string, by: Claims): boolean;
}

export interface TokenDeskOptions {
  readonly key: () => Uint8Array;
  readonly records: Pick<TokenRecords, "add" | "list" | "revoke">;
  readonly clock: Pick<Clock, "now" | "monotonicMs">;
  readonly newId: () => TokenId;
  /** Every command there is. */
  readonly knownCommands: readonly string[];
  readonly issuance: Issuance;
  /** Of codes that were not right, not of tokens. */
  readonly failures: FailureLimit;
}

export function createTokenDesk(options: TokenDeskOptions): TokenDesk {
  const { key, records, clock, newId, knownCommands, issuance, failures } = options;
  const mints = createFailureLimit({ clock, max: MINTS_PER_MINUTE });

  function claimsFor(asked: TokenRequest, parent?: Claims): Claims {
    const context = { jti: newId(), nowMs: clock.now(), knownCommands };
    return mintClaims(asked, parent === undefined ? context : { ...context, parent });
  }

  function issue(claims: Claims, run?: TokenRun): MintedToken {
    const token = signToken(claims, key());
    records.add(claims, clock.now(), run);
    return { token, claims };
  }

  return {
    async request(asked) {
      const claims = claimsFor(asked);
      return { claims, ...(await issuance.begin(claims)) };
    },
    confirm(jti, code, source) {
      failures.check(source);
      try {
        if (!TokenId.is(jti)) throw new ReasonError("ConfirmationFailed", "there is no such request");
        return issue(issuance.confirm(jti, code));
      } catch (error) {
        if (error instanceof ReasonError && error.reason === "ConfirmationFailed") failures.count(source);
        throw error;
      }
    },
    mint(asked, parent) {
      // A family of tokens counts as one.
      const first = parent.minted_by?.at(-1) ?? parent.jti;
      mints.check(first);
      mints.count(first);
      return issue(claimsFor(asked, parent));
    },
    mintForOwner: (asked, run) => issue(claimsFor(asked), run),
    revoke(jti, by) {
      if (!TokenId.is(jti)) throw new ReasonError("UsageInvalid", "the id of a token has the form tok_<ULID>");
      const isOwner = by.identity_class === "human" && by.sessions === undefined;
      const comesFrom = (): boolean =>
        records.list().some(({ claims }) => claims.jti === jti && claims.minted_by?.includes(by.jti));
      if (!isOwner && jti !== by.jti && !comesFrom()) {
        throw new ReasonError("TokenScope", { jti: by.jti, what: `revoking ${jti}` });
      }
      return records.revoke(jti, clock.now());
    },
  };
}
