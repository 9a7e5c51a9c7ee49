import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defined } from "#base";
import { anyClaims, COMMANDS, sessionId, someClaims, tokenId } from "../../test/fakes/token-claims.ts";
import type { Claims } from "./claims.ts";
import { DEFAULT_TTL_SECONDS, MAX_TTL_SECONDS, mintClaims, type TokenRequest } from "./mint.ts";

const request = (change: Partial<TokenRequest> = {}): TokenRequest => ({
  sessions: [sessionId(1)],
  commands: ["SendInput"],
  identityClass: "agent",
  ...change,
});
const context = (parent?: Claims, nowMs = 1_500_500) => ({
  jti: tokenId(9),
  nowMs,
  knownCommands: COMMANDS,
  ...defined({ parent }),
});

const anyRequest: fc.Arbitrary<TokenRequest> = fc.record({
  sessions: fc.oneof(fc.constant("all" as const), fc.uniqueArray(fc.nat(5).map(sessionId))),
  commands: fc.uniqueArray(fc.constantFrom(...COMMANDS), { minLength: 1 }),
  identityClass: fc.constantFrom("human" as const, "agent" as const),
  ttlSeconds: fc.integer({ min: 1, max: 20_000 }),
  canMint: fc.boolean(),
});

/** One that may mint more often than not, at a moment within its time more often than not. */
const anyParent = fc
  .tuple(anyClaims, fc.integer({ min: -1, max: 11 }), fc.nat(3))
  .map(([claims, tenths, mints]) => ({
    claims: { ...claims, can_mint: mints > 0 },
    now: (claims.nbf + ((claims.exp - claims.nbf) * tenths) / 10) * 1000,
  }))
  .filter(({ now }) => now >= 0);

function attempt(work: () => Claims): Claims | undefined {
  try {
    return work();
  } catch (error) {
    expect(error).toMatchObject({ reason: "TokenScope" });
    return undefined;
  }
}

describe("minting", () => {
  test("lasts a day unless it says otherwise, and begins now", () => {
    expect(mintClaims(request(), context())).toEqual({
      ...someClaims({ jti: tokenId(9), commands: ["SendInput"], nbf: 1500, exp: 1500 + DEFAULT_TTL_SECONDS }),
    });
  });

  test("refuses what makes no sense", () => {
    const wrong: Partial<TokenRequest>[] = [
      { commands: [] },
      { commands: ["Dance"] },
      { ttlSeconds: 0 },
      { ttlSeconds: 1.5 },
      { ttlSeconds: MAX_TTL_SECONDS + 1 },
      { sessions: Array.from({ length: 201 }, (_, n) => sessionId(n)) },
    ];
    for (const change of wrong) {
      expect(() => mintClaims(request(change), context())).toThrow(expect.objectContaining({ reason: "UsageInvalid" }));
    }
  });

  test("a token never mints more than it has, in one step or in many", () => {
    let minted = 0;
    fc.assert(
      fc.property(
        anyParent,
        fc.array(anyRequest, { minLength: 1, maxLength: 8 }),
        ({ claims: first, now }, requests) => {
          let parent = first;
          for (const wanted of requests) {
            const child = attempt(() => mintClaims(wanted, context(parent, now)));
            if (child === undefined) continue;
            minted += 1;
            expect(parent.can_mint).toBe(true);
            expect(child.sessions).toBeDefined();
            if (first.sessions !== undefined)
              expect(first.sessions).toEqual(expect.arrayContaining([...(child.sessions ?? [])]));
            expect(first.commands).toEqual(expect.arrayContaining([...child.commands]));
            if (first.identity_class === "agent") expect(child.identity_class).toBe("agent");
            expect(child.exp).toBeLessThanOrEqual(first.exp);
            expect(child.nbf).toBeGreaterThanOrEqual(first.nbf);
            expect(child.minted_by).toContain(first.jti);
            parent = child;
          }
        },
      ),
      { numRuns: 2000 },
    );
    expect(minted).toBeGreaterThan(50);
  });

  test("a chain of tokens has an end", () => {
    let parent = someClaims({ can_mint: true });
    const lengths: number[] = [];
    for (;;) {
      const child = attempt(() => mintClaims(request({ canMint: true }), context(parent)));
      if (child === undefined) break;
      lengths.push(child.minted_by?.length ?? 0);
      parent = child;
    }
    expect(lengths).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});
