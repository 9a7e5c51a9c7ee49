/** A command that would not end by itself, through the whole program: each confinement ends it, and the model reads why. */
import { describe, expect, test } from "vitest";
import { allowed, BUSY_MS, CALL_MS, READER_MS, runRunaway, timedOut } from "./fakes/runaway-command.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

test.runIf(hasSandbox)("in the reader", async () => {
  const result = await runRunaway({ command: "tail -f FILE" }, { settings: { readerTimeoutMs: READER_MS } });
  expect(result).toMatchObject({ summary: { outcome: "answered" }, confinement: "reader", isError: true, left: [] });
  expect(result.read).toContain(timedOut(READER_MS));
  expect(result.read).toContain("call exec with ask: true");
  expect(result.tookMs).toBeLessThan(READER_MS + BUSY_MS);
});

describe.each([
  ["in the workspace confinement", "workspace", {}],
  ["without a sandbox", "outside", { sandbox: "off" }],
] as const)("%s", (_name, confinement, settings) => {
  test.runIf(hasSandbox || confinement === "outside")("a loop that ignores signals", async () => {
    const command = "trap '' TERM INT HUP; while sleep 0.1; do cat FILE; done";
    const result = await runRunaway({ command, timeout_ms: CALL_MS }, { settings: { ...allowed, ...settings } });
    expect(result).toMatchObject({ summary: { outcome: "answered" }, confinement, isError: true, left: [] });
    expect(result.read).toContain(timedOut(CALL_MS));
    expect(result.read).toContain("timeout_ms may be up to 600000");
    expect(result.tookMs).toBeLessThan(CALL_MS + BUSY_MS);
  });
});
