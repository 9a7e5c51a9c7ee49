import { describe, expect, test } from "vitest";
import { createFormTest, createKnownSecrets, fingerprintSecret } from "./secret-fingerprint.ts";
import { secretForms } from "./secret-forms.ts";

const SECRET = "correct-horse/battery+staple";

describe("a fingerprint", () => {
  const fingerprint = fingerprintSecret(Buffer.from(SECRET))!;

  test("knows every form of the secret where it stands, and nothing else", () => {
    for (const { text } of secretForms(SECRET)) {
      const tests = fingerprint.forms.map((form) => createFormTest(fingerprint, form));
      expect(tests.some((isHere) => isHere(`ab${text}cd`, 2))).toBe(true);
      expect(tests.some((isHere) => isHere(`ab${text.slice(0, -1)}!cd`, 2))).toBe(false);
    }
  });

  test("does not hold the secret", () => {
    const told = JSON.stringify(fingerprint);
    for (const { text } of secretForms(SECRET)) expect(told).not.toContain(text.slice(0, 8));
    expect(JSON.stringify(fingerprintSecret(Buffer.from(SECRET)))).not.toBe(told);
  });

  test("is not made of what ordinary text holds", () => {
    expect(fingerprintSecret(Buffer.from("short"))).toBeUndefined();
    expect(fingerprintSecret(Buffer.from("aaaaaaaaaaaa"))).toBeUndefined();
  });
});

test("who listens is told of what is there and of what comes", () => {
  const { add, listen } = createKnownSecrets();
  const seen: unknown[] = [];
  add({ seed: "1", forms: [], folded: [] });
  listen((fingerprint) => seen.push(fingerprint.seed));
  add({ seed: "2", forms: [], folded: [] });
  add(undefined);
  expect(seen).toEqual(["1", "2"]);
});
