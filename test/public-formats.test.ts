/** A short version of `bench/redaction-public.ts`: formats as public rule sets describe them. */
import { describe, expect, test } from "vitest";
import { createRedactor } from "#redaction";
import { publicCases } from "./corpora/public-cases.ts";
import type { SecretCase } from "./corpora/secret-case.ts";

const ROUNDS = 2;
const redactor = createRedactor();

describe.each([1, 17])("seed %i", (seed) => {
  const { prefixed, generic, vendorKeyed, nearMisses } = publicCases(seed, ROUNDS);

  test.each([
    ["tokens with a fixed prefix", prefixed, 0.05],
    ["values behind a generic name", generic, 0.15],
    ["values behind the name of a vendor", vendorKeyed, 0.15],
  ])("%s are found", (_, cases: readonly SecretCase[], mostMissed) => {
    expect(cases.filter(({ text, secret }) => !text.includes(secret))).toEqual([]);
    const missed = cases.filter(({ text, secret }) => redactor.redact(text).text.includes(secret));
    expect(missed.length / cases.length).toBeLessThanOrEqual(mostMissed);
  });

  test("near-misses are left alone", () => {
    const changed = nearMisses.filter(({ text }) => redactor.redact(text).text !== text);
    expect(changed.length / nearMisses.length).toBeLessThanOrEqual(0.1);
  });
});
