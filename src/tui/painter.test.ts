import { expect, test } from "vitest";
import { createPainter } from "./painter.ts";

test("keys between events do not make frames come faster than thirty times a second", async () => {
  const sleepers: (() => void)[] = [];
  let frames = 0;
  const size = { columns: 20, rows: 5 };
  const screen = { size: () => size, write: () => true, onDrain: () => undefined, useFull: () => undefined };
  const painter = createPainter({
    screen: { ...screen, begin: () => () => undefined, suspend: () => undefined, pause: () => () => undefined },
    clock: {
      now: () => 0,
      monotonicMs: () => 0,
      uptimeMs: () => 0,
      sleep: () => new Promise((over) => sleepers.push(over)),
    },
    signal: new AbortController().signal,
    widthOf: (row) => row.length,
    frame: () => ({ settled: [], region: { rows: [String(++frames)] } }),
  });
  for (let key = 0; key < 5; key++) {
    painter.soon();
    painter.now();
    painter.soon();
  }
  expect([frames, sleepers.length]).toEqual([5, 1]);
  sleepers[0]?.();
  await Promise.resolve();
  await Promise.resolve();
  expect(frames).toBe(6);
});
