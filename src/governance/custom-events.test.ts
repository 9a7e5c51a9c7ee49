/** What scripts emit, with hooks of the test's own that emit in turn. */
import { setImmediate as soon } from "node:timers/promises";
import { expect, test } from "vitest";
import type { HookPoint } from "#engine";
import { SessionId, TurnId } from "#protocol";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createCustomEvents, MAX_EMIT_DEPTH, MAX_EVENTS_PER_TURN, MAX_WAITING_EVENTS } from "./custom-events.ts";

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const at = { session: SessionId.from(ULID), turn: TurnId.from(ULID), depth: 0, nesting: 0 };

function createRig(answer: (rig: { emit(event: string): void }, point: HookPoint) => void | Promise<void>) {
  const published: string[] = [];
  const told: string[] = [];
  let asked = 0;
  const clock = createManualClock();
  const events = createCustomEvents({
    bus: () => ({
      async publishSoon(kind, payload) {
        if (kind === "CustomEvent") published.push((payload as { kind: string }).kind);
        else told.push((payload as { message: string }).message);
      },
    }),
    hooks: () => ({
      idle: () => false,
      async dispatch(_event, payload, point) {
        asked += 1;
        await answer({ emit }, point);
        return { blocked: false, payload, attributes: {} };
      },
    }),
    clock,
  });
  const emit = (event: string): void => events.emit(event, null, at);
  return { events, emit, clock, published, told, asked: () => asked };
}

/** Until nothing more is asked. */
async function quiet(asked: () => number): Promise<void> {
  for (let before = -1; before !== asked(); ) {
    before = asked();
    for (let round = 0; round < 5; round += 1) await soon();
  }
}

test("a hook that emits its own event ends at the depth, and it is told", async () => {
  const rig = createRig(({ emit }) => emit("custom.a"));
  rig.emit("custom.a");
  await quiet(rig.asked);
  expect(rig.asked()).toBe(MAX_EMIT_DEPTH);
  expect(rig.published).toHaveLength(MAX_EMIT_DEPTH + 1);
  expect(rig.told).toEqual([`custom.a was emitted ${MAX_EMIT_DEPTH} hooks deep: its hooks do not run`]);
  await rig.events.close();
});

test("hooks that emit two each end with the events of a turn", async () => {
  const rig = createRig(({ emit }) => {
    for (let index = 0; index < 4; index += 1) emit("custom.a");
  });
  rig.emit("custom.a");
  await quiet(rig.asked);
  expect(rig.published).toHaveLength(MAX_EVENTS_PER_TURN);
  expect(rig.told.filter((line) => line.includes("in one turn"))).toHaveLength(1);
  await rig.events.close();
});

test("more than may wait are recorded, told and not asked about; nothing throws", async () => {
  const rig = createRig(() => undefined);
  for (let index = 0; index < MAX_WAITING_EVENTS + 2; index += 1) rig.emit("custom.a");
  await quiet(rig.asked);
  expect([rig.asked(), rig.published.length, rig.told.length]).toEqual([MAX_WAITING_EVENTS, MAX_WAITING_EVENTS + 2, 2]);
  rig.emit("custom.a");
  await quiet(rig.asked);
  expect(rig.asked()).toBe(MAX_WAITING_EVENTS + 1);
});

test("hooks that cannot be asked are told", async () => {
  const rig = createRig(() => Promise.reject(new Error("the disk is full")));
  rig.emit("custom.a");
  await quiet(rig.asked);
  expect(rig.told).toEqual(["the hooks of custom.a could not run: the disk is full"]);
});

test("the end waits for those that are asked, then takes their signal away and asks no more", async () => {
  let signal: AbortSignal | undefined;
  const rig = createRig((_rig, point) => {
    signal = point.signal;
    return new Promise(() => undefined);
  });
  rig.emit("custom.a");
  await quiet(rig.asked);
  const closed = rig.events.close();
  await soon();
  expect(signal?.aborted).toBe(false);
  await rig.clock.advance(10_000);
  await closed;
  expect(signal?.aborted).toBe(true);
  rig.emit("custom.b");
  await quiet(rig.asked);
  expect(rig.asked()).toBe(1);
  expect(rig.told).toEqual(["the session is ending: the hooks of custom.b do not run"]);
});
