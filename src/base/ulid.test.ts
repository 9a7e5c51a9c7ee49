import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createUlidFactory, ulidFromDigest } from "./ulid.ts";

const PATTERN = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Hands out `count` bytes of the same value each time. */
const constant = (value: number) => ({ bytes: (count: number) => new Uint8Array(count).fill(value) });

describe("a factory", () => {
  it("encodes the time and the random bytes", () => {
    const ulid = createUlidFactory({ clock: { now: () => 1_469_918_176_385 }, random: constant(0) });
    expect(ulid()).toBe("01ARYZ6S410000000000000000");
    const largest = createUlidFactory({ clock: { now: () => 2 ** 48 - 1 }, random: constant(0xff) });
    expect(largest()).toBe(`7${"Z".repeat(25)}`);
  });

  it("counts up within one millisecond", () => {
    const ulid = createUlidFactory({ clock: { now: () => 0 }, random: constant(0) });
    expect([ulid(), ulid(), ulid()].map((text) => text.slice(-2))).toEqual(["00", "01", "02"]);
  });

  it("goes on when the random part overflows", () => {
    const ulid = createUlidFactory({ clock: { now: () => 5 }, random: constant(0xff) });
    expect([ulid(), ulid()]).toEqual([`0000000005${"Z".repeat(16)}`, `0000000006${"Z".repeat(16)}`]);
  });

  it("keeps the last time when the clock goes backwards", () => {
    const times = [1000, 400, 999, 1001];
    const ulid = createUlidFactory({ clock: { now: () => times.shift() ?? 0 }, random: constant(0) });
    const made = [ulid(), ulid(), ulid(), ulid()];
    expect(made.map((text) => text.slice(0, 10))).toEqual(["00000000Z8", "00000000Z8", "00000000Z8", "00000000Z9"]);
    expect(made).toEqual([...made].sort());
  });

  it("makes strictly increasing ULIDs for any clock and any bytes", () => {
    const times = fc.array(fc.integer({ min: 0, max: 2 ** 48 - 1000 }), { minLength: 2, maxLength: 50 });
    fc.assert(
      fc.property(times, fc.constantFrom(0, 1, 0x7f, 0xfe, 0xff), (sequence, byte) => {
        const rest = [...sequence];
        const ulid = createUlidFactory({ clock: { now: () => rest.shift() ?? 0 }, random: constant(byte) });
        const made = sequence.map(() => ulid());
        for (const text of made) expect(text).toMatch(PATTERN);
        expect(made).toEqual([...new Set(made)].sort());
      }),
    );
  });

  it("makes the same ULIDs from the same clock and bytes", () => {
    const make = () => {
      let calls = 0;
      const bytes = (count: number) => new Uint8Array(count).fill(calls++ * 37);
      const ulid = createUlidFactory({ clock: { now: () => Math.floor(calls / 3) }, random: { bytes } });
      return Array.from({ length: 20 }, () => ulid());
    };
    expect(make()).toEqual(make());
  });
});

describe("a digest", () => {
  it("gives the ULID of its first 16 bytes", () => {
    expect(ulidFromDigest(new Uint8Array(16))).toBe("0".repeat(26));
    expect(ulidFromDigest(new Uint8Array(32).fill(0xff))).toBe(`7${"Z".repeat(25)}`);
    expect(ulidFromDigest(Uint8Array.from({ length: 16 }, (_, i) => i))).toBe("00041061050R3GG28A1C60T3GF");
  });

  it("gives different ULIDs for different bytes", () => {
    const digests = fc.uint8Array({ minLength: 16, maxLength: 16 });
    fc.assert(
      fc.property(digests, digests, (a, b) => {
        expect(ulidFromDigest(a)).toMatch(PATTERN);
        expect(ulidFromDigest(a) === ulidFromDigest(b)).toBe(Buffer.from(a).equals(b));
      }),
    );
  });

  it("must be long enough", () => {
    expect(() => ulidFromDigest(new Uint8Array(15))).toThrow("16 bytes of digest, got 15");
  });
});
