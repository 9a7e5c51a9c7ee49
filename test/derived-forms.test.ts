/** What ordinary programs make of a known secret. `test/campaigns/derived-forms.test.ts` shifts it by more characters. */
import { expect, test } from "vitest";
import { createRedactor } from "#redaction";
import { learned, literal, MARKER, SECRET, testDerivedForms } from "./fakes/derived-forms.ts";

testDerivedForms(["", "abc"]);

test("a short secret is found in colour as well", () => {
  const redactor = createRedactor({ literals: [{ value: "tr0ub4dor&3" }] });
  expect(redactor.redact("it is tr0\u001b[01;31m\u001b[Kub4\u001b[m\u001b[Kdor&3.").text).toBe(`it is ${MARKER}.`);
});

test("what ends a sequence does not hide a secret in it", () => {
  for (const redactor of [literal, learned]) {
    expect(redactor.redact(`\u001b]0;${SECRET}\u0007`).text).not.toContain("Zk3q");
    expect(redactor.redact(`\u001b]0;${[...SECRET].join(" ")}\u0007`).text).toContain(MARKER);
    expect(redactor.redact(`\u001b]${[...SECRET].join("\u001b[m")}\u0007`).text).toContain(MARKER);
  }
});

test("a text that only resembles a dump keeps its words", () => {
  const text = "00000010: 736b 2d61  sk-a\n0000020 the quick brown fox\ndeadbeef  |x|\n";
  for (const redactor of [literal, learned]) expect(redactor.redact(text).text).toBe(text);
});
