/** Bounds of background commands, with commands that are functions. */
import { expect, test } from "vitest";
import type { ProcessExit } from "#base";
import type { BackgroundWork, ToolCall } from "#engine";
import { CallId, type EventKind, JobId, TurnId } from "#protocol";
import { createRedactor } from "#redaction";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createBackgroundJobs } from "./background-jobs.ts";

const EXIT: ProcessExit = { code: 0, signal: null, ended: "exit", durationMs: 1 };
const number = (at: number): string => String(at).padStart(26, "0");
// All that is read of a call.
const call = {
  id: CallId.from(number(0)),
  turn: TurnId.from(number(0)),
  signal: new AbortController().signal,
} as unknown as ToolCall;

function created(refused?: EventKind) {
  const published: { kind: EventKind; payload: unknown }[] = [];
  let last = 0;
  const jobs = createBackgroundJobs({
    bus: {
      async publish(kind, payload) {
        if (kind === refused) throw new Error("the log is full");
        published.push({ kind, payload });
      },
      publishDelta: (delta) => void published.push(delta),
    },
    redaction: { stream: () => createRedactor().createStreamRedactor() },
    clock: createManualClock(),
    ids: { job: () => JobId.from(number(++last)) },
    now: () => ({}),
  });
  const of = (kind: EventKind) => published.filter((one) => one.kind === kind).map(({ payload }) => payload);
  return { jobs, of };
}

const work = (run: BackgroundWork["run"]): BackgroundWork => ({ command: "x".repeat(5_000), timeoutMs: 1_000, run });

test("a thousand commands leave a record each, and the last few can be read", async () => {
  const { jobs, of } = created();
  for (let at = 0; at < 1_000; at++)
    await jobs.start(
      call,
      work(async () => EXIT),
    );
  expect(of("JobStarted")).toHaveLength(1_000);
  expect(of("JobEnded")).toHaveLength(1_000);
  expect(of("JobStarted")[0]).toMatchObject({ command: "x".repeat(2_000) });
  expect(jobs.list().length).toBeLessThanOrEqual(20);
  expect(jobs.running).toBe(0);
});

test("a secret in a command is not cut in half on the record", async () => {
  const { jobs, of } = created();
  const command = `${"x ".repeat(990)} ghp_${"aB3d".repeat(9)} ${"x".repeat(5_000)}`;
  await jobs.start(call, { ...work(async () => EXIT), command });
  expect(JSON.stringify(of("JobStarted"))).not.toContain("aB3d");
});

test("a flood is ended, and costs a bounded log", async () => {
  const { jobs, of } = created();
  const chunk = Buffer.alloc(8 * 1024 ** 2, "x\n");
  await jobs.start(
    call,
    work(async ({ signal, started, output }) => {
      started();
      while (!signal.aborted) output("stdout", chunk);
      return { ...EXIT, code: null, ended: "cancelled" };
    }),
  );
  await jobs.list()[0]?.over;
  expect(of("JobEnded")).toMatchObject([{ status: "output", detail: "more than 256 MiB" }]);
  const logged = of("JobOutput").map((payload) => JSON.stringify(payload).length);
  expect(logged.reduce((sum, length) => sum + length, 0)).toBeLessThan(1024 ** 2);
});

test("what cannot be recorded does not run", async () => {
  const { jobs } = created("JobStarted");
  let ran = false;
  const started = jobs.start(
    call,
    work(async () => {
      ran = true;
      return EXIT;
    }),
  );
  await expect(started).rejects.toThrow("the log is full");
  expect([ran, jobs.running]).toEqual([false, 0]);
});

test("when the session ends, all have ended and none can be started", async () => {
  const { jobs, of } = created();
  const forever = work(async ({ signal, started }) => {
    started();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return { ...EXIT, code: null, ended: "cancelled" };
  });
  await jobs.start(call, forever);
  await jobs.start(call, forever);
  await jobs.stopAll("the session ended");
  expect(of("JobEnded")).toMatchObject([{ status: "stopped" }, { status: "stopped", detail: "the session ended" }]);
  await expect(jobs.start(call, forever)).rejects.toThrow("about to end");
});
