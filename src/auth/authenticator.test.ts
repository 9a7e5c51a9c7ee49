import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  CLOCK_LEEWAY_SECONDS,
  createAuthenticator,
  createFailureLimit,
  createTokenRecords,
  createTokenTimes,
  readTokenFile,
  signToken,
  tokenFileText,
} from "#auth";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { anyClaims, someClaims, tokenId } from "../../test/fakes/token-claims.ts";
import { FAILURE_WINDOW_MS, FAILURES_MAX } from "./failure-limit.ts";

const key = new Uint8Array(32).fill(7);
const DAY_MS = 24 * 60 * 60 * 1000;

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "harness-auth-"));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
});

function rig(nowMs = 1_500_000) {
  const clock = createManualClock(nowMs);
  const records = createTokenRecords(state);
  const failures = createFailureLimit({ clock });
  const authenticator = createAuthenticator({
    key: () => key,
    records,
    times: createTokenTimes({ clock, records }),
    failures,
  });
  const reason = (token: string | undefined, source = "here"): string => {
    try {
      authenticator.authenticate(token, source);
      return "ok";
    } catch (error) {
      return (error as { reason: string }).reason;
    }
  };
  return { clock, records, authenticator, reason };
}

describe("authenticator", () => {
  test("takes a token from its first second, less the leeway, to before its last", () => {
    fc.assert(
      fc.property(anyClaims, fc.integer({ min: 0, max: 12_000_000 }), (claims, nowMs) => {
        const { reason } = rig(nowMs);
        const fromMs = (claims.nbf - CLOCK_LEEWAY_SECONDS) * 1000;
        const expected = nowMs < fromMs ? "TokenInvalid" : nowMs < claims.exp * 1000 ? "ok" : "TokenExpired";
        expect(reason(signToken(claims, key))).toBe(expected);
      }),
    );
  });

  test("says what to do about a token that is over", () => {
    const { authenticator } = rig(2_000_000);
    expect(() => authenticator.authenticate(signToken(someClaims(), key), "here")).toThrow(
      /expired at 1970-01-01T00:33:20.000Z.*--session sess_0+1 --identity-class agent/,
    );
  });

  test("sees a revocation of another process at once, and those of the tokens it comes from", () => {
    const { reason } = rig();
    const elsewhere = createTokenRecords(state);
    const token = signToken(someClaims({ minted_by: [tokenId(2), tokenId(3)] }), key);
    const other = signToken(someClaims({ jti: tokenId(4) }), key);
    expect(reason(token)).toBe("ok");
    expect(elsewhere.revoke(tokenId(3), 1_500_000)).toBe(true);
    expect(elsewhere.revoke(tokenId(3), 1_600_000)).toBe(false);
    expect(reason(token)).toBe("TokenRevoked");
    expect(reason(other)).toBe("ok");
    elsewhere.revoke(tokenId(4), 1_500_000);
    expect(reason(other)).toBe("TokenRevoked");
  });

  test("says of a token that is revoked and over that it was revoked: its streams are to end", () => {
    const { reason, records } = rig(2_030_000);
    const token = signToken(someClaims(), key);
    expect(reason(token)).toBe("TokenExpired");
    records.revoke(tokenId(1), 2_030_000);
    expect(reason(token)).toBe("TokenRevoked");
  });

  test("fails closed when it cannot be found out what was revoked", () => {
    const { reason } = rig();
    const token = signToken(someClaims(), key);
    mkdirSync(join(state, "tokens", `${tokenId(1)}.revoked`), { recursive: true });
    expect(reason(token)).toBe("TokenInvalid");
    rmSync(join(state, "tokens"), { recursive: true });
    writeFileSync(join(state, "tokens"), "a file where the folder should be");
    expect(reason(token)).toBe("TokenInvalid");
    rmSync(join(state, "tokens"));
    mkdirSync(join(state, "tokens"));
    writeFileSync(join(state, "tokens", `${tokenId(1)}.revoked`), "damaged");
    expect(reason(token)).toBe("TokenRevoked");
  });

  test("a token that was made here for the owner does not wait for the failures of others, and is checked all the same", () => {
    const { authenticator, reason } = rig();
    const own = signToken(someClaims(), key);
    const old = signToken(someClaims({ exp: 1400 }), key);
    for (const token of [own, old, "forged"]) authenticator.know(token);
    for (let i = 0; i <= FAILURES_MAX; i++) reason("guess", "a");
    expect(reason("guess", "a")).toBe("TooManyFailures");
    expect(reason(own, "a")).toBe("ok");
    expect(reason(old, "a")).toBe("TokenExpired");
    expect(reason("forged", "a")).toBe("TokenInvalid");
  });

  test("lets who fails too often wait, and nobody else", async () => {
    const { clock, reason } = rig();
    const good = signToken(someClaims(), key);
    for (let i = 0; i < FAILURES_MAX; i++) expect(reason("guess", "a")).toBe("TokenInvalid");
    expect(reason("guess", "a")).toBe("TooManyFailures");
    expect(reason(good, "a")).toBe("TooManyFailures");
    expect(reason(good, "b")).toBe("ok");
    await clock.advance(FAILURE_WINDOW_MS);
    expect(reason(good, "a")).toBe("ok");
    // From now on it is known, and guesses of others do not keep it out.
    for (let i = 0; i <= FAILURES_MAX; i++) reason("guess", "a");
    expect(reason("guess", "a")).toBe("TooManyFailures");
    expect(reason(good, "a")).toBe("ok");
    // Neither a missing nor an old token is a guess.
    for (let i = 0; i < 50; i++) expect(reason(undefined, "c")).toBe("TokenRequired");
    const old = signToken(someClaims({ exp: 1400 }), key);
    for (let i = 0; i < 50; i++) expect(reason(old, "c")).toBe("TokenExpired");
    expect(reason(good, "c")).toBe("ok");
  });
});

describe("records", () => {
  test("hold what was made, without the token, for the owner alone", () => {
    const { records } = rig();
    const first = someClaims();
    const second = someClaims({ jti: tokenId(2) });
    records.add(first, 1_500_000);
    records.add(second, 1_600_000);
    records.revoke(tokenId(1), 1_700_000);
    expect(records.list()).toEqual([
      { claims: second, mintedAt: "1970-01-01T00:26:40.000Z" },
      { claims: first, mintedAt: "1970-01-01T00:25:00.000Z", revokedAt: "1970-01-01T00:28:20.000Z" },
    ]);
    const folder = join(state, "tokens");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  test("are not forgotten because the clock has leapt ahead", () => {
    const records = createTokenRecords(state);
    const nowMs = Date.now();
    const times = { nbf: Math.floor(nowMs / 1000), exp: Math.floor(nowMs / 1000) + 60 };
    records.add(someClaims(times), nowMs);
    records.revoke(tokenId(1), nowMs);
    records.add(someClaims({ jti: tokenId(2), ...times }), nowMs + 1000 * DAY_MS);
    expect(records.revokedAt({ jti: tokenId(1) })).toBeDefined();
    expect(records.list()).toHaveLength(2);
  });

  test("are forgotten long after the end, a revocation only when no token can be alive any more", () => {
    const records = createTokenRecords(state, (wallMs) => wallMs);
    const names = () => readdirSync(join(state, "tokens")).toSorted();
    records.add(someClaims(), 0);
    records.revoke(tokenId(1), 0);
    records.add(someClaims({ jti: tokenId(2), nbf: 10_000_000, exp: 20_000_000 }), 89 * DAY_MS);
    expect(names()).toEqual([`${tokenId(1)}.revoked`, `${tokenId(2)}.json`]);
    records.add(someClaims({ jti: tokenId(3), nbf: 10_000_000, exp: 20_000_000 }), 121 * DAY_MS);
    expect(names()).toEqual([`${tokenId(2)}.json`, `${tokenId(3)}.json`]);
  });

  test("that cannot be read are left out of the list and kept", () => {
    const { records } = rig();
    records.add(someClaims(), 0);
    writeFileSync(join(state, "tokens", `${tokenId(5)}.json`), '{"claims":{"ver":2}}');
    writeFileSync(join(state, "tokens", "other.txt"), "x");
    expect(records.list()).toHaveLength(1);
    records.add(someClaims({ jti: tokenId(2) }), 0);
    expect(readdirSync(join(state, "tokens"))).toHaveLength(4);
  });
});

describe("token file", () => {
  const put = (mode: number, text = tokenFileText("hat1.x.y")): string => {
    const path = join(state, `token-${mode.toString(8)}-${text.length}.json`);
    writeFileSync(path, text, { mode: 0o600 });
    chmodSync(path, mode);
    return path;
  };

  test("is read with mode 0400 and no other", () => {
    expect(readTokenFile(put(0o400))).toBe("hat1.x.y");
    expect(readTokenFile(join(state, "none.json"))).toBeUndefined();
    for (const mode of [0o600, 0o440, 0o404, 0o644, 0o500, 0o4400]) {
      expect(() => readTokenFile(put(mode)), mode.toString(8)).toThrow(/mode/);
    }
  });

  test("is no link, no folder, not too large, and holds a token", () => {
    const link = join(state, "link.json");
    symlinkSync(put(0o400), link);
    expect(() => readTokenFile(link)).toThrow(/symbolic link/);
    expect(() => readTokenFile(state)).toThrow(/not a regular file/);
    expect(() => readTokenFile(put(0o400, "x".repeat(100_000)))).toThrow(/bytes/);
    expect(() => readTokenFile(put(0o400, "hat1.x.y"))).toThrow(/JSON/);
    expect(() => readTokenFile(put(0o400, '{"tok":1}'))).toThrow(/token/);
  });
});
