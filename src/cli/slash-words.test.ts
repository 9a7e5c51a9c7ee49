/** What Tab puts in the place of a line. */
import { expect, test } from "vitest";
import type { ClientSession } from "#client";
import { completeInput, runSlash, type Words, withOwnRows } from "./slash-words.ts";
import type { Terminal } from "./terminal.ts";

test("names that begin as typed come before those that only have the letters, of which the best one is taken", async () => {
  const complete = async (line: string, ...result: readonly string[]) => {
    const submit: unknown = async () => ({ result });
    return completeInput({ submit: submit as ClientSession["submit"] }, line, []);
  };
  expect(await complete("@pa", "@parse.ts", "@src/parse.ts", "@pay.ts")).toEqual(["@parse.ts", "@pay.ts"]);
  expect(await complete("@sdp", "@src/deep/parse.ts", "@s/d/p")).toEqual(["@src/deep/parse.ts"]);
  expect(await complete("@none")).toEqual([]);
});

test.each([
  ["turn_1", ["CancelTurn"], ""],
  [undefined, [], "No turn is running.\n"],
])("/cancel with the turn %s", async (turn, submitted, said) => {
  const sent: string[] = [];
  const session = {
    info: async () => ({ turn }),
    submit: async ({ kind }: { kind: string }) => ({ at: sent.push(kind) }),
  } as unknown as ClientSession;
  const rows = withOwnRows([]);
  // The word needs no others.
  const words = { handlers: {}, known: () => rows, rows: async () => rows } as unknown as Words;
  let text = "";
  await runSlash({ err: (more: string) => (text += more) } as unknown as Terminal, session, words, "/cancel");
  expect([sent, text]).toEqual([submitted, said]);
});
