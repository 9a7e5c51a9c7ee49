import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { sceneEvent } from "../../test/fakes/golden-screens.ts";
import { blockRows } from "./block-rows.ts";
import { withLooks, withWork } from "./delegate-work.ts";
import { withEvent } from "./fold.ts";
import { themes } from "./theme.ts";
import { emptyTranscript, type Transcript } from "./transcript.ts";
import { widgets } from "./widgets.ts";

const started = { turn: "turn_1", call_id: "call_1", session: "sess_2", agent: "scout", task: "look", depth: 1 };

function running(mode: "sync" | "async"): Transcript {
  const begin = emptyTranscript(sceneEvent(1, "TurnStarted", {}).session, "m");
  return withEvent(begin, sceneEvent(2, "DelegationStarted", { ...started, mode }), 1_000);
}

function rows({ blocks }: Transcript): string[] {
  const style = { columns: 60, theme: themes.none, widgets, nowMs: 3_000 };
  return blocks.flatMap((block) => blockRows(block, style)).map((row) => stripVTControlCharacters(row));
}

test("the log of a delegate is read once a second from where it was read to, one read at a time", () => {
  const first = withLooks(running("sync"), 1_900);
  expect(first.effects).toEqual([]);
  const looks = withLooks(first.transcript, 2_000);
  expect(looks.effects).toEqual([{ type: "load", name: "delegate-work", argument: "sess_2/0" }]);
  expect(withLooks(looks.transcript, 9_000).effects).toEqual([]);
  const call = { name: "exec", label: "Bash", args: { command: "grep \u001b[2J" } };
  const value = { seen: 7, calls: 2, call: { ...started, step: 1, block: 0, ...call } };
  const loaded = { type: "loaded", name: "delegate-work", argument: "sess_2/0", value };
  const after = withWork(looks.transcript, loaded as never);
  expect(rows(after)).toEqual([
    expect.stringMatching(/^ {2}\S scout look +2 calls · 2\.0 s$/),
    "    │ Bash grep ⟨U+001B⟩[2J",
  ]);
  expect(withLooks(after, 3_000).effects).toMatchObject([{ argument: "sess_2/7" }]);
});

test("a log that cannot be read is not asked for again, and the row says why", () => {
  const looks = withLooks(running("sync"), 2_000);
  const refused = { type: "not-loaded", name: "delegate-work", argument: "sess_2/0", text: "no such session" } as const;
  const after = withWork(looks.transcript, refused);
  expect(rows(after)[1]).toContain("no such session");
  expect(withLooks(after, 9_000).effects).toEqual([]);
});

test("the result of a call of a delegate does not say that the turn waits for its model", () => {
  const before = running("sync");
  const result = { turn: "turn_9", call_id: "call_9", content: [], outcome: "ok", is_error: false, duration_ms: 1 };
  const event = { ...sceneEvent(3, "ToolResult", result), session: "sess_2" };
  expect(withEvent(before, event as never, 2_000).doing).toBe(before.doing);
});

test("one that works in the background is left alone, and one that has ended is one row", () => {
  expect(withLooks(running("async"), 9_000).effects).toEqual([]);
  const looks = withLooks(running("sync"), 2_000);
  const ended = { ...started, mode: "sync", status: "ok", steps: 1, tool_calls: 1, duration_ms: 10 };
  const after = withEvent(looks.transcript, sceneEvent(9, "DelegationEnded", ended), 2_500);
  expect(rows(after)).toHaveLength(1);
  expect(withLooks(after, 9_000).effects).toEqual([]);
});
