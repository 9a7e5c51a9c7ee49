/** What Tab puts in the place of a line. */
import { expect, test } from "vitest";
import type { ClientSession } from "#client";
import { completeInput } from "./slash-words.ts";

test("names that begin as typed come before those that only have the letters, of which the best one is taken", async () => {
  const complete = async (line: string, ...result: readonly string[]) => {
    const submit: unknown = async () => ({ result });
    return completeInput({ submit: submit as ClientSession["submit"] }, line, []);
  };
  expect(await complete("@pa", "@parse.ts", "@src/parse.ts", "@pay.ts")).toEqual(["@parse.ts", "@pay.ts"]);
  expect(await complete("@sdp", "@src/deep/parse.ts", "@s/d/p")).toEqual(["@src/deep/parse.ts"]);
  expect(await complete("@none")).toEqual([]);
});
