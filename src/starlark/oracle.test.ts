/**
 * A short run of bench/starlark-fuzz.ts that needs no Go: generated programs with starlark-go's answers, kept in a file. To
 * renew it: `node bench/starlark-fuzz.ts --seed 900001 --programs 240 --corpus test/corpora/starlark-fuzz.jsonl`.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { type Answer, answerOf, difference } from "../../test/starlark/comparison.ts";

const corpus = readFileSync(path.join(import.meta.dirname, "../../test/corpora/starlark-fuzz.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Answer & { readonly program: string })
  .filter((entry) => entry.error !== "panic");

describe("generated programs give the values that starlark-go gives", () => {
  for (const mode of ["sync", "generator"] as const) {
    it(`${corpus.length} programs, ${mode}`, async () => {
      expect(corpus.length).toBeGreaterThan(150);
      const different: unknown[] = [];
      for (const { program, ...theirs } of corpus) {
        const found = difference(await answerOf(program, mode), theirs);
        if (found?.isValue) different.push({ program, ...found });
      }
      expect(different).toEqual([]);
    });
  }

  it("a changed value is noticed, and a changed message is told from it", () => {
    const answer = { out: "1\nerror: a\n", error: "Error: b" };
    expect(difference(answer, answer)).toBeNull();
    expect(difference(answer, { ...answer, out: "2\nerror: a\n" })).toMatchObject({ isValue: true });
    expect(difference(answer, { ...answer, out: "1\nerror: c\n" })).toMatchObject({ isValue: false });
    expect(difference(answer, { ...answer, out: "1\n" })).toMatchObject({ isValue: true });
    expect(difference(answer, { ...answer, error: "" })).toMatchObject({ isValue: true });
    expect(difference(answer, { ...answer, error: "Error: c" })).toMatchObject({ isValue: false });
  });
});
