/** The screens of the interface itself and of its own layers, as committed text. */
import { expect, test } from "vitest";
import { builtInWords } from "#protocol";
import { expectGolden, playScene, type Scene } from "../../test/fakes/golden-screens.ts";
import { KEYS } from "../../test/fakes/screen-terminal.ts";

const turn = { turn: "turn_1", step: 1, block: 0 };
const conversation: Scene["events"] = [
  [
    "TurnStarted",
    { ...turn, content: [{ type: "text", text: "Rename the parser 🚀 and say what 構文 means" }], model: "m" },
  ],
  [
    "TextDelta",
    {
      ...turn,
      text: "I will **rename** it in `parse.ts`.\n\n- one\n- two with a longer line that wraps on narrow screens\n\n",
    },
  ],
  ["TextDelta", { ...turn, text: "| file | lines |\n| --- | --- |\n| parse.ts | 12 |\n" }],
];

test("an empty conversation", () => expectGolden("empty", {}));

test("an answer that streams, above an input of two lines", () =>
  expectGolden("streaming", { events: conversation, keys: ["first line", KEYS.shiftEnter, "second line"] }));

test("inputs that wait for their turn", () =>
  expectGolden("queued", {
    events: [
      ...conversation,
      ...[
        "run the tests",
        "then commit,\nand push",
        "one that is longer than the screens are wide: say 構文 🚀",
        "last",
      ].map((text) => ["InputQueued", { content: [{ type: "text", text }], by: "cli_1" }] as const),
    ],
    keys: ["typed"],
  }));

test("what can follow a slash", () =>
  expectGolden("slash-menu", { parts: { commands: async () => builtInWords }, keys: ["/", "s"] }));

test("the search in earlier inputs", () =>
  expectGolden("history", {
    events: conversation,
    parts: { history: () => ["run the tests", "say hello", "a text\nof two lines"] },
    keys: [KEYS.ctrlR, "t"],
  }));

test("the list of commands", () =>
  expectGolden("palette", { parts: { commands: async () => builtInWords }, keys: [KEYS.ctrlP, KEYS.down] }));

test("the keys", () => expectGolden("keys", { events: conversation, keys: ["?"] }));

test("code in an answer, of which the last line still streams", () =>
  expectGolden("answer-code", {
    events: [
      ["TurnStarted", { ...turn, content: [{ type: "text", text: "show me" }], model: "m" }],
      [
        "TextDelta",
        {
          ...turn,
          text: '```ts\n/* Two\n   lines. */\nexport const width = `columns`; // a comment that is longer than forty columns\n```\n\n- in a list:\n  ```json\n  {"key": [1, true, "text"]}\n  ```\n\n```sh\nnpm test # all\nnpm run',
        },
      ],
    ],
  }));

test("a reminder, until it is hidden", async () => {
  const text = `3 sessions expire this week: ${["A", "B", "C"].map((end) => `sess_01ARZ3NDEKTSV4RRFFQ69G5FA${end}`).join(", ")} — /sessions:pin or /sessions:export to keep them.`;
  let hidden = 0;
  const parts: Scene["parts"] = {
    reminder: {
      text: async () => text,
      async hide() {
        hidden += 1;
      },
    },
  };
  await expectGolden("reminder", { events: conversation, parts, keys: ["typed"] });
  expect(await playScene({ parts, keys: ["\u001bx", "\u001bx"] })).not.toContain("expire");
  expect(hidden).toBe(1);
});
