/** Events once and in order, whatever the connections do: a transport that plays what it is told, and a clock that stands still. */

import { describe, expect, test } from "vitest";
import { defined } from "#base";
import { type Event, ReasonError, SessionId } from "#protocol";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { followEvents } from "./follow.ts";
import { connectionLost, unreachable } from "./refusal.ts";
import { DEFAULT_RECONNECT } from "./retry.ts";

const session = SessionId.from("0".repeat(26));
const other = SessionId.from("1".repeat(26));

function event(id: number, kind = "CustomEvent", payload: object = {}): Event {
  return { id, kind, session, ts: "2026-01-01T00:00:00.000Z", payload } as Event;
}

const gap = (from: number, to: number, reason = "overflow"): Event => event(to, "StreamGap", { from, to, reason });
const cut = connectionLost("here", "cut");

/** One entry for each connection: what comes on it. An error ends it. */
type Connection = (Event | Error)[];

function rig(
  connections: Connection[],
  options: {
    since?: number;
    attempts?: number;
    after?: Event[];
    holdsMs?: number;
    beforeRetry?: () => Promise<void>;
  } = {},
) {
  const clock = createManualClock();
  const asked: number[] = [];
  const states: string[] = [];
  const aborter = new AbortController();
  const following = followEvents({
    session,
    clock,
    random: { bytes: (count) => new Uint8Array(count) },
    since: options.since ?? 0,
    signal: aborter.signal,
    reconnect: {
      ...DEFAULT_RECONNECT,
      ...defined({ attempts: options.attempts, beforeRetry: options.beforeRetry }),
    },
    onConnection: (state) => states.push(state),
    transport: {
      address: "here",
      tokenMayChange: false,
      log: async () => options.after ?? [],
      async *events(_id, since, signal, onOpen) {
        asked.push(since);
        const connection = connections.shift();
        if (connection === undefined) {
          // The last one stays open and silent.
          onOpen();
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          return;
        }
        if (!(connection[0] instanceof ReasonError && connection[0].reason === "ServerUnreachable")) onOpen();
        for (const one of connection) {
          if (one instanceof Error) throw one;
          yield one;
        }
        if (options.holdsMs !== undefined) await clock.sleep(options.holdsMs, signal);
      },
    },
  });
  const seen: Event[] = [];
  const done = (async () => {
    for await (const one of following) seen.push(one);
  })();
  done.catch(() => undefined);
  return { asked, seen, done, states, clock, aborter, ids: () => seen.map(({ id }) => id) };
}

async function settled({ clock }: Pick<ReturnType<typeof rig>, "clock">): Promise<void> {
  for (let n = 0; n < 60; n++) await clock.advance(2000);
}

describe("following a session", () => {
  test("goes on after a cut from the last event, and drops what comes twice", async () => {
    const run = rig([[event(1), event(2), cut], [event(2), event(3)], [event(4)]]);
    await settled(run);
    expect(run.ids()).toEqual([1, 2, 3, 4]);
    expect(run.asked).toEqual([0, 2, 3, 4]);
    expect(run.states).toEqual(["lost", "connected", "lost", "connected", "lost", "connected"]);
  });

  test("asks again for what a gap or a hole has left out, at once", async () => {
    const run = rig([
      [event(1), gap(2, 5), event(6)],
      [event(2), event(3), event(5)],
      [event(4), event(5), event(6)],
    ]);
    await run.clock.advance(0);
    expect(run.ids()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(run.asked).toEqual([0, 1, 3]);
  });

  test("tells of a hole that is in the log itself, once, and goes on", async () => {
    const run = rig([
      [event(1), event(4)],
      [event(4), event(5)],
    ]);
    await run.clock.advance(0);
    expect(run.seen.map(({ id, kind }) => [id, kind])).toEqual([
      [1, "CustomEvent"],
      [3, "StreamGap"],
      [4, "CustomEvent"],
      [5, "CustomEvent"],
    ]);
    expect(run.seen[1]?.payload).toEqual({ from: 2, to: 3, reason: "ttl" });
  });

  test("waits for whoever brings the server back before each further try, and ends with what they reject with", async () => {
    const gone = unreachable("here", "gone");
    const asked: number[] = [];
    const run: ReturnType<typeof rig> = rig([[event(1), cut], [gone], [event(2), cut]], {
      async beforeRetry() {
        asked.push(run.asked.length);
        if (asked.length === 3) throw new ReasonError("DaemonFailed", { detail: "no disk" });
      },
    });
    await settled(run);
    expect(run.ids()).toEqual([1, 2]);
    expect(asked).toEqual([1, 2, 3]);
    await expect(run.done).rejects.toMatchObject({ reason: "DaemonFailed" });
  });

  test("passes on what the server says is gone for good", async () => {
    const run = rig([[event(1), gap(2, 7, "ttl"), event(8)]]);
    await run.clock.advance(0);
    expect(run.ids()).toEqual([1, 7, 8]);
    expect(run.asked).toEqual([0]);
  });

  test("passes kinds and fields that it does not know, and questions of delegates", async () => {
    const later = { ...event(1, "Foreseen", { x_new: { deep: [1] } }), x_extra: true } as unknown as Event;
    const question = { ...event(77, "QuestionAsked"), session: other };
    const run = rig([[later, question, event(2)]]);
    await run.clock.advance(0);
    expect(run.seen).toEqual([later, question, event(2)]);
  });

  test("passes what is about the stream and in no log, whatever its id", async () => {
    const notice = event(1, "TokenExpiring");
    const run = rig([[event(1), notice, event(2), event(2, "TokenRequested"), event(3)]]);
    await run.clock.advance(0);
    expect(run.seen.map(({ id, kind }) => `${id} ${kind}`)).toEqual([
      "1 CustomEvent",
      "1 TokenExpiring",
      "2 CustomEvent",
      "2 TokenRequested",
      "3 CustomEvent",
    ]);
    expect(run.asked).toEqual([0]);
  });

  test("ends with the session, but not with an end that the log goes on after, nor with the program's", async () => {
    const ended = (id: number, reason: string): Event => event(id, "SessionEnded", { reason });
    const over = rig([[event(1), ended(2, "user")]]);
    await over.done;
    expect(over.ids()).toEqual([1, 2]);
    const resumed = rig([[ended(1, "user"), event(2)]], { after: [event(2)] });
    await resumed.clock.advance(0);
    expect(resumed.ids()).toEqual([1, 2]);
    const restarted = rig([[ended(1, "binary-shutdown")], [event(2)]]);
    await settled(restarted);
    expect(restarted.ids()).toEqual([1, 2]);
  });

  test("waits longer and longer, up to a bound, and gives up with the last error", async () => {
    const down = unreachable("here", "nobody");
    const run = rig(
      Array.from({ length: 20 }, () => [down]),
      { attempts: 8 },
    );
    const triedAtMs: number[] = [];
    for (let tries = 0; run.clock.monotonicMs() < 10_000; await run.clock.advance(50)) {
      if (run.asked.length > tries) triedAtMs.push(run.clock.monotonicMs());
      tries = run.asked.length;
    }
    await expect(run.done).rejects.toBe(down);
    expect(triedAtMs.slice(1).map((ms, index) => ms - (triedAtMs[index] ?? 0))).toEqual([
      50, 100, 200, 400, 800, 1600, 2000, 2000,
    ]);
  });

  test("throws what the server refuses with, and ends quietly when it is told to", async () => {
    const refused = new ReasonError("SessionNotFound", { session });
    await expect(rig([[refused]]).done).rejects.toBe(refused);
    const run = rig([[event(1)]]);
    await settled(run);
    run.aborter.abort();
    await run.done;
    expect(run.ids()).toEqual([1]);
  });

  test("a connection that held for a while counts as one, also when nothing came on it", async () => {
    const held = Array.from({ length: 5 }, (): Connection => []);
    const short = rig(held.slice(), { attempts: 2 });
    await settled(short);
    await expect(short.done).rejects.toMatchObject({ reason: "ConnectionLost" });
    const long = rig(held, { attempts: 2, holdsMs: DEFAULT_RECONNECT.maxDelayMs });
    await settled(long);
    expect(long.asked).toHaveLength(6);
    long.aborter.abort();
    await long.done;
  });
});
