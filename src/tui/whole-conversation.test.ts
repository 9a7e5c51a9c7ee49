/** The whole conversation on a screen of its own: rows open, a search, and pages of the log from before the interface was attached. */
import { expect, test } from "vitest";
import type { ClientSession, Event } from "#client";
import { expectGolden, type Scene, sceneEvent } from "../../test/fakes/golden-screens.ts";
import { KEYS } from "../../test/fakes/screen-terminal.ts";
import { appended, emptyLog, entriesFrom } from "./block-log.ts";
import { withEarlier } from "./earlier.ts";

const CTRL_O = "\u000f";
const END = "\u001b[F";
const HOME = "\u001b[H";

function turnOf(number: number): (readonly [kind: string, payload: unknown])[] {
  const turn = `turn_${number}`;
  const call_id = `call_${number}`;
  return [
    ["TurnStarted", { turn, content: [{ type: "text", text: `question ${number}` }], model: "m" }],
    ["ThinkingDelta", { turn, step: 1, block: 0, text: `thought ${number}` }],
    [
      "ToolCallStarted",
      { turn, step: 1, block: 1, call_id, name: "exec", label: "Bash", args: { command: `make ${number}` } },
    ],
    [
      "ToolResult",
      {
        ...{ turn, step: 1, call_id, is_error: false, outcome: "ok", duration_ms: 10 },
        content: [{ type: "text", text: `output ${number}\nof two lines` }],
      },
    ],
    ["TextDelta", { turn, step: 2, block: 0, text: `Answer **${number}**.` }],
    ["TurnEnded", { turn, outcome: "answered", usage: { input_tokens: 1, output_tokens: 1 }, steps: 2 }],
  ];
}

const log: readonly Event[] = Array.from({ length: 400 }, (_, at) => turnOf(at + 1))
  .flat()
  .map(([kind, payload], at) => sceneEvent(at + 1, kind, payload));
const pages: number[] = [];
const session = {
  id: "sess_01GOLDEN",
  async *log({ after = 0 } = {}) {
    pages.push(after);
    yield* log.slice(after, after + 600);
  },
} as unknown as ClientSession; // what the screen reads

const events: Scene["events"] = [...turnOf(1), ...turnOf(2)];

test("calls and thoughts are one row each until they are opened", () =>
  expectGolden("transcript", { events, keys: [CTRL_O, KEYS.up, KEYS.up, KEYS.enter] }));

test("a search finds the nearest match above", () =>
  expectGolden("transcript-search", { events, keys: [CTRL_O, "/", ..."output 1", KEYS.enter, KEYS.enter] }));

test("from the first row on, pages of the log are read until its beginning", async () => {
  pages.length = 0;
  const messages = [{ type: "event", event: sceneEvent(2401, "TurnStarted", turnOf(401)[0]?.[1]), agoMs: 0 }] as const;
  await expectGolden("transcript-first", {
    messages,
    parts: { session },
    keys: [CTRL_O, HOME, ...Array<string>(8).fill("")],
  });
  expect(pages.slice(0, 5)).toEqual([1900, 1400, 900, 400, 0]);
});

test("a turn that is on two pages is folded whole, and each block once", () => {
  let earlier = { blocks: [], open: [], before: 2401 } as Parameters<typeof withEarlier>[0];
  for (let end = 2400; end > 0; end -= 500) {
    earlier = withEarlier(earlier, "sess_01GOLDEN" as never, log.slice(Math.max(0, end - 500), end));
  }
  expect(earlier).toMatchObject({ before: 1, open: [] });
  const inputs = earlier.blocks.flatMap((block) => (block.kind === "input" ? [block.text] : []));
  expect(inputs).toEqual(Array.from({ length: 400 }, (_, at) => `question ${at + 1}`));
  expect(earlier.blocks.filter((block) => block.kind === "call" && block.ended?.outcome !== "ok")).toEqual([]);
});

test("the end of the list is reached with one key and stays in sight", () =>
  expectGolden("transcript-last", { events: [...events, ...turnOf(3)], keys: [CTRL_O, HOME, END] }));

test("a log of blocks shares what it holds, drops the oldest, and keeps what is not printed", () => {
  const one = appended(emptyLog<number>(), [1, 2], 0);
  const [left, right] = [appended(one, [3], 0), appended(one, [4], 0)];
  expect([entriesFrom(left, 0), entriesFrom(right, 0), entriesFrom(one, 1)]).toEqual([[1, 2, 3], [1, 2, 4], [2]]);
  const many = Array.from({ length: 40_000 }, (_, at) => at);
  expect(appended(emptyLog<number>(), many, 0).from).toBe(0);
  const dropped = appended(emptyLog<number>(), many, 40_000);
  expect([dropped.from, dropped.to, entriesFrom(dropped, 0)[0]]).toEqual([20_000, 40_000, 20_000]);
});
