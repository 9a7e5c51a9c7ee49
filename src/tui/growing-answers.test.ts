/** An answer behind a call that runs: the rows are those of a fresh render, and a frame costs as much as what is new. */
import { expect, test } from "vitest";
import { playScene } from "../../test/fakes/golden-screens.ts";
import { answerRows } from "./answer-rows.ts";
import { createGrowingAnswers } from "./growing-answers.ts";
import { themes } from "./theme.ts";
import type { AnswerBlock } from "./transcript.ts";
import { widgets } from "./widgets.ts";

const PIECE = "A paragraph with **bold** words.\n\n- one\n- two\n\n```ts\nconst a = 1;\nconst b = 2;\n```\n\n";
const style = { columns: 60, theme: themes.dark, widgets, nowMs: 0 };
const answerOf = (text: string): AnswerBlock => ({ kind: "answer", key: "k", text, printed: 0, isDone: false });

test("the rows are those of the whole answer, in every width and theme", () => {
  const rowsOf = createGrowingAnswers();
  const text = PIECE.repeat(3);
  for (let end = 1; end <= text.length; end += 3) {
    const part = answerOf(text.slice(0, end));
    expect(rowsOf(part, style)).toEqual(answerRows(part.text, style));
    if (end % 50 === 1) {
      const other = { ...style, columns: 30, theme: themes.light };
      expect(rowsOf(part, other)).toEqual(answerRows(part.text, other));
    }
  }
  // Of the same name, and another one.
  expect(rowsOf(answerOf("new"), style)).toEqual(answerRows("new", style));
});

test("what is final is not made into rows again", () => {
  let rendered = 0;
  class Counted extends widgets.Markdown {
    constructor(...parts: ConstructorParameters<typeof widgets.Markdown>) {
      super(...parts);
      rendered += parts[0].length;
    }
  }
  const counting = { ...style, widgets: { ...widgets, Markdown: Counted } };
  const rowsOf = createGrowingAnswers();
  let text = "";
  for (let piece = 0; piece < 200; piece++) {
    text += PIECE;
    rowsOf(answerOf(text), counting);
  }
  expect(rendered).toBeLessThan(text.length * 4);
});

test("it is on the screen behind the call, with its end in sight", async () => {
  const at = { turn: "turn_1", step: 1, block: 0 };
  const call = { ...at, call_id: "call_1", name: "exec", label: "Bash", args: { command: "make" } };
  const shown = await playScene({
    events: [
      ["TurnStarted", { turn: "turn_1", content: [{ type: "text", text: "go" }], model: "m" }],
      ["ToolCallStarted", call],
      ...Array.from({ length: 30 }, () => ["TextDelta", { ...at, step: 2, text: PIECE }] as const),
      ["TextDelta", { ...at, step: 2, text: "the end" }],
    ],
  });
  expect(shown).toMatch(/const b = 2;\n\nthe end\n/);
});
