import fc from "fast-check";
import { expect, test } from "vitest";
import { createBoundedText } from "./bounded-text.ts";

test("a text within the bounds is kept whole", () => {
  const bounded = createBoundedText({ headChars: 3, tailChars: 3 });
  for (const part of ["ab", "cd", "ef"]) bounded.add(part);
  expect(bounded.text()).toBe("abcdef");
});

test("beyond them the middle is replaced by its size in bytes", () => {
  const bounded = createBoundedText({ headChars: 3, tailChars: 3 });
  bounded.add("abc€€def");
  expect(bounded.text()).toBe("abc\n[… 6 bytes left out …]\ndef");
});

test("no character is split", () => {
  const bounded = createBoundedText({ headChars: 2, tailChars: 2 });
  bounded.add("a😀b😀c");
  expect(bounded.text()).toBe("a\n[… 9 bytes left out …]\nc");
});

test("however the text is cut into chunks, beginning, end and count agree with the whole", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary-ascii", maxLength: 12 })), (parts) => {
      const bounded = createBoundedText({ headChars: 5, tailChars: 7 });
      for (const part of parts) bounded.add(part);
      const whole = parts.join("");
      const dropped = whole.length - 12;
      const cut = `${whole.slice(0, 5)}\n[… ${dropped} bytes left out …]\n${whole.slice(-7)}`;
      expect(bounded.text()).toBe(dropped > 0 ? cut : whole);
    }),
  );
});
