import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { type StartShell, startReaper } from "./process-reaper.ts";

test("a shell that never says that it waits is ended, and no command begins", async () => {
  const clock = createManualClock();
  let ended = (): void => undefined;
  let kills = 0;
  const start: StartShell = (_options, onEnd) => {
    ended = onEnd;
    return {
      pid: 1,
      stdout: new PassThrough(),
      errors: () => "",
      awaitAnswer: () => () => undefined,
      kill() {
        kills += 1;
        ended();
      },
    };
  };
  let ends = 0;
  const onEnd = (): void => {
    ends += 1;
  };
  const reaper = startReaper("MARK=1", start, onEnd, clock);
  const ready = expect(reaper.ready()).rejects.toMatchObject({
    reason: "SpawnFailed",
    message: expect.stringMatching(/if Harness were killed, its commands would keep running: \/bin\/sh did not answer/),
  });
  await clock.advance(10_000);
  await ready;
  expect({ kills, ends }).toEqual({ kills: 1, ends: 1 });
  expect(clock.sleeping).toBe(0);
});

test("one that waits costs no further time", async () => {
  const clock = createManualClock();
  const stdout = new PassThrough();
  const start: StartShell = () => ({
    pid: 1,
    stdout,
    errors: () => "",
    awaitAnswer: () => () => undefined,
    kill: () => undefined,
  });
  const reaper = startReaper("MARK=1", start, () => undefined, clock);
  stdout.write("ready\n");
  await reaper.ready();
  await reaper.ready();
  expect(clock.sleeping).toBe(0);
});
