import { expect, test } from "vitest";
import { createTemporaryWorkspace, createToolContext } from "../../test/fakes/temporary-workspace.ts";
import { askUserTool } from "./ask-user.ts";

test("the question and its options reach the person, the answer comes back", async () => {
  const asked: unknown[] = [];
  const context = createToolContext(createTemporaryWorkspace().ports, {
    ask: async (question, options) => {
      asked.push([question, options]);
      return "the second";
    },
  });
  expect(await askUserTool.run({ question: "Which?", options: ["a", "b"] }, context)).toEqual({
    content: [{ type: "text", text: "the second" }],
  });
  expect(await askUserTool.run({ question: "Why?" }, context)).toMatchObject({ content: [{ text: "the second" }] });
  expect(asked).toEqual([
    ["Which?", ["a", "b"]],
    ["Why?", []],
  ]);
});

test("when nobody can answer the model is told to go on", async () => {
  expect(await askUserTool.run({ question: "Which?" }, createToolContext(createTemporaryWorkspace().ports))).toEqual({
    content: [
      { type: "text", text: "Nobody can answer now. Continue with your best judgement, and say what you assumed." },
    ],
    isError: true,
  });
});
