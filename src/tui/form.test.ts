import { expect, test } from "vitest";
import type { FormField } from "#protocol";
import { emptyForm, previousField, withFormText } from "./form.ts";

const fields: readonly FormField[] = [
  { name: "name", type: "text", required: true },
  { name: "count", type: "integer", required: false, min: 1, max: 9, default: 3 },
  { name: "sure", type: "boolean", required: true },
  { name: "colours", type: "choices", required: false, options: [{ value: "red" }, { value: "blue" }] },
];

function fill(...texts: readonly string[]) {
  let progress: ReturnType<typeof withFormText> = emptyForm;
  for (const text of texts) if (!("answer" in progress)) progress = withFormText(fields, progress, text);
  return progress;
}

test("each field becomes a value of its type; an empty text is the default or left out", () => {
  expect(fill("Ada", "", "yes", "1, blue")).toEqual({
    answer: '{"name":"Ada","count":3,"sure":true,"colours":["red","blue"]}',
  });
});

test.each([
  [[""], "name is required."],
  [["Ada", "x"], "count takes a whole number."],
  [["Ada", "10"], "count takes 1 to 9."],
  [["Ada", "2", "perhaps"], "sure takes yes or no."],
  [["Ada", "2", "no", "green"], "colours takes options, with commas between them."],
])("%j is asked for once more", (texts, problem) => {
  expect(fill(...texts)).toMatchObject({ at: texts.length - 1, problem });
});

test("the word decline ends the form; going back asks for the field before", () => {
  expect(fill("Ada", "decline")).toEqual({ answer: "decline" });
  const second = fill("Ada");
  expect("answer" in second ? undefined : previousField(second)).toMatchObject({ at: 0 });
});
