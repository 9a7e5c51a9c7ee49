import fc from "fast-check";
import { expect, test } from "vitest";
import { beginningOf, endOf } from "#base";
import { createRedactor } from "#redaction";
import { createBoundedText } from "./bounded-text.ts";

test("a text within the bounds is kept whole", () => {
  const bounded = createBoundedText({ headChars: 3, tailChars: 3 });
  for (const part of ["ab", "cd", "ef"]) bounded.add(part);
  expect(bounded.text()).toBe("abcdef");
});

test("beyond them the middle is replaced by its size in bytes, and no line is cut", () => {
  const bounded = createBoundedText({ headChars: 6, tailChars: 6 });
  bounded.add("abc\n€€€€€\n€€€\ndef\n");
  expect(bounded.text()).toBe("abc\n[… 26 bytes left out …]\ndef\n");
});

test("no character is split", () => {
  const bounded = createBoundedText({ headChars: 4, tailChars: 6 });
  bounded.add("a 😀😀 b 😀😀,c d");
  expect(bounded.text()).toBe("a \n[… 20 bytes left out …]\nc d");
});

test("however the text is cut into chunks, beginning, end and count agree with the whole", () => {
  const part = fc.string({ unit: fc.constantFrom("a", "b", "\n", " ", ","), maxLength: 12 });
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const bounded = createBoundedText({ headChars: 5, tailChars: 7 });
      for (const one of parts) bounded.add(one);
      const whole = parts.join("");
      const first = beginningOf(whole, 5);
      // One line less when the end begins with a line: what was before it is not kept.
      const last = endOf(`x${whole.slice(-7)}`, 7);
      const left = `[… ${whole.length - first.length - last.length} bytes left out …]\n`;
      const cut = `${first}${first.endsWith("\n") ? "" : "\n"}${left}${last}`;
      expect(bounded.text()).toBe(whole.length > 12 ? cut : whole);
    }),
  );
});

test.each([
  ["", "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5", ""],
  ["AWS_SECRET_ACCESS_KEY=", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQ8KpLm3Vt", ""],
  ["password: ", "Tr0ub4dor-and-3xtra-Zeal", ""],
  ['{"token":"', "8f14e45fceea167a5a36dedd4bea2543c9f0f895", '"}'],
])("nothing is left of a secret through which a bound goes: %s%s%s", (before, secret, after) => {
  const redactor = createRedactor();
  const shortest = 4;
  const parts = Array.from({ length: secret.length - shortest + 1 }, (_, at) => secret.slice(at, at + shortest));
  const line = `${before}${secret}${after}\n`;
  for (let at = 0; at <= line.length; at++) {
    const bounded = createBoundedText({ headChars: 200, tailChars: 200 });
    const filled = `${"-".repeat(199 - at)}\n`;
    bounded.add(`${filled}${line}${"more\n".repeat(100)}${line}`);
    bounded.add(filled);
    const { text } = redactor.redact(bounded.text());
    expect(parts.filter((part) => text.includes(part))).toEqual([]);
  }
});
