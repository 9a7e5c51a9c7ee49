import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compile } from "./program.ts";
import { formatFloat } from "./values/float-text.ts";
import { encodeUtf8 } from "./values/utf8.ts";

const source = `
def arith(a, b):
    out = [a + b, a - b, a * b, a & b, a | b, a ^ b, -a, ~a, a < b, a <= b, a == b]
    if b != 0:
        out += [a // b, a % b]
    return out
def text(a): return [str(a), "%d" % a, "%x" % a, "%o" % a, int(str(a)), int("%x" % a, 16)]
def shifts(a, n): return [a << n, a >> n]
def parts(s, sep): return [sep.join(s.split(sep)) == s, s.partition(sep), s.replace(sep, ""), s.count(sep), s.find(sep)]
def slices(xs, i, j, k): return [xs[i:j:k], "".join([str(x) for x in xs])[i:j:k], len(xs[i:j:k])]
def order(xs): return [sorted(xs), sorted(xs, reverse = True), min(xs), max(xs)]
`;
const big = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
  fc.integer().map(BigInt),
  fc.maxSafeInteger().map(BigInt),
);
const runs = { seed: 11, numRuns: 400 };

function floorDiv(a: bigint, b: bigint): bigint {
  const q = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? q - 1n : q;
}

const norm = (x: unknown): unknown => (typeof x === "number" ? BigInt(x) : x);

describe("ints", () => {
  const instance = compile(source, "p.star").initSync();

  it("compute as BigInt does", () => {
    fc.assert(
      fc.property(big, big, (a, b) => {
        const q = b === 0n ? [] : [floorDiv(a, b), a - floorDiv(a, b) * b];
        const want = [a + b, a - b, a * b, a & b, a | b, a ^ b, -a, ~a, a < b, a <= b, a === b, ...q];
        const got = instance.callSync("arith", [a, b]);
        expect((got as unknown[]).map(norm)).toEqual(want);
      }),
      runs,
    );
  });

  it("shift as BigInt does", () => {
    fc.assert(
      fc.property(big, fc.nat(511), (a, n) => {
        const got = instance.callSync("shifts", [a, n]);
        expect((got as unknown[]).map(norm)).toEqual([a << BigInt(n), a >> BigInt(n)]);
      }),
      runs,
    );
  });

  it("print and parse as BigInt does", () => {
    fc.assert(
      fc.property(big, (a) => {
        const got = instance.callSync("text", [a]);
        const text = a.toString();
        expect((got as unknown[]).map(norm)).toEqual([text, text, a.toString(16), a.toString(8), a, a]);
      }),
      runs,
    );
  });
});

describe("floats", () => {
  it("print so that they read back the same, always as floats", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (v) => {
        const text = formatFloat(v, "g");
        expect(Number(text)).toBe(v);
        expect(text).toMatch(/[.e]/);
      }),
      runs,
    );
  });

  it("print with six digits, ties to even", () => {
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), fc.integer({ min: 0, max: 20 }), (n, shift) => {
        // The exact value is n / 2^shift, so rounding can be done in integers.
        const scaled = BigInt(Math.abs(n)) * 1_000_000n;
        const unit = 1n << BigInt(shift);
        let q = scaled / unit;
        const rest = (scaled % unit) * 2n;
        if (rest > unit || (rest === unit && q % 2n === 1n)) q += 1n;
        const digits = q.toString().padStart(7, "0");
        const sign = n < 0 ? "-" : "";
        expect(formatFloat(n / 2 ** shift, "f")).toBe(`${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`);
      }),
      runs,
    );
  });
});

describe("strings and sequences", () => {
  const instance = compile(source, "p.star").initSync();

  it("are quoted so that the literal denotes them", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (s) => {
        const text = s.replaceAll(/[\ud800-\udfff]/gu, "");
        const quoted = compile("def q(x): return repr(x)", "q.star").initSync().callSync("q", [text]);
        expect(
          compile(`x = ${String(quoted)}`, "r.star")
            .initSync()
            .get("x"),
        ).toBe(encodeUtf8(text));
      }),
      { seed: 5, numRuns: 200 },
    );
  });

  it("are cut and joined as JS does", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", ",") });
    fc.assert(
      fc.property(
        word,
        word.filter((s) => s !== ""),
        (s, sep) => {
          const i = s.indexOf(sep);
          const cut = i < 0 ? [s, "", ""] : [s.slice(0, i), sep, s.slice(i + sep.length)];
          const pieces = s.split(sep);
          expect(instance.callSync("parts", [s, sep])).toEqual([true, cut, pieces.join(""), pieces.length - 1, i]);
        },
      ),
      runs,
    );
  });

  it("are sliced as the definition says", () => {
    const index = fc.option(fc.integer({ min: -8, max: 8 }));
    const step = fc.option(fc.integer({ min: -3, max: 3 }).filter((k) => k !== 0));
    fc.assert(
      fc.property(fc.nat(6), index, index, step, (n, i, j, k) => {
        const xs = Array.from({ length: n }, (_, x) => x);
        const by = k ?? 1;
        const at = (v: number | null, fallback: number): number =>
          v === null ? fallback : Math.max(by > 0 ? 0 : -1, Math.min(by > 0 ? n : n - 1, v < 0 ? v + n : v));
        const want: number[] = [];
        const end = at(j, by > 0 ? n : -1);
        for (let x = at(i, by > 0 ? 0 : n - 1); by > 0 ? x < end : x > end; x += by) want.push(x);
        expect(instance.callSync("slices", [xs, i, j, k])).toEqual([want, want.join(""), want.length]);
      }),
      runs,
    );
  });

  it("are ordered as JS orders numbers", () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (xs) => {
        const up = xs.toSorted((a, b) => a - b);
        expect(instance.callSync("order", [xs])).toEqual([up, up.toReversed(), up[0], up.at(-1)]);
      }),
      runs,
    );
  });
});
