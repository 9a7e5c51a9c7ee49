import fc from "fast-check";
import { expect, test } from "vitest";
import { parseCassette, printCassette } from "./cassette-text.ts";
import type { CassetteHead, Entry } from "./entries.ts";

const head: CassetteHead = {
  cassette: 1,
  started: "2026-01-01T00:00:00.000Z",
  seed: "0".repeat(32),
  workspace: "/w",
  root: "/w",
  home: "/h",
  platform: "linux",
  hostname: "host",
  model: { model: "openai:x", fallbacks: [], offline: false },
};

/** Objects whose keys may look like the mark for lines, texts of several lines, and `}` at the start of one. */
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string(),
    fc.array(fc.constantFrom("a", "}", "{", "¶", " x", ""), { maxLength: 4 }).map((lines) => lines.join("\n")),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom("¶", "¶¶", "¶¶¶", "same", "keeps"), fc.string()), tie("value"), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).value;

test("whatever is printed is read again", () => {
  fc.assert(
    fc.property(fc.array(json, { maxLength: 6 }), (values) => {
      const entries = values.flatMap((value, index): Entry[] => [
        { type: "ask", at: index, ask: index + 1, of: "web", session: "s", request: value },
        { type: "say", ask: index + 1, said: [[index, value]] },
        { type: "end", at: index, ask: index + 1, result: value },
      ]);
      const read = parseCassette("x", printCassette(head, entries));
      expect(read.head).toEqual(head);
      expect(read.entries).toEqual(JSON.parse(JSON.stringify(entries)));
    }),
  );
});

test("a request to a model says what it shares with the one before it, and is whole again when it is read", () => {
  const message = (text: string) => ({ role: "user", content: [{ type: "text", text }] });
  const request = (messages: unknown[], system = "be brief\nbe kind") => ({
    model: "m",
    system: [system],
    messages,
    tools: [],
  });
  const ask = (number: number, request: unknown, session = "s"): Entry => ({
    type: "ask",
    at: 0,
    ask: number,
    of: "model",
    session,
    request,
  });
  const entries = [
    ask(1, request([message("one")])),
    ask(2, request([message("other")]), "t"),
    ask(3, request([message("one"), message("two")])),
    ask(4, request([message("summary")], "be rude")),
  ];
  const text = printCassette(head, entries);
  expect(parseCassette("x", text).entries).toEqual(entries);
  expect(text.match(/be brief/g)).toHaveLength(2);
  expect(text.match(/"one"/g)).toHaveLength(1);
  expect(text).toContain('"same":["model","system","tools"],"keeps":1,');
  expect(() => parseCassette("x.cassette", text.replace('"keeps":1', '"keeps":2'))).toThrow(
    /x\.cassette:\d+: request: it shares more/,
  );
});
