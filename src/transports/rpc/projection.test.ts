import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defined } from "#base";
import { CallId, type Event, type EventKind, type EventPayload, SessionId, TurnId } from "#protocol";
import { createProjection } from "./projection.ts";
import type { Item, Notification } from "./shapes.ts";

const session = SessionId.from("0".repeat(26));
const turn = TurnId.from("1".repeat(26));
const call = CallId.from("2".repeat(26));
const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };

type Said = { [Kind in EventKind]: readonly [Kind, EventPayload<Kind>] }[EventKind];

function events(...said: readonly Said[]): Event[] {
  // The pair of kind and payload is checked above; an event is that and what the log adds.
  return said.map(([kind, payload], at) => {
    return { id: at + 2, kind, session, ts: "2026-01-01T00:00:01.000Z", payload } as Event;
  });
}

function project(list: readonly Event[]): Notification[] {
  const projection = createProjection();
  return list.flatMap((event) => projection.apply(event));
}

const names = (said: readonly Notification[]): string[] =>
  said.map(({ method, params }) => {
    const item = params.item as Item | undefined;
    return item === undefined ? method : `${method} ${item.type}`;
  });

const begin: Said = ["TurnStarted", { turn, content: [{ type: "text", text: "hi" }], model: "m" }];
const end = (outcome: "answered" | "cancelled" | "error" | "step_limit", reason?: string): Said => [
  "TurnEnded",
  { turn, outcome, steps: 1, usage, duration_ms: 5, ...defined({ reason }) },
];
const says = (text: string, step = 1): Said => ["TextDelta", { turn, step, block: 0, text }];

describe("projection", () => {
  test("text is one item from its first delta to the end of the model call", () => {
    const cost: Said = ["CostIncremented", { turn, step: 1, provider: "p", model: "m", usage }];
    const said = project(events(begin, says("a"), says("b"), cost, end("answered")));
    expect(names(said).slice(3)).toEqual([
      "item.started assistant_message",
      "item.delta",
      "item.delta",
      "item.completed assistant_message",
      "turn.completed",
    ]);
    expect(said.at(-2)?.params.item).toMatchObject({ data: { kind: "text", text: "ab" } });
  });

  test("what a step wrote before it is tried again is completed as void", () => {
    const retry: Said = ["Error", { turn, step: 1, reason: "ProviderStreamCut", message: "cut", terminal: false }];
    const said = project(events(begin, says("half"), retry, says("whole"), end("answered")));
    const texts = said.filter(({ method }) => method === "item.completed").map(({ params }) => params.item as Item);
    expect(texts.slice(1).map(({ data }) => [data?.text, data?.voided])).toEqual([
      ["half", true],
      ["whole", undefined],
    ]);
    expect(texts[1]?.itemId).not.toBe(texts[2]?.itemId);
  });

  test("how a turn ended is told, with the message of what ended it", () => {
    const failed: Said = ["Error", { turn, reason: "RateLimited", message: "too many", terminal: true }];
    const last = (...said: readonly Said[]) => project(events(begin, ...said)).at(-1);
    expect(last(failed, end("error", "RateLimited"))?.params).toMatchObject({
      turn: { status: "error" },
      error: { reason: "RateLimited", message: "too many" },
    });
    expect(last(end("cancelled", "Cancelled"))).toMatchObject({
      method: "turn.error",
      params: { turn: { status: "cancelled" }, error: { reason: "Cancelled" } },
    });
    expect(last(end("step_limit", "StepLimit"))).toMatchObject({ params: { error: { reason: "StepLimit" } } });
  });

  test("an approval is open until it is answered or its turn ends", () => {
    const projection = createProjection();
    const asked: Said = [
      "PermissionRequested",
      { turn, call_id: call, name: "exec", label: "Bash", args: {}, summary: "s", reason: "r" },
    ];
    const [started, question, ended] = events(begin, asked, end("cancelled", "Cancelled"));
    projection.apply(started!);
    projection.apply(question!);
    expect([...projection.askedIn]).toEqual([[call, session]]);
    const said = projection.apply(ended!);
    expect(names(said)).toEqual(["item.completed approval", "turn.error"]);
  });

  test("an answer that nobody was asked for is an item of its own", () => {
    const answered: Said = [
      "PermissionAnswered",
      { turn, call_id: call, decision: "allow_once", by: "--auto-approve" },
    ];
    expect(names(project(events(begin, answered))).slice(3)).toEqual([
      "item.started approval",
      "item.completed approval",
    ]);
  });

  test("a session that is opened again is no new thread", () => {
    const opened: Said = ["SessionStarted", { working_dir: "/w", profile: "default", model: "m" }];
    const [event] = events(opened);
    expect(createProjection().apply(event!)).toEqual([]);
    expect(createProjection().apply({ ...event!, id: 1 } as Event, "T")).toMatchObject([
      { method: "thread.created", params: { thread: { title: "T", directory: "/w" }, eventId: 1 } },
    ]);
  });

  test("whatever happens in a turn: every item is started once, then completed once, always with the same id", () => {
    const callId = fc.nat(2).map((n) => CallId.from(String(n).repeat(26)));
    const step = fc.integer({ min: 1, max: 3 });
    const some = fc.oneof(
      fc.tuple(step, fc.nat(2), fc.string()).map(([at, block, text]): Said => {
        return ["TextDelta", { turn, step: at, block, text }];
      }),
      fc.tuple(step, fc.string()).map(([at, text]): Said => {
        return ["ThinkingDelta", { turn, step: at, block: 0, text, provider: "p" }];
      }),
      callId.map((id): Said => ["ToolCallProgress", { turn, call_id: id, text: "out" }]),
      callId.map((id): Said => {
        return ["PermissionAnswered", { turn, call_id: id, decision: "deny", by: "policy" }];
      }),
      step.map((at): Said => ["CostIncremented", { turn, step: at, provider: "p", model: "m", usage }]),
      step.map((at): Said => ["Error", { turn, step: at, reason: "RateLimited", message: "m", terminal: false }]),
    );
    fc.assert(
      fc.property(fc.array(some), (middle) => {
        const list = events(begin, ...middle, end("answered"));
        const said = project(list);
        expect(project(list)).toEqual(said);
        const open = new Set<string>();
        const texts = new Map<string, string>();
        for (const { method, params } of said) {
          const item = params.item as Item | undefined;
          if (method === "item.started") {
            expect(open.has(item!.itemId)).toBe(false);
            open.add(item!.itemId);
          } else if (method === "item.delta") {
            const { itemId, delta } = params as { itemId: string; delta: { text: string } };
            expect(open.has(itemId)).toBe(true);
            texts.set(itemId, (texts.get(itemId) ?? "") + delta.text);
          } else if (method === "item.completed") {
            expect(open.delete(item!.itemId)).toBe(true);
            if (item?.type === "assistant_message") expect(item.data?.text).toBe(texts.get(item.itemId) ?? "");
          }
        }
        expect([...open]).toEqual([]);
        expect(said.at(-1)?.method).toBe("turn.completed");
      }),
    );
  });
});
