import { expect, test } from "vitest";
import { isRandomLetters } from "./letter-pairs.ts";

test.each(["kqzjvhwmxplsgtrf", "QWXZKJVHTRPLMNBG", "xKqZjvHwMpLsgTrf"])("%s cannot be words", (value) => {
  expect(isRandomLetters(value)).toBe(true);
});

test.each([
  "correcthorsebattery",
  "AuthenticationProvider",
  "KUBERNETES_SERVICE",
  "serviceaccounttoken",
  "internationalization",
  "kqzjvh",
  "kqzjvhwmxplsgtr1",
  "",
])("%j can", (value) => {
  expect(isRandomLetters(value)).toBe(false);
});
