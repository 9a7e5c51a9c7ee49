/** Whoever waits for a model that stays silent sees that, on every face; and a replay shows the same. */
import { expect, onTestFinished, test } from "vitest";
import type { Event } from "#protocol";
import { createRenderer } from "../src/cli/renderer.ts";
import { record, startReplay } from "./fakes/cassette-rig.ts";
import { createHarnessRig, type HarnessRig, says } from "./fakes/harness-rig.ts";
import { createInProcessCli } from "./fakes/in-process-cli.ts";
import { createManualClock, type ManualClock } from "./fakes/manual-clock.ts";
import { startMockProvider } from "./fakes/mock-provider-server.ts";
import type { MockReply } from "./fakes/mock-reply.ts";

/** Answers only when the test says so. */
function held(): { readonly reply: MockReply; release(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    reply: { type: "message", blocks: [{ type: "text", text: "at last" }], headersAfter: promise },
    release: resolve,
  };
}

async function silence(
  rig: Pick<HarnessRig, "vendor" | "send">,
  clock: ManualClock,
  seconds: number,
  release: () => void,
) {
  const turn = rig.send();
  while (rig.vendor.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(seconds * 1_000);
  release();
  return turn;
}

test("events say for how long the model has been silent", async () => {
  const clock = createManualClock();
  const { reply, release } = held();
  const rig = await createHarnessRig([reply], { clock });
  expect(await silence(rig, clock, 45, release)).toMatchObject({ outcome: "answered" });
  const [{ turn } = { turn: "" }] = rig.of("TurnStarted");
  expect(rig.of("ModelWaiting")).toEqual(
    [10_000, 25_000, 40_000].map((waited_ms) => ({ turn, step: 1, waited_ms, left_ms: 300_000 - waited_ms })),
  );
});

test("an answer that comes in time brings no such event", async () => {
  const rig = await createHarnessRig([says("hello")]);
  await rig.send();
  expect(rig.of("ModelWaiting")).toEqual([]);
});

test("a replay has the same events, byte for byte", async () => {
  const clock = createManualClock();
  const { reply, release } = held();
  const recording = await record([reply], { clock, drive: (rig) => silence(rig, clock, 30, release) });
  expect(recording.log.match(/"ModelWaiting"/g)).toHaveLength(2);
  const replay = await startReplay(recording);
  await replay.send();
  await replay.harness.shutdown();
  expect(replay.log()).toBe(recording.log);
});

test.each([["shown"], ["--json"]])("harness run: %s", async (face) => {
  const { reply, release } = held();
  const vendor = await startMockProvider();
  onTestFinished(() => vendor.close());
  vendor.reply(reply);
  const cli = createInProcessCli({ OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: `${vendor.url}/v1` });
  const flags = face === "--json" ? ["--json"] : [];
  const pending = cli.run("run", "-m", "openai:mock", "--store", "memory", ...flags, "hello");
  while (vendor.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await cli.clock.advance(25_000);
  release();
  const { code, out, err } = await pending;
  expect(code).toBe(0);
  if (face === "--json") {
    const waiting = out.split("\n").filter((line) => line.includes('"ModelWaiting"'));
    expect(waiting).toHaveLength(2);
    return;
  }
  expect(out).toBe("at last\n");
  expect(err).toContain("… waiting for the model, 10 s (gives up in 290 s)\n");
  expect(err).toContain("… waiting for the model, 25 s (gives up in 275 s)\n");
});

test.each([
  [true, "half a\n", " line"],
  [false, "half a", " line"],
])("in the middle of an answer a line break is for people only (interactive: %s)", (interactive, before, after) => {
  const said = { out: "", err: "" };
  const terminal = {
    interactive,
    colour: false,
    out: (text: string) => {
      said.out += text;
    },
    err: (text: string) => {
      said.err += text;
    },
  };
  // The renderer uses no more of a terminal than this.
  const renderer = createRenderer(terminal as Parameters<typeof createRenderer>[0], { answer: true, activity: true });
  const show = (kind: string, payload: object): void => renderer.show({ kind, payload } as Event);
  show("TextDelta", { text: "half a" });
  show("ModelWaiting", { waited_ms: 10_000, left_ms: 290_000 });
  show("TextDelta", { text: " line" });
  expect(said.out).toBe(before + after);
  expect(said.err).toContain("waiting for the model, 10 s");
});
