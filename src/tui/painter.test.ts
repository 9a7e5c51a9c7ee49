import { expect, test } from "vitest";
import { createPainter, type Frame } from "./painter.ts";

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

test("the alternate screen is left empty when the terminal has another size by then", () => {
  const written: string[] = [];
  let size = { columns: 20, rows: 5 };
  let next: Frame = { full: { rows: ["a review"] } };
  const painter = createPainter({
    screen: {
      size: () => size,
      write: (bytes) => written.push(bytes) > 0,
      onDrain: () => undefined,
      useFull: (isOn) => void written.push(isOn ? "<full>" : "<main>"),
      begin: () => () => undefined,
      suspend: () => undefined,
      pause: () => () => undefined,
    },
    clock: { now: () => 0, monotonicMs: () => 0, uptimeMs: () => 0, sleep: () => new Promise(() => undefined) },
    signal: new AbortController().signal,
    widthOf: (row) => row.length,
    frame: () => next,
  });
  painter.now();
  size = { columns: 30, rows: 9 };
  painter.again();
  written.length = 0;
  next = { settled: [], region: { rows: ["the input"] } };
  painter.now();
  expect(written.slice(0, 2)).toEqual(["\u001b[0m\u001b[H\u001b[2J", "<main>"]);
  next = { full: { rows: ["a review"] } };
  painter.now();
  written.length = 0;
  next = { settled: [], region: { rows: ["the input"] } };
  painter.now();
  expect(written[0]).toBe("<main>");
});
