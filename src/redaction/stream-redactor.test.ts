/** Text in pieces: nothing passes that would not have passed in one piece, and what is held back has a bound. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanTexts } from "../../test/corpora/redaction-clean.ts";
import { secretCases } from "../../test/corpora/redaction-secrets.ts";
import { ALPHABETS, createSeededRandom } from "../../test/corpora/seeded-random.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createRedactor, STREAM_WINDOW_CHARS } from "./index.ts";
import { compileUserPatterns } from "./user-patterns.ts";

const literal = "kept in the environment 42";
const redactor = createRedactor({ literals: [{ value: literal }] });
const random = createSeededRandom(7);
const texts = [...secretCases(), ...cleanTexts()].map(({ text }) => text);

/** `cuts`: how many characters each piece has, over and over. */
function inPieces(text: string, cuts: readonly number[], afterEach?: (held: number) => void): string {
  const stream = redactor.createStreamRedactor();
  let out = "";
  for (let at = 0, index = 0; at < text.length; index++) {
    const size = cuts[index % cuts.length]!;
    out += stream.push(text.slice(at, at + size));
    afterEach?.(stream.heldChars);
    at += size;
  }
  return out + stream.flush();
}

const alnum = (count: number): string => random.chars(ALPHABETS.alnum, count);
const long: readonly (readonly [string, string])[] = [
  ["a JWT", `token eyJhbGciOiJIUzI1NiJ9.eyJ${alnum(20_000)}.${alnum(43)} and more`],
  ["a password", `the password=${alnum(20_000)} and more`],
  ["a quoted password", `{"password": "${alnum(20_000)}", "and": "more"}`],
  ["a bearer token", `Authorization: Bearer ${alnum(9_000)}\nand: more`],
  ["a cookie", `Cookie: a=${alnum(9_000)}; b=${alnum(9_000)}\nand: more`],
  [
    "a key",
    `-----BEGIN PRIVATE KEY-----\n${Array.from({ length: 300 }, () => alnum(64)).join("\n")}\n-----END PRIVATE KEY-----\nand more`,
  ],
];

describe("a stream", () => {
  test("gives what the whole text gives, however it is cut", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.constantFrom(...texts),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 }),
        (first, second, cuts) => {
          const text = `${first}\n${literal}\n${second}`;
          expect(inPieces(text, cuts)).toBe(redactor.redact(text).text);
        },
      ),
      { numRuns: 400 },
    );
  });

  test("remembers nothing of a field in another text", () => {
    const text = "- name: VERCEL_TOKEN\n  value: 1YEJVL0PYEsd5iuq6P950WQ4\n";
    for (let at = 1; at < text.length; at++) {
      redactor.redact("password = read(secrets)");
      expect(inPieces(text, [at, text.length])).toBe(redactor.redact(text).text);
    }
  });

  test("finds a secret at every place where it can be cut in two", () => {
    for (const { text } of secretCases().filter((_, index) => index % 40 === 0)) {
      const whole = redactor.redact(text).text;
      for (let at = 1; at < text.length; at++) expect(inPieces(text, [at, text.length])).toBe(whole);
    }
  });

  test.each(long)("replaces %s that is longer than its window, and swallows the rest", (_, text) => {
    const whole = redactor.redact(text).text;
    expect(whole.length).toBeLessThan(200);
    // Character by character only where it matters: around the beginning, and where the window is full.
    const singly = [...Array<number>(200).fill(1), STREAM_WINDOW_CHARS - 300, ...Array<number>(200).fill(1), 5_000];
    for (const cuts of [singly, [7, 300], [5_000]]) expect(inPieces(text, cuts)).toBe(whole);
  });

  test("holds back no more than its window", () => {
    let most = 0;
    const inputs = [...long.map(([, text]) => text), "x".repeat(50_000), "password=".repeat(5_000), texts.join("\n")];
    for (const text of inputs) {
      inPieces(text, [11], (held) => {
        most = Math.max(most, held);
      });
    }
    expect(most).toBeGreaterThan(1_000);
    expect(most).toBeLessThanOrEqual(STREAM_WINDOW_CHARS);
  });

  test("lets prose through but for its last word", () => {
    const stream = redactor.createStreamRedactor();
    expect(stream.push("The quick brown fo")).toBe("The quick brown ");
    expect(stream.push("x jumps.")).toBe("fox ");
    expect(stream.flush()).toBe("jumps.");
  });

  test("can be used again after a flush", () => {
    const stream = redactor.createStreamRedactor();
    stream.push("first ghp_");
    expect(stream.flush()).toBe("ghp_");
    expect(stream.push("once more ")).toBe("once more ");
  });

  test("counts as the whole text does", () => {
    const text = secretCases()
      .slice(0, 200)
      .map((secret) => secret.text)
      .join("\n");
    const counting = createRedactor();
    const stream = counting.createStreamRedactor();
    for (let at = 0; at < text.length; at += 13) stream.push(text.slice(at, at + 13));
    stream.flush();
    expect(counting.status().counts).toEqual(Object.fromEntries(Object.entries(redactor.redact(text).counts).sort()));
  });
});

describe("settle", () => {
  test("lets go what is held only because a keyword might begin in it", () => {
    const stream = redactor.createStreamRedactor();
    expect(stream.push("to be contin")).toBe("to be ");
    expect(stream.settle()).toBe("contin");
    expect(stream.push("ue ")).toBe("ue ");
  });

  test("keeps a secret that has begun", () => {
    const secret = `ghp_${alnum(36)}`;
    const stream = redactor.createStreamRedactor();
    const out = [stream.push(`use ${secret.slice(0, 12)}`), stream.settle(), stream.push(`${secret.slice(12)} now `)];
    expect(out.slice(0, 2)).toEqual(["use ", ""]);
    expect(out[2] + stream.settle()).toBe("«redacted:github-pat» now ");
  });

  test("after every piece lets at most the beginning of a secret pass", () => {
    const passed = secretCases().filter(({ text, secret }) => {
      if (redactor.redact(text).text.includes(secret)) return false;
      const stream = redactor.createStreamRedactor();
      let out = "";
      for (let at = 0; at < text.length; at += 5) out += stream.push(text.slice(at, at + 5)) + stream.settle();
      out += stream.flush();
      return out.includes(secret.slice(0, Math.max(14, secret.length / 2)));
    });
    expect(passed).toEqual([]);
  });
});

test("user patterns hold back enough for a match that is cut", async () => {
  const patterns = [{ kind: "ticket", pattern: "ACME-\\d{4,8}" }];
  const mine = createRedactor({ userPatterns: await compileUserPatterns(patterns, createManualClock()) });
  const stream = mine.createStreamRedactor();
  const out =
    stream.push("see AC") + stream.push("ME-12") + stream.push(`345 ${"and so on ".repeat(40)}`) + stream.flush();
  expect(out).toBe(`see «redacted:ticket» ${"and so on ".repeat(40)}`);
});
