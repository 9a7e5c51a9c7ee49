/** The program's own log: levels, redaction, daily files with their bounds. */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createDailyFiles } from "./daily-files.ts";
import { levelOf, parseLogLevels } from "./log-level.ts";
import { logText } from "./log-text.ts";
import { createOperationLog, type LogFields } from "./operation-log.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "harness-log-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return join(path, "log");
}

describe("levels", () => {
  test("are set for all, for a component, and for what is part of it", () => {
    const levels = {
      level: "info" as const,
      components: {},
      ...parseLogLevels("warn,provider=debug,provider.openai=trace"),
    };
    expect(["engine", "provider", "provider.zai", "provider.openai"].map((name) => levelOf(levels, name))).toEqual([
      "warn",
      "debug",
      "debug",
      "trace",
    ]);
  });

  test.each(["loud", "engine=", "=debug", "engine=loud", "", "a b=debug", "engine=debug,,"])(
    "%j is refused",
    (text) => {
      expect(parseLogLevels(text)).toBeUndefined();
    },
  );
});

describe("the log", () => {
  function recorded(clean: (value: LogFields) => LogFields = (value) => value) {
    const lines: string[] = [];
    const sinks = [(line: string) => void lines.push(line)];
    const log = createOperationLog({
      clock: createManualClock(),
      levels: { level: "info", components: { engine: "debug", auth: "off" } },
      clean,
      sinks,
    });
    return { log, lines: () => lines.map((line) => JSON.parse(line) as unknown) };
  }

  test("prints a line for people that controls no terminal", () => {
    const line = `${JSON.stringify({ ts: "2026-01-01T00:00:00.000Z", level: "warn", component: "engine", msg: "a\u009bb", turn: "turn_1", left_ms: 5, why: "two words\n" })}\n`;
    const text = logText(line);
    expect(text).toMatch(/^2026-01-01T00:00:00\.000Z WARN {2}engine: a.+b turn=turn_1 left_ms=5 why="two words\\n"\n$/);
    expect(text).not.toContain("\u009b");
  });

  test("writes one object a line, from the level of its component on", () => {
    const { log, lines } = recorded();
    log.of("engine").debug("a turn began", { session: "sess_1" });
    log.of("daemon").debug("not told");
    log.of("auth").error("not told either");
    log.of("daemon").warn("told", { level: "forged", ts: "forged" });
    expect(lines()).toEqual([
      { ts: "2026-01-01T00:00:00.000Z", level: "debug", component: "engine", msg: "a turn began", session: "sess_1" },
      { ts: "2026-01-01T00:00:00.000Z", level: "warn", component: "daemon", msg: "told" },
    ]);
    expect(log.counters()).toEqual({ written: 2, withheld: 0, lost: 0 });
  });

  test("withholds what cannot be cleaned", () => {
    const { log, lines } = recorded(() => {
      throw new Error("no table");
    });
    log.of("engine").info("sk-secret", { key: "sk-secret" });
    expect(JSON.stringify(lines())).not.toContain("sk-secret");
    expect(log.counters()).toMatchObject({ withheld: 1 });
  });

  test("cuts a field and a line that are too long", () => {
    const { log, lines } = recorded();
    log.of("engine").info("long", { text: "x".repeat(10_000) });
    log.of("engine").info("many", { list: Array.from({ length: 10_000 }, () => "word") });
    log.of("engine").info("cut", { text: `${"word ".repeat(399)}ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5` });
    expect(JSON.stringify(lines()).length).toBeLessThan(6_000);
    expect(JSON.stringify(lines())).not.toContain("ghp_");
    expect(lines()[1]).toMatchObject({ msg: "many", cut: expect.any(Number) });
  });

  test("counts what the disk does not take, and goes on", () => {
    const log = createOperationLog({
      clock: createManualClock(),
      levels: { level: "info", components: {} },
      clean: (value) => value,
      sinks: [
        () => {
          throw new Error("ENOSPC");
        },
      ],
    });
    log.of("engine").info("one");
    expect(log.counters()).toEqual({ written: 0, withheld: 0, lost: 1, problem: "ENOSPC" });
  });
});

describe("daily files", () => {
  test("begin anew each day, keep to their owner, and go after their time", async () => {
    const clock = createManualClock();
    const path = folder();
    const files = createDailyFiles({ folder: path, clock, keepDays: 2 });
    for (const text of ["one\n", "two\n", "three\n"]) {
      files.write(text);
      await clock.advance(DAY_MS);
    }
    expect(readdirSync(path).toSorted()).toEqual(["harness-20260102.log", "harness-20260103.log"]);
    expect(readFileSync(join(path, "harness-20260103.log"), "utf8")).toBe("three\n");
    expect(statSync(join(path, "harness-20260103.log")).mode & 0o777).toBe(0o600);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  test("leave other files alone", async () => {
    const clock = createManualClock();
    const path = folder();
    const files = createDailyFiles({ folder: path, clock, keepDays: 1 });
    files.write("one\n");
    writeFileSync(join(path, "notes-20200101.log"), "mine");
    await clock.advance(DAY_MS);
    files.write("two\n");
    expect(readdirSync(path).toSorted()).toEqual(["harness-20260102.log", "notes-20200101.log"]);
  });

  test("are bounded in size, the newest lines kept", () => {
    const path = folder();
    const files = createDailyFiles({ folder: path, clock: createManualClock(), maxMb: 0.001 });
    for (let index = 0; index < 200; index++) files.write(`line ${index}\n`);
    const sizes = readdirSync(path).map((name) => statSync(join(path, name)).size);
    expect(sizes).toHaveLength(2);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(0.001 * 1024 * 1024);
    expect(readFileSync(join(path, "harness-20260101.log"), "utf8")).toContain("line 199\n");
  });

  test.skipIf(process.getuid?.() === 0)("throw when the folder takes nothing", () => {
    const path = folder();
    const files = createDailyFiles({ folder: path, clock: createManualClock() });
    files.write("one\n");
    chmodSync(join(path, "harness-20260101.log"), 0o400);
    expect(() => files.write("two\n")).toThrow();
  });
});
