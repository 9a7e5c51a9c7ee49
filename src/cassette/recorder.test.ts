import { expect, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { parseCassette } from "./cassette-text.ts";
import { createRecorder } from "./recorder.ts";
import type { CassetteRedactor } from "./secrets.ts";

const plain: CassetteRedactor = { text: (text) => text, json: (value) => value };

function recording(redactor: CassetteRedactor = plain) {
  const written: string[] = [];
  const tape = createRecorder({
    head: {
      workspace: "/w",
      root: "/w",
      home: "",
      platform: "linux",
      hostname: "host",
      model: { model: "openai:x", fallbacks: [], offline: false },
    },
    clock: createManualClock(),
    random: { bytes: (count) => new Uint8Array(count).fill(1) },
    redactor,
    write: async (text) => void written.push(text),
  });
  return { tape, written };
}

test("nothing is written when secrets cannot be taken out", async () => {
  const broken = (): never => {
    throw new Error("the rules are broken");
  };
  const { tape, written } = recording({ text: broken, json: broken });
  await expect(tape.finish()).rejects.toThrow("the rules are broken");
  expect(written).toEqual([]);
});

test("an object that grows after it was recorded is on the cassette as it was", async () => {
  const { tape, written } = recording();
  const messages = ["one"];
  const said: string[] = [];
  const result = await tape.exchange<string, string>({
    of: "web",
    session: "s",
    request: { messages },
    hear: (what) => void said.push(what),
    async live(say) {
      messages.push("two");
      await say("a");
      await say("b");
      return "c";
    },
  });
  await tape.finish();
  expect([said, result]).toEqual([["a", "b"], "c"]);
  expect(parseCassette("x", written[0] ?? "").entries).toEqual([
    { type: "ask", at: 0, ask: 1, of: "web", session: "s", request: { messages: ["one"] } },
    {
      type: "say",
      ask: 1,
      said: [
        [0, "a"],
        [0, "b"],
      ],
    },
    { type: "end", at: 0, ask: 1, result: "c" },
  ]);
});

test("a secret across two pieces is found, in text and in what is none", async () => {
  const hide = (text: string): string => text.replaceAll("hunter2", "«redacted:password»");
  const { tape, written } = recording({
    text: hide,
    json: (value) => JSON.parse(hide(JSON.stringify(value))) as typeof value,
  });
  const ask = (of: "model" | "process" | "web", pieces: readonly unknown[], result: unknown): Promise<unknown> =>
    tape.exchange({
      of,
      session: "s",
      request: {},
      hear: () => undefined,
      async live(say) {
        for (const piece of pieces) await say(piece);
        return result;
      },
    });
  const text = (piece: string) => ({ type: "text", block: 0, text: piece });
  await ask("model", [text("it is hun"), text("ter2, yes"), { type: "yield", block: 1 }], {});
  await ask(
    "process",
    [
      ["stdout", "hun"],
      ["stderr", "quiet"],
      ["stdout", { base64: Buffer.from("ter2\xff", "latin1").toString("base64") }],
    ],
    {},
  );
  await ask("web", [], { body: { base64: Buffer.from("\xffhunter2", "latin1").toString("base64") } });
  await tape.finish();
  expect(written[0]).not.toMatch(/hunter2|ter2/);
  const said = parseCassette("x", written[0] ?? "").entries.flatMap((entry) =>
    entry.type === "say" ? [entry.said] : [],
  );
  expect(said).toEqual([
    [
      [0, text("it is «redacted:password», yes")],
      [0, { type: "yield", block: 1 }],
    ],
    [
      [0, ["stdout", "«redacted:password»ÿ"]],
      [0, ["stderr", "quiet"]],
    ],
  ]);
});
