import { createHmac, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defined } from "#base";
import { anyClaims, sessionId, someClaims } from "../../test/fakes/token-claims.ts";
import { checkScope, parseClaims, phaseOf } from "./claims.ts";
import { readToken, signToken, TOKEN_MAX_CHARS } from "./token.ts";

const key = randomBytes(32);
const refused = { reason: "TokenInvalid" };

/** Signed as by this machine, whatever it says: a newer program could have made it. */
function signedRaw(payload: string): string {
  const body = `hat1.${Buffer.from(payload).toString("base64url")}`;
  return `${body}.${createHmac("sha256", key).update(body).digest("base64url")}`;
}

const attempt = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe("a token", () => {
  test("gives back the claims that were signed", () => {
    fc.assert(
      fc.property(anyClaims, (claims) => {
        expect(readToken(signToken(claims, key), key)).toEqual(claims);
      }),
    );
  });

  test("that was changed anywhere is refused", () => {
    const alphabet = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.= \n"];
    fc.assert(
      fc.property(
        anyClaims,
        fc.nat(),
        fc.constantFrom(...alphabet),
        fc.constantFrom("set", "cut", "add"),
        (claims, at, char, how) => {
          const token = signToken(claims, key);
          const place = at % token.length;
          const changed =
            how === "set"
              ? token.slice(0, place) + char + token.slice(place + 1)
              : how === "cut"
                ? token.slice(0, place) + token.slice(place + 1)
                : token.slice(0, place) + char + token.slice(place);
          fc.pre(changed !== token);
          expect(attempt(() => readToken(changed, key))).toMatchObject(refused);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("of another key, with other claims under its signature, or of no form at all is refused", () => {
    fc.assert(
      fc.property(anyClaims, anyClaims, fc.string(), (one, other, text) => {
        expect(attempt(() => readToken(signToken(one, randomBytes(32)), key))).toMatchObject(refused);
        const [, , mac] = signToken(one, key).split(".");
        const [prefix, body] = signToken(other, key).split(".");
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        expect(attempt(() => readToken(`${prefix}.${body}.${mac}`, key))).toMatchObject(refused);
        expect(attempt(() => readToken(`${prefix}.${body}.`, key))).toMatchObject(refused);
        expect(attempt(() => readToken(`none.${body}.${mac}`, key))).toMatchObject(refused);
        expect(attempt(() => readToken(text, key))).toMatchObject(refused);
      }),
    );
    expect(attempt(() => readToken("x".repeat(TOKEN_MAX_CHARS + 1), key))).toMatchObject(refused);
    const truncated = signToken(someClaims(), key).slice(0, -4);
    expect(attempt(() => readToken(truncated, key))).toMatchObject(refused);
  });

  test("never says in a refusal what it was given", () => {
    const token = signToken(someClaims(), randomBytes(32));
    expect(String(attempt(() => readToken(token, key)))).not.toContain(token.slice(5, 40));
  });
});

describe("claims", () => {
  const read = (change: object) =>
    attempt(() => readToken(signedRaw(JSON.stringify({ ...someClaims(), ...change })), key));

  test("of another version are refused, whatever else they say", () => {
    for (const ver of [0, 2, "1", null, undefined]) expect(read({ ver })).toMatchObject(refused);
  });

  test("that are not known are passed over, unless the token relies on them", () => {
    expect(read({ display_name: "x" })).toEqual(someClaims());
    expect(read({ only_weekdays: true, critical_claims: ["only_weekdays"] })).toMatchObject({
      ...refused,
      message: expect.stringContaining("only_weekdays"),
    });
    expect(read({ critical_claims: ["__proto__"] })).toMatchObject(refused);
    expect(read({ critical_claims: ["minted_by"] })).toMatchObject(refused);
    expect(read({ critical_claims: "sessions" })).toMatchObject(refused);
  });

  test("that make no sense are refused", () => {
    const wrong = [
      { jti: "tok_1" },
      { jti: "../../x" },
      { sessions: "all" },
      { sessions: [1] },
      { sessions: ["sess_1"] },
      { sessions: null },
      { commands: undefined },
      { commands: "SendInput" },
      { commands: Array.from({ length: 201 }, () => "x") },
      { identity_class: "root" },
      { exp: "9999999999" },
      { exp: Number.POSITIVE_INFINITY },
      { exp: 1000 },
      { nbf: -1 },
      { nbf: 1.5 },
      { can_mint: "yes" },
      { can_mint: undefined },
      { minted_by: ["x"] },
    ];
    for (const change of wrong) expect(read(change), JSON.stringify(change)).toMatchObject(refused);
    expect(attempt(() => parseClaims([someClaims()]))).toMatchObject(refused);
    expect(attempt(() => readToken(signedRaw("not json"), key))).toBeInstanceOf(SyntaxError);
  });

  test("name sessions and commands: nothing else is covered", () => {
    const check = (change: object, command: "SendInput" | "UndoTurn", session?: ReturnType<typeof sessionId>) =>
      attempt(() => checkScope(someClaims(change), { command, ...defined({ session }) }));
    const beyond = { reason: "TokenScope" };
    expect(check({}, "SendInput", sessionId(1))).toBeUndefined();
    expect(check({}, "UndoTurn", sessionId(1))).toMatchObject(beyond);
    expect(check({}, "SendInput", sessionId(2))).toMatchObject(beyond);
    expect(check({ sessions: [] }, "SendInput", sessionId(1))).toMatchObject(beyond);
    expect(check({}, "SendInput")).toMatchObject(beyond);
    expect(check({ sessions: undefined }, "SendInput", sessionId(7))).toBeUndefined();
    expect(check({ sessions: undefined }, "SendInput")).toBeUndefined();
  });

  test("have a beginning and an end, to the millisecond", () => {
    const at = (ms: number) => phaseOf({ nbf: 1000, exp: 2000 }, ms);
    expect([989_999, 990_000, 1_699_999, 1_700_000, 1_999_999, 2_000_000, 2_059_999, 2_060_000].map(at)).toEqual([
      "early",
      "valid",
      "valid",
      "expiring",
      "expiring",
      "draining",
      "draining",
      "expired",
    ]);
  });
});
