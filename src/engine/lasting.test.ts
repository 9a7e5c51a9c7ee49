/** What still applies however long ago it was said: behind a summary, behind a snapshot, and where the log is read from the middle. */
import { expect, test } from "vitest";
import { type Event, type EventKind, type EventPayload, JobId, SessionId, TurnId } from "#protocol";
import { createConversation } from "./conversation.ts";
import { createLasting } from "./lasting.ts";
import { reopenSession } from "./reopen.ts";

const ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const session = SessionId.from(ULID);
const turn = TurnId.from(ULID);
const PLAN = "1. Look";

let lastId = 0;
function event<Kind extends EventKind>(kind: Kind, payload: EventPayload<Kind>): Event {
  lastId += 1;
  // The pair comes from one generic parameter, which the union type cannot express.
  return { id: lastId, kind, session, ts: "2026-01-01T00:00:00.000Z", payload } as unknown as Event;
}

const usage = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };
const said = (text: string): Event =>
  event("TurnStarted", { turn, content: [{ type: "text", text }], model: "fake:one" });
const ended = (lasting: readonly number[]): Event =>
  event("TurnEnded", { turn, outcome: "answered", steps: 1, usage, duration_ms: 1, lasting: [...lasting] });
/** As the compactor does: what applies at the boundary is in the event. */
function compacted(boundary: number, before: readonly Event[]): Event {
  const conversation = createConversation();
  for (const one of before) conversation.apply(one);
  const pinned = conversation.pinned(boundary).flatMap((block) => (block.type === "text" ? [block] : []));
  return event("CompactionTriggered", {
    turn,
    boundary,
    summary: "the summary",
    ...(pinned !== undefined && { pinned }),
  });
}

/** A log in which a plan was agreed and todos were made, and then a summary took the place of it all. */
function log(): readonly Event[] {
  lastId = 0;
  const first = [
    said("one"),
    event("PlanModeChanged", { active: true }),
    event("PlanChanged", { state: "agreed", plan: PLAN }),
    event("TodosChanged", { turn, todos: [{ text: "look around", state: "active" }] }),
    event("JobStarted", { turn, call_id: "call_1" as never, job: JobId.from(ULID), command: "x", timeout_ms: 1 }),
    ended([2, 3, 4, 5]),
  ];
  return [...first, said("two"), compacted(6, first), said("three")];
}

function textsOf(conversation: ReturnType<typeof createConversation>): string {
  return JSON.stringify(conversation.messages());
}

test("a compaction leaves the plan, the mode and the todos in its event, where later changes leave them as they were", () => {
  const conversation = createConversation();
  for (const one of log()) conversation.apply(one);
  const [first] = conversation.messages();
  const texts = first?.content.map((block) => (block.type === "text" ? block.text : ""));
  expect(texts?.[1]).toContain("Plan mode is on");
  expect(texts?.[2]).toContain(PLAN);
  expect(texts?.[3]).toContain("- [active] look around");
  // Nobody has approved the words of the list.
  expect(first?.content[3]).toMatchObject({ from: "the list of todos" });
  expect(textsOf(conversation)).not.toContain('"one"');
  conversation.apply(event("PlanChanged", { state: "dropped" }));
  expect(conversation.messages()[0]?.content.slice(0, texts?.length)).toEqual(first?.content);
  expect(textsOf(conversation)).toContain("The user dropped the plan");
});

test.each([0, 6, 7, 8])("a session whose history begins behind event %i has them as well", async (start) => {
  const events = log();
  const store = {
    historyStart: async () => start,
    read: async (_id: SessionId, { after = 0, limit = 1000 }: { after?: number; limit?: number }) =>
      events.filter(({ id }) => id > after).slice(0, limit),
  };
  const opened = await reopenSession(store as never, { openCalls: async () => [] } as never, session); // all that it asks
  const { lasting } = opened.remains;
  expect(lasting).toMatchObject({ planMode: true, agreed: PLAN, todos: [{ text: "look around" }], ids: [2, 3, 4, 5] });
  expect(lasting.jobs).toHaveLength(1);
  expect(opened.conversation.pinned()).toHaveLength(3);
  if (start <= 7) expect(textsOf(opened.conversation)).toContain(PLAN);
});

test("what is over does not last", () => {
  const lasting = createLasting();
  for (const one of log()) lasting.apply(one);
  lasting.apply(event("PlanModeChanged", { active: false }));
  lasting.apply(event("PlanChanged", { state: "done" }));
  lasting.apply(event("TodosChanged", { todos: [] }));
  expect(lasting.ids).toEqual([5]);
});
