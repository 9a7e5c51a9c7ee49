/** Real programs, on a clock on which a second takes 20 ms. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Clock } from "#base";
import { HookFailed, HookTimedOut } from "#engine";
import { createProcesses, createSystemClock } from "#world";
import { runHookProgram } from "./hook-program.ts";

const FASTER = 50;

function fastClock(): Clock {
  const clock = createSystemClock();
  return {
    ...clock,
    monotonicMs: () => clock.monotonicMs() * FASTER,
    sleep: (ms, signal) => clock.sleep(ms / FASTER, signal),
  };
}

function run(command: string, { timeoutMs = 30_000, stdin = "{}", clock = fastClock() } = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "hook-program-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const processes = createProcesses({ root, env: process.env, clock });
  const { signal } = new AbortController();
  // It reaches nothing else.
  const ports = { processes } as unknown as Parameters<typeof runHookProgram>[1]["ports"];
  return runHookProgram({ command, timeoutMs }, { ports, signal }, { stdin, env: {} });
}

test("that never reads a long input is not waited for", async () => {
  const { exit } = await run("echo done", { stdin: "x".repeat(4 * 1024 * 1024) });
  expect(exit).toMatchObject({ code: 0, stdout: "done\n" });
});

test("that prints more than 64 KB is cut, with a mark", async () => {
  const { exit, ran } = await run("head -c 200000 /dev/zero | tr '\\0' x; echo more >&2");
  expect(exit.stdout).toHaveLength(64 * 1024 + "\n[cut after 64 KB]".length);
  expect(exit).toMatchObject({ code: 0, truncated: true, stderr: "more\n" });
  expect(ran).toMatchObject({ exitCode: 0, truncated: true });
});

test("that prints without an end is stopped", async () => {
  await expect(run("yes", { clock: createSystemClock() })).rejects.toThrow("printed more than 64 MiB");
  await expect(run("yes", { clock: createSystemClock() })).rejects.toBeInstanceOf(HookFailed);
});

test("that leaves a child behind with its output does not keep the session", async () => {
  const { exit } = await run("sleep 300 & echo done");
  expect(exit).toMatchObject({ code: 0, stdout: "done\n" });
});

test("that is late and ignores SIGTERM is killed 5 seconds later, with its children", async () => {
  const clock = fastClock();
  const before = clock.monotonicMs();
  const late = run("trap '' TERM; (trap '' TERM; sleep 300) & sleep 300 & while :; do sleep 0.01; done", {
    // Long enough for a shell that starts on a busy machine to ignore the signal.
    timeoutMs: 40_000,
    clock,
  });
  await expect(late).rejects.toBeInstanceOf(HookTimedOut);
  expect(clock.monotonicMs() - before).toBeGreaterThanOrEqual(45_000);
});

test("that cleans up at SIGTERM has the time for it", async () => {
  const late = run("trap 'sleep 0.02; exit 0' TERM; sleep 300 & wait", { timeoutMs: 5_000 });
  await expect(late).rejects.toBeInstanceOf(HookTimedOut);
});

test("that a signal ends says which one", async () => {
  expect((await run("kill -SEGV $$")).exit).toMatchObject({ code: null, signal: "SIGSEGV" });
});
