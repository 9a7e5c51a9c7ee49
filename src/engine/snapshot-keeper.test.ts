import { expect, test } from "vitest";
import { CallId, type Event, type EventKind, type EventPayload, SessionId, TurnId } from "#protocol";
import { createConversation } from "./conversation.ts";
import { createRemains } from "./remains.ts";
import { createSnapshotKeeper } from "./snapshot-keeper.ts";
import type { SnapshotDraft } from "./store.ts";

const session = SessionId.from("0".repeat(26));
const turn = TurnId.from("0".repeat(26));
const call_id = CallId.from("0".repeat(26));
const usage = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };

/** A session of which every turn is due for a snapshot; `answer` is what the shelf says to each. */
function rig(answer: (draft: SnapshotDraft) => Promise<boolean> = async () => true, everyEvents = 1) {
  const conversation = createConversation();
  const remains = createRemains();
  const written: SnapshotDraft[] = [];
  const problems: string[] = [];
  const keeper = createSnapshotKeeper({
    shelf: {
      read: async () => undefined,
      write(draft) {
        written.push(draft);
        return answer(draft);
      },
    },
    conversation,
    remains,
    snapshotEvent: 0,
    eventsSince: 0,
    everyEvents,
    onProblem: (problem) => problems.push(problem),
  });
  let id = 0;
  const publish = <Kind extends EventKind>(kind: Kind, payload: EventPayload<Kind>): void => {
    id += 1;
    // Kind and payload belong together by the parameter.
    const event = { id, kind, session, ts: "", payload } as Event;
    conversation.apply(event);
    remains.apply(event);
    keeper.notice(event);
  };
  const say = (text: string): void => {
    publish("TurnStarted", { turn, content: [{ type: "text", text }], model: "m" });
    publish("TurnEnded", { turn, outcome: "answered", steps: 1, usage, duration_ms: 0 });
  };
  return { publish, say, written, problems, settled: () => keeper.settled() };
}

test("a snapshot is made at the end of a turn, and the next one continues it", async () => {
  const { say, written, settled } = rig();
  say("one");
  await settled();
  say("two");
  await settled();
  expect(written).toEqual([
    { format: 2, event: 2, follows: 0, pieces: [expect.stringContaining("one")] },
    { format: 2, event: 4, follows: 2, pieces: [expect.not.stringContaining("one")] },
  ]);
});

test("none is made before its time, nor while one is being written", async () => {
  const { say, written, settled } = rig(undefined, 3);
  say("one");
  await settled();
  expect(written).toEqual([]);
  say("two");
  say("three");
  say("four");
  await settled();
  expect(written.map(({ event }) => event)).toEqual([4]);
});

test("none is made while a call has no outcome", async () => {
  const { publish, say, written, settled } = rig();
  const name = "exec";
  publish("ToolIntent", { turn, step: 1, call_id, name, class: "mutating", args_hash: "0".repeat(64) });
  say("one");
  await settled();
  expect(written).toEqual([]);
  publish("ToolOutcome", { turn, call_id, outcome: "ok", result_hash: "0".repeat(64) });
  say("two");
  await settled();
  expect(written).toMatchObject([{ follows: 0, pieces: [expect.stringContaining("one")] }]);
});

test("one that could not be kept is told of, and the next is whole", async () => {
  let isFull = true;
  const { say, written, problems, settled } = rig(async () => {
    if (isFull) throw new Error("the disk is full");
    return true;
  });
  say("one");
  await settled();
  isFull = false;
  say("two");
  await settled();
  expect(problems).toEqual(["the disk is full"]);
  expect(written[1]).toMatchObject({ follows: 0, pieces: [expect.stringContaining("one")] });
});

test("none is made any more once the log has let go of what the conversation knows", async () => {
  const { say, written, problems, settled } = rig(async () => false);
  say("one");
  await settled();
  say("two");
  await settled();
  expect(written).toHaveLength(1);
  expect(problems).toEqual([]);
});
