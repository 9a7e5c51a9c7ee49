import fc from "fast-check";
import { expect, test } from "vitest";
import { createConcealer } from "./concealer.ts";

const SECRET = "sk-abab-abac-0123";

function concealed(chunks: readonly string[], secret = SECRET): string {
  const concealer = createConcealer(Buffer.from(secret));
  const out = chunks.map((chunk) => concealer.write(Buffer.from(chunk)).toString());
  return out.join("") + concealer.end().toString();
}

test("the value is taken out wherever the chunks are cut, and nothing else", () => {
  const text = `a ${SECRET}${SECRET} sk-abab-abab-abac-0123 sk-abab ${SECRET.slice(0, -1)}`;
  const expected = text.replaceAll(SECRET, "«redacted:key»");
  fc.assert(
    fc.property(fc.array(fc.nat({ max: text.length }), { maxLength: 8 }), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      expect(concealed(at.slice(1).map((end, index) => text.slice(at[index], end)))).toBe(expected);
    }),
  );
});

test("what cannot be the beginning of the value is not held back", () => {
  const concealer = createConcealer(Buffer.from(SECRET));
  expect(concealer.write(Buffer.from("data: one\n\n")).toString()).toBe("data: one\n\n");
  expect(concealer.write(Buffer.from("two sk-a")).toString()).toBe("two ");
  expect(concealer.write(Buffer.from("nd")).toString()).toBe("sk-and");
});

test("a value that could be an ordinary word stays", () => {
  expect(concealed(["the key is k"], "k")).toBe("the key is k");
});
