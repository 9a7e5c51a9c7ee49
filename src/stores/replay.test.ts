import { expect, it } from "vitest";
import type { SessionStore } from "#engine";
import { callDrafts, sessionStarted, turnDrafts, turnId } from "../../test/fakes/session-drafts.ts";
import { append, NOW, newSession, sessionId, textDraft } from "../../test/store-suite.ts";
import { createMemoryStore } from "./memory-store.ts";
import { createReplay, type ReplayFrame } from "./replay.ts";

/** SessionStarted, a turn from 2 to 11, a turn from 12 to 15. */
async function rig() {
  const store = createMemoryStore();
  await store.create(newSession(1));
  const drafts = [
    sessionStarted(),
    ...turnDrafts(1, "first", "one answer", callDrafts(1, {}, "out")),
    ...turnDrafts(2, "second", "two answers"),
  ];
  await append(store, sessionId(1), drafts, NOW);
  return { store, replay: createReplay(store, sessionId(1)) };
}

const at = (frame: ReplayFrame | undefined) => frame && [frame.event.id, frame.turn, frame.event.kind];

it("walks forwards and backwards and stops at both ends", async () => {
  const { replay } = await rig();
  expect([replay.position, await replay.current(), await replay.previous()]).toEqual([0, undefined, undefined]);
  expect(at(await replay.next())).toEqual([1, 0, "SessionStarted"]);
  expect(at(await replay.next())).toEqual([2, 1, "TurnStarted"]);
  expect(at(await replay.previous())).toEqual([1, 0, "SessionStarted"]);
  expect([await replay.previous(), replay.position]).toEqual([undefined, 1]);
  expect(at(await replay.seek({ event: 15 }))).toEqual([15, 2, "TurnEnded"]);
  expect([await replay.next(), replay.position]).toEqual([undefined, 15]);
  expect(at(await replay.current())).toEqual([15, 2, "TurnEnded"]);
});

it("finds turns and steps, and stays where it is when there is none", async () => {
  const { replay } = await rig();
  expect(at(await replay.seek({ turn: 2 }))).toEqual([12, 2, "TurnStarted"]);
  expect(at(await replay.seek({ turn: 1, step: 1 }))).toEqual([3, 1, "ToolCallStarted"]);
  expect(at(await replay.seek({ turn: 1, step: 2 }))).toEqual([9, 1, "TextDelta"]);
  for (const target of [
    { turn: 3 },
    { turn: 0 },
    { turn: 2, step: 1 },
    { event: 99 },
    { event: 0.5 },
    { turn: Number.NaN },
  ]) {
    expect(await replay.seek(target)).toBeUndefined();
  }
  expect(replay.position).toBe(9);
  expect(await replay.turns()).toEqual([
    { number: 1, id: turnId(1), event: 2 },
    { number: 2, id: turnId(2), event: 12 },
  ]);
});

it("sees what is appended while it is open", async () => {
  const { store, replay } = await rig();
  await replay.seek({ event: 15 });
  await append(store, sessionId(1), turnDrafts(3, "third", "three answers"), NOW);
  expect(at(await replay.next())).toEqual([16, 3, "TurnStarted"]);
});

it("holds a few pages only, and asks for no more than a page", async () => {
  const store = createMemoryStore();
  await store.create(newSession(1));
  await append(
    store,
    sessionId(1),
    Array.from({ length: 3000 }, (_, index) => textDraft(`${index}`)),
    NOW,
  );
  const asked: number[] = [];
  const counting: Pick<SessionStore, "read"> = {
    read(id, options) {
      asked.push(options.limit);
      return store.read(id, options);
    },
  };
  const replay = createReplay(counting, sessionId(1));
  for (let id = 1; id <= 3000; id++) expect((await replay.next())?.event.id).toBe(id);
  const forwards = asked.length;
  for (let id = 2999; id >= 1; id--) expect((await replay.previous())?.event.id).toBe(id);
  expect(Math.max(...asked)).toBe(256);
  expect(forwards).toBe(24);
  expect(asked.length - forwards).toBe(8);
});
