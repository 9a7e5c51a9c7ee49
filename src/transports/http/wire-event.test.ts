import { expect, test } from "vitest";
import { CallId, type Event, SessionId, TurnId } from "#protocol";
import { createFraming } from "./wire-event.ts";

const session = SessionId.from("0".repeat(26));
const delegate = SessionId.from("1".repeat(26));
const ts = "2026-01-01T00:00:00.000Z";
const asked: Event = {
  id: 7,
  kind: "QuestionAsked",
  session,
  ts,
  payload: { turn: TurnId.from("0".repeat(26)), call_id: CallId.from("0".repeat(26)), question: "a\nb" },
};

test("an event is one frame with its id, kind and JSON", () => {
  expect(createFraming().sse(asked, session)).toBe(`id: 7\nevent: QuestionAsked\ndata: ${JSON.stringify(asked)}\n\n`);
  expect(JSON.parse(createFraming().socket(asked))).toEqual({ frame: "event", body: asked });
});

test("what a client must not skip or could not come back to has no id: an overflow, and a question of a delegate", () => {
  const framing = createFraming();
  expect(framing.sse({ ...asked, session: delegate }, session)).toMatch(/^event: QuestionAsked\n/);
  const gap: Event = { id: 9, kind: "StreamGap", session, ts, payload: { from: 3, to: 9, reason: "overflow" } };
  expect(framing.sse(gap, session)).toMatch(/^event: StreamGap\n/);
  const expired: Event = { ...gap, payload: { from: 3, to: 9, reason: "ttl" } };
  expect(framing.sse(expired, session)).toMatch(/^id: 9\nevent: StreamGap\n/);
});
