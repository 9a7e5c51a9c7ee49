/** The corpora: nearly all secrets are found, and texts without one are left alone. `bench/redaction.ts` prints the figures. */
import { describe, expect, test } from "vitest";
import { cleanTexts } from "../../test/corpora/redaction-clean.ts";
import { secretCases } from "../../test/corpora/redaction-secrets.ts";
import { createRedactor } from "./index.ts";
import { ruleRows } from "./rule-table.ts";

const redactor = createRedactor();
const LEAST_RECALL = 0.98;
const MOST_FALSE_POSITIVES = 0.02;

describe("the rule table", () => {
  test("has enough classes, each once", () => {
    const kinds = ruleRows().map(({ kind }) => kind);
    expect(kinds.length).toBeGreaterThanOrEqual(170);
    expect(new Set(kinds).size).toBe(kinds.length);
  });
});

describe.each([20_260, 1, 2])("the corpus of seed %i", (seed) => {
  test("has its secrets found", () => {
    const cases = secretCases(seed);
    expect(cases.length).toBeGreaterThanOrEqual(1_200);
    expect(cases.filter(({ text, secret }) => !text.includes(secret))).toEqual([]);
    const missed = cases.filter(({ text, secret }) => redactor.redact(text).text.includes(secret));
    expect(missed.length / cases.length).toBeLessThanOrEqual(1 - LEAST_RECALL);
  });

  test("has its clean texts left alone", () => {
    const texts = cleanTexts(seed);
    expect(texts.length).toBeGreaterThanOrEqual(450);
    const changed = texts.filter(({ text }) => redactor.redact(text).text !== text);
    expect(changed.length / texts.length).toBeLessThanOrEqual(MOST_FALSE_POSITIVES);
  });
});
