import fc from "fast-check";
import { expect, test } from "vitest";
import { commentFrame, createEventStreamReader, eventFrame, type StreamEvent } from "./event-stream.ts";

function read(pieces: readonly string[], maxEventChars = 1000): { events: StreamEvent[]; comments: number } {
  const events: StreamEvent[] = [];
  let comments = 0;
  const reader = createEventStreamReader({
    maxEventChars,
    onEvent: (event) => events.push(event),
    onComment: () => {
      comments += 1;
    },
  });
  for (const piece of pieces) reader.push(piece);
  return { events, comments };
}

test("what is written is read, however it is cut", () => {
  const line = fc.string({ unit: fc.constantFrom("a", " ", ":", "é", "\u2028", "😀") });
  const frame = fc.record({
    id: fc.option(fc.nat(), { nil: undefined }),
    event: fc.option(fc.constantFrom("TextDelta", "error"), { nil: undefined }),
    lines: fc.array(line, { minLength: 1 }),
  });
  fc.assert(
    fc.property(fc.array(frame), fc.integer({ min: 1, max: 20 }), (frames, size) => {
      const text = frames
        .map(({ id, event, lines }) => {
          const fields = { ...(id === undefined ? {} : { id }), ...(event === undefined ? {} : { event }) };
          return eventFrame({ ...fields, data: lines.join("\n") }) + commentFrame("beat\nbeat");
        })
        .join("");
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      const { events, comments } = read(pieces, 10_000);
      expect(comments).toBe(frames.length);
      expect(events).toEqual(
        frames.map(({ id, event, lines }) => ({
          id: id === undefined ? undefined : String(id),
          event,
          data: lines.join("\n"),
        })),
      );
    }),
  );
});

test("fields that are not known are passed over; an event that is too long is not kept", () => {
  expect(read(["x: y\nretry: 10\ndata: a\n\n"]).events).toEqual([{ id: undefined, event: undefined, data: "a" }]);
  expect(() => read(["data: ", "x".repeat(600), "x".repeat(600)])).toThrow("buffer");
  expect(() => read(Array.from({ length: 100 }, () => `data: ${"x".repeat(20)}\n`))).toThrow("buffer");
});

test("a name cannot begin a field of its own", () => {
  expect(() => eventFrame({ event: "a\ndata: b", data: "c" })).toThrow("line end");
  expect(() => eventFrame({ id: "1\r2", data: "c" })).toThrow("line end");
});
