/** The whole conversation on a screen of its own: rows open, a search, and pages of the log from before the interface was attached. */
import { expect, test } from "vitest";
import type { ClientSession, Event, SessionId } from "#client";
import { expectGolden, playScene, type Scene, sceneEvent } from "../../test/fakes/golden-screens.ts";
import { KEYS } from "../../test/fakes/screen-terminal.ts";
import { appended, emptyLog, entriesFrom } from "./block-log.ts";
import {
  blockAt,
  type Earlier,
  keptNear,
  missing,
  nothingEarlier,
  withEarlier,
  withLetGo,
  withReadAgain,
} from "./earlier.ts";
import type { Block } from "./transcript.ts";

const SESSION = "sess_01GOLDEN" as SessionId;
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

/** Long enough for a part of it to be dropped. */
const output = [{ type: "text", text: "long ".repeat(2_000) }];
const longLog = log.map((event) =>
  event.kind === "ToolResult" ? { ...event, payload: { ...event.payload, content: output } } : event,
) as readonly Event[]; // with another text
/** Past what is kept of the end. */
const WAY_UP = Array<string>(600).fill(KEYS.up);

const events: Scene["events"] = [...turnOf(1), ...turnOf(2)];

test("calls and thoughts are one row each until they are opened; a call then says what the model was paid for it", () => {
  const usage = { input_tokens: 900, output_tokens: 40, cache_read_tokens: 0, cache_write_tokens: 0 };
  const cost = { turn: "turn_2", step: 1, provider: "p", model: "m", usage, cost_usd: 0.0021 };
  const paid = [...turnOf(1), ...turnOf(2).toSpliced(2, 0, ["CostIncremented", cost])] as const;
  return expectGolden("transcript", { events: paid, keys: [CTRL_O, KEYS.up, KEYS.up, KEYS.enter] });
});

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

test("from the beginning of a long log forth again, what was dropped is read again before it is in sight", async () => {
  pages.length = 0;
  const read: Partial<ClientSession> = {
    async *log({ after = 0 } = {}) {
      pages.push(after);
      yield* longLog.slice(after, after + 600);
    },
  };
  const event = sceneEvent(2401, "TurnStarted", turnOf(401)[0]?.[1]);
  const shown = await playScene({
    messages: [{ type: "event", event, agoMs: 0 }],
    session: read,
    keys: [CTRL_O, HOME, ...Array<string>(12).fill(""), END, ...WAY_UP],
  });
  expect(pages.length).toBeGreaterThan(6);
  expect(shown).toMatch(/question 28\d/);
  expect(shown).not.toMatch(/^\s*[▸ ]\s*…\s*$/m);
});

test("a turn that is on two pages is folded whole, and each block once", () => {
  const earlier = allRead();
  expect(earlier).toMatchObject({ before: 1, open: [] });
  const blocks = blocksOf(earlier);
  const inputs = blocks.flatMap((block) => (block?.kind === "input" ? [block.text] : []));
  expect(inputs).toEqual(Array.from({ length: 400 }, (_, at) => `question ${at + 1}`));
  expect(blocks.filter((block) => block?.kind === "call" && block.ended?.outcome !== "ok")).toEqual([]);
});

/** Pages of 500 events of the log, read backwards. */
function allRead(events = log): Earlier {
  let earlier = nothingEarlier(events.length + 1);
  for (let end = events.length; end > 0; end -= 500) {
    earlier = withEarlier(earlier, SESSION, events.slice(Math.max(0, end - 500), end));
  }
  return earlier;
}

function blocksOf(earlier: Earlier): readonly (Block | undefined)[] {
  return Array.from({ length: earlier.count }, (_, at) => blockAt(earlier, at));
}

test("what is far from the view is dropped, and is the same when it is read again", () => {
  const whole = allRead(longLog);
  const last = { first: whole.count - 40, last: whole.count - 1 };
  let earlier = keptNear(whole, [last]);
  const kept = blocksOf(earlier).filter((block) => block !== undefined);
  expect(kept.length).toBeLessThan(whole.count / 2);
  expect(missing(earlier, last)).toBe(undefined);
  expect(earlier.count).toBe(whole.count);
  const all = { first: 0, last: whole.count };
  for (let range = missing(earlier, all); range !== undefined; range = missing(earlier, all)) {
    const [from = 0, to = 0] = range.split(":").map(Number);
    const again = withReadAgain(earlier, SESSION, to, longLog.slice(from - 1, to - 1));
    expect(again.by).toBe(0);
    earlier = again.earlier;
  }
  expect(blocksOf(earlier)).toEqual(blocksOf(whole));
});

test("blocks that the interface lets go of are read from the log, also in pieces", () => {
  const events = Array.from({ length: 12_000 }, (_, at) => {
    const [kind, payload] = turnOf(1 + Math.floor(at / 6))[at % 6] ?? ["", {}];
    return sceneEvent(at + 1, kind, payload);
  });
  // One of them was said by the interface itself, and is not in the log.
  let earlier = withLetGo(nothingEarlier(1), 10_001, 12_001);
  const pieces: string[] = [];
  for (let range = missing(earlier, { first: 0, last: 99_999 }); range !== undefined; ) {
    pieces.push(range);
    const [from = 0, to = 0] = range.split(":").map(Number);
    ({ earlier } = withReadAgain(earlier, SESSION, to, events.slice(from - 1, to - 1)));
    range = missing(earlier, { first: 0, last: 99_999 });
  }
  expect(pieces[0]).toBe("7001:12001");
  const inputs = blocksOf(earlier).flatMap((block) => (block?.kind === "input" ? [block.text] : []));
  expect(inputs).toEqual(Array.from({ length: 2_000 }, (_, at) => `question ${at + 1}`));
});

test("the end of the list is reached with one key and stays in sight", () =>
  expectGolden("transcript-last", { events: [...events, ...turnOf(3)], keys: [CTRL_O, HOME, END] }));

test("a log of blocks shares what it holds, drops the oldest, and keeps what is not printed", () => {
  const limits = { sizeOf: () => 1, needed: 0 };
  const one = appended(emptyLog<number>(), [1, 2], limits);
  const [left, right] = [appended(one, [3], limits), appended(one, [4], limits)];
  expect([entriesFrom(left, 0), entriesFrom(right, 0), entriesFrom(one, 1)]).toEqual([[1, 2, 3], [1, 2, 4], [2]]);
  const many = Array.from({ length: 4_000 }, (_, at) => at);
  expect(appended(emptyLog<number>(), many, limits).from).toBe(0);
  const dropped = appended(emptyLog<number>(), many, { ...limits, needed: 4_000 });
  expect([dropped.from, dropped.to, entriesFrom(dropped, 0)[0], dropped.size]).toEqual([3_000, 4_000, 3_000, 1_000]);
  // By their size as well, and at last what is still needed too.
  const large = appended(emptyLog<number>(), many, { sizeOf: () => 10_000, needed: 4_000 });
  expect([large.from, large.size]).toEqual([3_900, 1_000_000]);
  const unprinted = appended(emptyLog<number>(), many, { sizeOf: () => 10_000, needed: 0 });
  expect([unprinted.from, unprinted.size]).toEqual([3_700, 3_000_000]);
  expect(appended(emptyLog<number>(), [1], { sizeOf: () => 99_000_000, needed: 0 }).from).toBe(0);
});
