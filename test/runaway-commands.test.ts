/** Commands that would not end by themselves, through the whole program: each confinement ends them, and the model reads why. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { calls, createHarnessRig, type RigOptions, says } from "./fakes/harness-rig.ts";
import { processesWith } from "./fakes/marked-processes.ts";
import { hasSandbox } from "./fakes/test-sandbox.ts";

const READER_MS = 700;
const CALL_MS = 900;
/** Starting and ending a sandbox on a busy machine. The commands themselves would take for ever. */
const BUSY_MS = 15_000;

const timedOut = (ms: number): string => `timed out after ${ms} ms; the process group was ended`;
const allowed = { permissions: [{ effect: "allow" as const, rule: "Bash", source: "test" }] };

/** One call and its result, as the model reads it in the request that follows. */
async function run(args: { readonly command: string; readonly timeout_ms?: number }, options: RigOptions) {
  const mark = `runaway-${randomUUID()}`;
  // A file of that name is all that the mark is.
  const command = args.command.replace("FILE", `${mark}.log`);
  const rig = await createHarnessRig([calls(["exec", { ...args, command }]), says("done")], {
    ...options,
    prepare: (workspace) => workspace.put(`${mark}.log`, "one line\n"),
  });
  const startMs = performance.now();
  const summary = await rig.send();
  const body = JSON.stringify(rig.vendor.requests.at(-1)?.body);
  return {
    summary,
    tookMs: performance.now() - startMs,
    confinement: rig.of("ToolIntent").map(({ allowed_by }) => allowed_by?.confinement)[0],
    isError: rig.of("ToolResult")[0]?.is_error,
    read: body,
    left: processesWith(mark),
  };
}

describe.runIf(hasSandbox)("in the reader", () => {
  test.each([
    ["tail -f FILE", timedOut(READER_MS)],
    ["while :; do :; done", timedOut(READER_MS)],
    ["while sleep 0.1; do cat FILE; done", timedOut(READER_MS)],
    ["seq 1000000000", "ended because it printed too much"],
  ])("%s", async (command, why) => {
    const result = await run({ command }, { settings: { readerTimeoutMs: READER_MS } });
    expect(result).toMatchObject({ summary: { outcome: "answered" }, confinement: "reader", isError: true, left: [] });
    expect(result.read).toContain(why);
    expect(result.read).toContain("call exec with ask: true");
    expect(result.tookMs).toBeLessThan(READER_MS + BUSY_MS);
  });

  test.each(["sleep 1000", "yes"])("%s does not even begin: it is put to a person", async (command) => {
    const result = await run({ command }, {});
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
      const result = await run({ command, timeout_ms: CALL_MS }, options);
      expect(result).toMatchObject({ summary: { outcome: "answered" }, confinement, isError: true, left: [] });
      expect(result.read).toContain(timedOut(CALL_MS));
      expect(result.read).toContain("timeout_ms may be up to 600000");
      expect(result.tookMs).toBeLessThan(CALL_MS + BUSY_MS);
    },
  );

  test.runIf(hasSandbox || confinement === "outside").each(["yes", "seq 1000000000"])(
    "%s ends by what it prints",
    { timeout: 60_000 },
    async (command) => {
      const result = await run({ command, timeout_ms: 50_000 }, options);
      expect(result).toMatchObject({ summary: { outcome: "answered" }, confinement, isError: true });
      expect(result.read).toContain("ended because it printed more than 256 MiB; filter it, or send it into a file");
      // The model gets the beginning and the end of it, not all.
      expect(result.read.length).toBeLessThan(200_000);
    },
  );
});
