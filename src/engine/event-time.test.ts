import { expect, test } from "vitest";
import { defined } from "#base";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { noRedaction } from "../../test/fakes/no-redaction.ts";
import { turnId } from "../../test/fakes/session-drafts.ts";
import { sessionId } from "../../test/fakes/token-claims.ts";
import { createEventBus } from "./bus.ts";
import { nextTs } from "./event-time.ts";
import type { EventDraft } from "./store.ts";

const HOUR_MS = 60 * 60 * 1000;

function rig(lastTs?: string) {
  const clock = createManualClock();
  const written: EventDraft[] = [];
  const appendedAt: string[] = [];
  const bus = createEventBus({
    session: sessionId(1),
    log: {
      ...defined({ lastTs }),
      async append(drafts, now) {
        written.push(...drafts);
        appendedAt.push(now);
        return written.length - drafts.length + 1;
      },
    },
    clock,
    redaction: noRedaction,
  });
  const publish = (kind: string) => bus.publish("CustomEvent", { namespace: "test", kind, payload: {} });
  return { clock, written, appendedAt, publish };
}

test("events keep the order of their times when the clock is set back, and follow it again once it has caught up", async () => {
  const { clock, written, appendedAt, publish } = rig();
  await publish("a");
  await clock.advance(1000);
  await publish("b");
  clock.stepWall(-HOUR_MS);
  await publish("c");
  await clock.advance(HOUR_MS + 1);
  await publish("d");
  const startMs = clock.now() - HOUR_MS - 1;
  const times = written.map(({ ts }) => Date.parse(ts) - startMs - HOUR_MS);
  expect(times).toEqual([-1000, 0, 0, 1]);
  expect(appendedAt.toSorted()).toEqual(appendedAt);
});

test("the first event after a resume is not before the last one of the log", async () => {
  const { clock, written, publish } = rig("2026-01-01T05:00:00.000Z");
  await publish("a");
  await clock.advance(6 * HOUR_MS);
  await publish("b");
  expect(written.map(({ ts }) => ts)).toEqual(["2026-01-01T05:00:00.000Z", "2026-01-01T06:00:00.000Z"]);
});

test("a time that cannot be read holds nothing back", () => {
  expect(nextTs("yesterday", 0)).toBe("1970-01-01T00:00:00.000Z");
  expect(nextTs(undefined, 0)).toBe("1970-01-01T00:00:00.000Z");
});

test("a monotonic clock that gives no number starts no timer: the text is written at once", async () => {
  const waits: number[] = [];
  const bus = createEventBus({
    session: sessionId(1),
    log: { append: async () => 1 },
    clock: { ...createManualClock(), monotonicMs: () => Number.NaN },
    redaction: noRedaction,
    schedule: (_action, ms) => {
      waits.push(ms);
      return () => undefined;
    },
  });
  bus.publishDelta({ kind: "TextDelta", payload: { turn: turnId(1), step: 1, block: 0, text: "hello" } });
  await bus.flush();
  expect(waits.filter(Number.isNaN)).toEqual([]);
});
