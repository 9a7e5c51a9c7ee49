/** What keeps a daemon and its sessions, and when they end; time is moved by hand. */
import { expect, test } from "vitest";
import type { OpenSessionState } from "#control";
import { SessionId } from "#protocol";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { watchIdleness } from "./idle.ts";

const MINUTE_MS = 60_000;
const id = SessionId.from("0".repeat(26));
const idleWork = { mode: "ask", todos: [], jobs: 0, keptJobs: 0 } as const;
const idle: OpenSessionState = { id, activity: "idle", model: "m", attached: 0, queued: 0, ...idleWork };

function watched({ background = true, pinned = false as boolean | "unknown" } = {}) {
  const clock = createManualClock();
  const state = {
    open: [] as OpenSessionState[],
    streams: 0,
    askedMs: 0,
    ended: 0,
    retired: [] as SessionId[],
    failures: [] as unknown[],
  };
  const stop = watchIdleness({
    clock,
    control: {
      sessions: () => state.open,
      async retire(session) {
        state.retired.push(session);
        state.open = state.open.filter((one) => one.id !== session);
        return true;
      },
    },
    streams: () => state.streams,
    lastAskedMs: () => state.askedMs,
    isAwaited: () => false,
    isPinned: async () => {
      if (pinned === "unknown") throw new Error("the store does not answer");
      return pinned;
    },
    sessionIdleMs: 10 * MINUTE_MS,
    ...(background ? { daemonIdleMs: 30 * MINUTE_MS } : {}),
    onIdle: () => {
      state.ended += 1;
    },
    onFailure: (failure) => void state.failures.push(failure),
  });
  return { clock, state, stop };
}

test("a background command that a person has kept keeps its session", async () => {
  const { clock, state } = watched();
  state.open = [{ ...idle, jobs: 1, keptJobs: 1 }];
  await clock.advance(60 * MINUTE_MS);
  expect([state.retired, state.ended]).toEqual([[], 0]);
  state.open = [{ ...idle, jobs: 1 }];
  await clock.advance(12 * MINUTE_MS);
  expect(state.retired).toEqual([id]);
});

test("ends once, after its time, and watches no longer", async () => {
  const { clock, state } = watched();
  await clock.advance(29 * MINUTE_MS);
  expect(state.ended).toBe(0);
  await clock.advance(2 * MINUTE_MS);
  expect(state.ended).toBe(1);
  await clock.advance(100 * MINUTE_MS);
  expect(state.ended).toBe(1);
  expect(clock.sleeping).toBe(0);
});

test.each([25 * 60 * MINUTE_MS, -60 * MINUTE_MS])(
  "a step of the wall clock by %i ms neither hurries nor stops it",
  async (ms) => {
    const { clock, state } = watched();
    state.open = [idle];
    await clock.advance(5 * MINUTE_MS);
    clock.stepWall(ms);
    await clock.advance(4 * MINUTE_MS);
    expect([state.retired, state.ended]).toEqual([[], 0]);
    await clock.advance(3 * MINUTE_MS);
    expect([state.retired, state.ended]).toEqual([[id], 0]);
    await clock.advance(30 * MINUTE_MS);
    expect(state.ended).toBe(1);
  },
);

test("in the foreground it stays, and its sessions end all the same", async () => {
  const { clock, state, stop } = watched({ background: false });
  state.open = [idle];
  await clock.advance(500 * MINUTE_MS);
  expect(state).toMatchObject({ ended: 0, retired: [id] });
  stop();
  await clock.advance(MINUTE_MS);
  expect(clock.sleeping).toBe(0);
});

test.each<[string, Partial<OpenSessionState>]>([
  ["a turn", { activity: "running" }],
  ["a question", { activity: "waiting" }],
  ["an input that waits", { queued: 1 }],
  ["a client", { attached: 1 }],
])("%s keeps both, and the time begins when it is over", async (_what, busy) => {
  const { clock, state } = watched();
  state.open = [{ ...idle, ...busy }];
  await clock.advance(500 * MINUTE_MS);
  expect(state).toMatchObject({ ended: 0, retired: [] });
  state.open = [idle];
  await clock.advance(9 * MINUTE_MS);
  expect(state.retired).toEqual([]);
  await clock.advance(3 * MINUTE_MS);
  expect(state).toMatchObject({ retired: [id], ended: 0 });
  await clock.advance(30 * MINUTE_MS);
  expect(state.ended).toBe(1);
});

test("an open stream and a request keep the daemon", async () => {
  const { clock, state } = watched();
  state.streams = 1;
  await clock.advance(100 * MINUTE_MS);
  expect(state.ended).toBe(0);
  state.streams = 0;
  await clock.advance(20 * MINUTE_MS);
  state.askedMs = clock.monotonicMs();
  await clock.advance(20 * MINUTE_MS);
  expect(state.ended).toBe(0);
  await clock.advance(20 * MINUTE_MS);
  expect(state.ended).toBe(1);
});

test("a pinned session stays, and the daemon with it", async () => {
  const { clock, state } = watched({ pinned: true });
  state.open = [idle];
  await clock.advance(500 * MINUTE_MS);
  expect(state).toMatchObject({ ended: 0, retired: [] });
});

test("a store that does not answer ends nothing, and is told", async () => {
  const { clock, state } = watched({ pinned: "unknown" });
  state.open = [idle];
  await clock.advance(500 * MINUTE_MS);
  expect(state).toMatchObject({ ended: 0, retired: [] });
  expect(state.failures.length).toBeGreaterThan(100);
});
