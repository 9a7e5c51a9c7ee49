/** The terminal of the process: what is written to one that is slow or takes nothing, and how it is given back. */
import { EventEmitter } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";
import { createPainter } from "./painter.ts";
import { createProcessScreen } from "./screen-port.ts";

/** A terminal that takes what is written when it is told to. */
function slowProcess() {
  const got: string[] = [];
  let isSlow = false;
  let take = (): void => undefined;
  const stdout = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      got.push(chunk);
      if (isSlow) take = done;
      else done();
    },
  });
  const blocking: boolean[] = [];
  const handle = { setBlocking: (isOn: boolean) => blocking.push(isOn) };
  const process = Object.assign(new EventEmitter(), {
    stdin: Object.assign(new PassThrough(), { setRawMode: () => undefined }),
    stdout: Object.assign(stdout, { columns: 40, rows: 10, fd: -1, _handle: handle }),
    kill: () => true,
  }) as unknown as Parameters<typeof createProcessScreen>[0]; // what the screen uses of it
  return {
    screen: createProcessScreen(process),
    got,
    blocking,
    slow() {
      isSlow = true;
    },
    fast() {
      isSlow = false;
      take();
    },
  };
}

const noKeys = { bytes: () => undefined, resize: () => undefined, resumed: () => undefined };

test("a terminal that is behind gets no frame in between, and the newest one when it has caught up", () => {
  const { screen, got, slow, fast } = slowProcess();
  let row = 0;
  const painter = createPainter({
    screen,
    clock: { now: () => 0, monotonicMs: () => 0, uptimeMs: () => 0, sleep: () => new Promise(() => undefined) },
    signal: new AbortController().signal,
    widthOf: (text) => text.length,
    frame: () => ({ settled: [], region: { rows: [`frame ${row}`] } }),
  });
  painter.now();
  slow();
  for (row = 1; row < 1_000; row++) painter.now();
  row -= 1;
  expect(got).toHaveLength(2);
  fast();
  expect(got).toHaveLength(3);
  expect(got[2]).toContain("999");
});

test("writing does not stop the program while it has the terminal, and what comes after it finds it as it was", () => {
  const { screen, got, blocking } = slowProcess();
  const restore = screen.begin(noKeys);
  expect(blocking).toEqual([false]);
  const resume = screen.pause();
  expect(blocking).toEqual([false, true]);
  resume();
  restore();
  expect(blocking).toEqual([false, true, false, true]);
  expect(got.at(-1)).toContain("\u001b[?2004l");
});

test("a frame that waits when the terminal is given back does not stop the program, whose writing is as it was once it is written", () => {
  const { screen, blocking, slow, fast } = slowProcess();
  const restore = screen.begin(noKeys);
  slow();
  screen.write("a frame");
  restore();
  expect(blocking).toEqual([false]);
  fast();
  return expect.poll(() => blocking).toEqual([false, true]);
});

test("the mouse is the program's on the alternate screen only, and given back with it", () => {
  const { screen, got } = slowProcess();
  const restore = screen.begin(noKeys);
  expect(got.join("")).not.toMatch(/\?100[0-9]h/);
  screen.useFull(true);
  expect(got.at(-1)).toContain("\u001b[?1000h\u001b[?1006h");
  screen.useFull(false);
  expect(got.at(-1)).toContain("\u001b[?1006l\u001b[?1000l");
  screen.useFull(true);
  got.length = 0;
  restore();
  expect(got.join("")).toContain("\u001b[?1000l");
});
