import { expect, test } from "vitest";
import { createTurnstile, type Due } from "./turnstile.ts";

/** What arrives, at its time; then time may pass until `endMs`. */
function playing(arrivals: Required<Due>[], endMs = 1_000_000) {
  const idle: (number | undefined)[] = [];
  const turnstile = createTurnstile({
    startMs: 5000,
    next: () => {
      const [first] = arrivals;
      if (first === undefined) return { at: endMs };
      const deliver = (): void => {
        arrivals.shift();
        first.deliver();
      };
      return { at: first.at, deliver };
    },
    onIdle: (wakeAtMs) => void idle.push(wakeAtMs),
  });
  return { turnstile, idle };
}

/** Turns of the event loop, more than any of these tests needs. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("time stands still between arrivals, and sleepers wake in the order of their deadlines before what comes later", async () => {
  const seen: string[] = [];
  const { turnstile } = playing([
    { at: 10, deliver: () => void seen.push(`first ${turnstile.clock.now()}`) },
    { at: 30, deliver: () => void seen.push(`second ${turnstile.clock.now()}`) },
  ]);
  const { clock } = turnstile;
  void clock.sleep(25).then(() => seen.push(`25 ${clock.monotonicMs()}`));
  void clock.sleep(5).then(async () => {
    seen.push(`5 ${clock.monotonicMs()}`);
    await clock.sleep(2);
    seen.push(`7 ${clock.monotonicMs()}`);
  });
  void clock.sleep(40).then(() => seen.push(`40 ${clock.monotonicMs()}`));
  await settled();
  expect(seen).toEqual(["5 5", "7 7", "first 5010", "25 25", "second 5030", "40 40"]);
});

test("an aborted sleep ends at once, and nobody is woken for it", async () => {
  const { turnstile, idle } = playing([], 10);
  const stop = new AbortController();
  const slept = turnstile.clock.sleep(1000, stop.signal);
  await settled();
  stop.abort();
  await slept;
  expect(turnstile.nowMs).toBe(0);
  turnstile.wake();
  await settled();
  expect(idle).toEqual([1000, undefined]);
});

test("results of our own are let in as they were begun, ahead of what arrives, whichever is ready first", async () => {
  const seen: string[] = [];
  const { turnstile } = playing([{ at: 1, deliver: () => void seen.push("arrival") }]);
  const slow = Promise.withResolvers<void>();
  const fast = Promise.withResolvers<void>();
  void turnstile.inside(() => slow.promise).then(() => seen.push("slow"));
  void turnstile.inside(() => fast.promise).then(() => seen.push("fast"));
  fast.resolve();
  await settled();
  expect(seen).toEqual([]);
  slow.resolve();
  await settled();
  expect(seen).toEqual(["slow", "fast", "arrival"]);
});

test("a failure of our own reaches whoever began it", async () => {
  const { turnstile } = playing([]);
  await expect(turnstile.inside(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
});

test("an open turnstile holds nobody back", async () => {
  const { turnstile } = playing([], 0);
  const slept = turnstile.clock.sleep(86_400_000);
  turnstile.open();
  await slept;
  expect(turnstile.nowMs).toBe(86_400_000);
});
