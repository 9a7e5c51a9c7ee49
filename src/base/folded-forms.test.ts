import { expect, test } from "vitest";
import { foldedForms } from "./folded-forms.ts";

test("a form is letters and digits in lower case", () => {
  for (const form of foldedForms("correct-horse/battery+staple")) expect(form).toMatch(/^[a-z0-9]{12,}$/);
});

test("a secret is folded into everything that dumps write", () => {
  const forms = foldedForms("Secret-value-1");
  expect(forms).toContain("secretvalue1");
  expect(forms).toContain("1eulavterces");
  expect(forms).toContain(Buffer.from("Secret-value-1").toString("hex"));
  expect(forms).toContain("knswg4tfoqwxmylmovss2m");
});

test("words that follow one another are not a form of a short value", () => {
  expect(foldedForms("pass-word")).not.toContain("password");
});
