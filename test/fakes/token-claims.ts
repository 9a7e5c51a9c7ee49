/** Claims for tests, whole and valid; fast-check makes any others. */

import { createHash } from "node:crypto";
import fc from "fast-check";
import { defined } from "#base";
import { SessionId, TokenId } from "#protocol";
import { commands } from "#protocol/schemas";
import { type Claims, completeClaims } from "../../src/auth/claims.ts";

export const tokenId = (n: number): TokenId => TokenId.from(String(n).padStart(26, "0"));
export const sessionId = (n: number): SessionId => SessionId.from(String(n).padStart(26, "0"));
export const COMMANDS = ["SendInput", "CancelTurn", "AttachSession", "AnswerPermission"] as const;

export function someClaims(change: Partial<Claims> = {}): Claims {
  return {
    ...completeClaims({
      jti: tokenId(1),
      sessions: [sessionId(1)],
      commands: ["SendInput", "CancelTurn"],
      identity_class: "agent",
      nbf: 1000,
      exp: 2000,
      can_mint: false,
    }),
    ...change,
  };
}

/** Any token that can be made; times are seconds from 0 to 10,000. */
export const anyClaims: fc.Arbitrary<Claims> = fc
  .record({
    jti: fc.nat(99).map(tokenId),
    sessions: fc.option(fc.uniqueArray(fc.nat(5).map(sessionId)), { nil: undefined }),
    commands: fc.uniqueArray(fc.constantFrom(...COMMANDS), { minLength: 1 }),
    identity_class: fc.constantFrom("human" as const, "agent" as const),
    nbf: fc.nat(5000),
    life: fc.integer({ min: 1, max: 5000 }),
    can_mint: fc.boolean(),
    minted_by: fc.option(fc.uniqueArray(fc.nat(5).map(tokenId), { maxLength: 3 }), { nil: undefined }),
  })
  .map(({ sessions, minted_by, nbf, life, ...rest }) =>
    completeClaims({
      ...rest,
      nbf,
      exp: nbf + life,
      ...defined({ sessions, minted_by }),
    }),
  );

/** What a test says about a token; the rest is that of one for everything, for a long time. */
export type RigClaims = { readonly jti: string } & Partial<Omit<Claims, "jti">>;

/** Ids of tests are words: `tok_human`. */
export function wholeClaims({ jti, ...rest }: RigClaims): Claims {
  return {
    ver: 1,
    commands: Object.keys(commands),
    identity_class: "human",
    nbf: 0,
    exp: Date.UTC(2099, 0, 1) / 1000,
    can_mint: false,
    critical_claims: [],
    ...rest,
    jti: TokenId.from(createHash("sha256").update(jti).digest("hex").slice(0, 26).toUpperCase()),
  };
}
