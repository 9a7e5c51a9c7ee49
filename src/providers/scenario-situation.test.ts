/** What the rules of a scenario see of a conversation. */
import { expect, test } from "vitest";
import type { Message } from "#protocol";
import { situationOf } from "./scenario-situation.ts";

const said = (...texts: readonly string[]): Message => ({
  role: "user",
  content: texts.map((text) => ({ type: "text", text })),
});
const answer: Message = { role: "assistant", content: [{ type: "text", text: "a" }] };

test("a note of Harness is no input, before the input or in the middle of its turn", () => {
  const note = "[harness: Plan mode is on.]";
  expect(situationOf([said("one"), answer, said(note, "two")])).toEqual({ input: "two", step: 1 });
  expect(situationOf([said("one"), answer, said(note)])).toEqual({ input: "one", step: 2 });
});
