/** Commands that would not end by themselves, of every kind; `test/runaway-commands.test.ts` has one of each confinement. */
import { describe, expect, test } from "vitest";
import { allowed, BUSY_MS, CALL_MS, READER_MS, runRunaway, timedOut } from "../fakes/runaway-command.ts";
import { hasSandbox } from "../fakes/test-sandbox.ts";

describe.runIf(hasSandbox)("in the reader", () => {
  test.each([
    ["tail -f FILE", READER_MS, timedOut(READER_MS)],
    ["while :; do :; done", READER_MS, timedOut(READER_MS)],
    ["while sleep 0.1; do cat FILE; done", READER_MS, timedOut(READER_MS)],
    // On a busy machine, it also has time to reach its limit of output.
    ["seq 1000000000", 30_000, "ended because it printed too much"],
  ])("%s", async (command, readerTimeoutMs, why) => {
    const result = await runRunaway({ command }, { settings: { readerTimeoutMs } });
    expect(result).toMatchObject({ summary: { outcome: "answered" }, confinement: "reader", isError: true, left: [] });
    expect(result.read).toContain(why);
    expect(result.read).toContain("call exec with ask: true");
    expect(result.tookMs).toBeLessThan(readerTimeoutMs + BUSY_MS);
  });

  test.each(["sleep 1000", "yes"])("%s does not even begin: it is put to a person", async (command) => {
    const result = await runRunaway({ command }, {});
    expect(result.confinement).toBeUndefined();
    expect(result.read).toContain("Bash was denied");
  });
});

describe.each([
  ["in the workspace confinement", "workspace", {}],
  ["without a sandbox", "outside", { sandbox: "off" }],
] as const)("%s", (_name, confinement, settings) => {
  const options = { settings: { ...allowed, ...settings } };

  test
    .runIf(hasSandbox || confinement === "outside")
    .each(["tail -f FILE", "while :; do :; done", "sleep 1000", "trap '' TERM INT HUP; while :; do cat FILE; done"])(
    "%s",
    async (command) => {
      const result = await runRunaway({ command, timeout_ms: CALL_MS }, options);
      expect(result).toMatchObject({ summary: { outcome: "answered" }, confinement, isError: true, left: [] });
      expect(result.read).toContain(timedOut(CALL_MS));
      expect(result.read).toContain("timeout_ms may be up to 600000");
      expect(result.tookMs).toBeLessThan(CALL_MS + BUSY_MS);
    },
  );

  test.runIf(hasSandbox || confinement === "outside").each(["yes", "seq 1000000000"])(
    "%s ends by what it prints",
    async (command) => {
      const result = await runRunaway({ command, timeout_ms: 50_000 }, options);
      expect(result).toMatchObject({ summary: { outcome: "answered" }, confinement, isError: true });
      expect(result.read).toContain("ended because it printed more than 256 MiB; filter it, or send it into a file");
      // The model gets the beginning and the end of it, not all.
      expect(result.read.length).toBeLessThan(200_000);
    },
  );
});
