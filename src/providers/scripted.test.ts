import { describe, expect, it } from "vitest";
import type { ModelEvent, ModelOutcome, ModelRequest } from "#engine";
import { CallId, type Message } from "#protocol";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { parseScenario } from "./scenario.ts";
import { createScriptedProvider } from "./scripted.ts";

const call = (n: number) => CallId.from(String(n).padStart(26, "0"));
const said = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const called = (n: number, name: string): Message => ({
  role: "assistant",
  content: [{ type: "tool_use", id: call(n), name, input: {} }],
});
const gave = (n: number, text: string): Message => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: call(n), content: [{ type: "text", text }], is_error: false }],
});

function request(...messages: Message[]): ModelRequest {
  return { model: "scripted:x", system: [], messages, tools: [] };
}

async function provide(rules: string) {
  const clock = createManualClock();
  const provider = createScriptedProvider(await parseScenario(`name: x\n${rules}`, "x.yaml"), { clock });
  const ask = async (...messages: Message[]): Promise<{ events: ModelEvent[]; outcome: ModelOutcome }> => {
    const events: ModelEvent[] = [];
    const emit = (event: ModelEvent) => void events.push(event);
    const outcome = await provider.chat({ request: request(...messages), emit, signal: new AbortController().signal });
    return { events, outcome };
  };
  /** The text of the answer, or the reason that there is none. */
  const answer = async (...messages: Message[]): Promise<string> => {
    const { events, outcome } = await ask(...messages);
    if (outcome.type === "failed") return outcome.reason;
    return events.map((event) => (event.type === "text" ? event.text : "")).join("");
  };
  return { clock, provider, ask, answer };
}

describe("a reply", () => {
  it("becomes events, block by block and word by word, and one outcome", async () => {
    const { ask } = await provide(`rules:
  - reply:
      - thinking: two words
      - text: "one  two\\nthree "
      - {tool: fs.read, args: {path: "{{input}}", list: ["{{input}}", 1, null]}}
      - {tool: exec, args: '{"broken {{input}}'}`);
    expect(await ask(said("hé"))).toEqual({
      events: [
        { type: "thinking", block: 0, text: "two " },
        { type: "thinking", block: 0, text: "words" },
        {
          type: "thinking_block",
          block: 0,
          content: { type: "thinking", provider: "scripted", data: { text: "two words" } },
        },
        { type: "text", block: 1, text: "one  " },
        { type: "text", block: 1, text: "two\n" },
        { type: "text", block: 1, text: "three " },
        { type: "tool_call", block: 2, name: "fs.read", arguments: '{"path":"hé","list":["hé",1,null]}' },
        { type: "tool_call", block: 3, name: "exec", arguments: '{"broken hé' },
      ],
      outcome: {
        type: "done",
        model: "scripted:x",
        stop: "tool_calls",
        // A quarter of the bytes of what was sent, and of 9 + 15 + (7 + 36) + (4 + 12) that were written.
        usage: { input_tokens: 17, output_tokens: 21, cache_read_tokens: 0, cache_write_tokens: 0 },
        costUsd: 0,
      },
    });
  });

  it("may hand the turn back, with a reason or without", async () => {
    const { ask } = await provide("rules: [{times: 1, reply: [{tool: a}, {yield: done}]}, {reply: [{yield: }]}]");
    const first = await ask(said("a"));
    expect(first.events.at(-1)).toEqual({ type: "yield", block: 1, reason: "done" });
    expect(first.outcome).toMatchObject({ type: "done", stop: "yield" });
    expect((await ask(said("a"))).events).toEqual([{ type: "yield", block: 0 }]);
  });

  it("may be nothing", async () => {
    const { ask } = await provide("rules: [{reply: []}]");
    expect(await ask(said("a"))).toMatchObject({ events: [], outcome: { stop: "end", usage: { output_tokens: 0 } } });
  });

  it("is the same every time", async () => {
    const { ask } = await provide("rules: [{reply: [{text: a b}, {tool: t, args: {x: 1}}]}]");
    expect(await ask(said("a"))).toEqual(await ask(said("a")));
  });

  it("bounds what a template inserts", async () => {
    const { answer } = await provide('rules: [{reply: [{text: "{{input}}"}]}]');
    const text = await answer(said("a".repeat(5000)));
    expect([text.length, text.at(-1)]).toEqual([4000, "…"]);
  });

  it("does not fill in what was filled in", async () => {
    const { answer } = await provide('rules: [{reply: [{text: "{{input}}{{tool_result}}"}]}]');
    expect(await answer(said("{{tool_result}}"), called(1, "t"), gave(1, "r"))).toBe("{{tool_result}}r");
  });
});

describe("a rule", () => {
  it("is the first that matches", async () => {
    const { answer } = await provide(`rules:
  - {when: {input: ELL}, reply: [{text: part}]}
  - {when: {input: '/^bye (\\w+)/'}, reply: [{text: "for {{input.1}}"}]}
otherwise: [{text: none}]`);
    expect(await answer(said("hello"))).toBe("part");
    expect(await answer(said("bye Ada, hello"))).toBe("part");
    expect(await answer(said("bye Ada"))).toBe("for Ada");
    expect(await answer(said("Bye Ada"))).toBe("none");
  });

  it("may ask for the step, the tool and the result; all must hold", async () => {
    const { answer } = await provide(`rules:
  - {when: {step: 2, tool: b, tool_result: OK}, reply: [{text: all}]}
  - {when: {tool: a}, reply: [{text: "a: {{tool_result}}"}]}
  - {when: {tool_result: ""}, reply: [{text: some result}]}
  - {when: {step: 1}, reply: [{text: first}]}
otherwise: [{text: none}]`);
    expect(await answer(said("x"))).toBe("first");
    expect(await answer(said("x"), called(1, "b"), gave(1, "it is ok"))).toBe("all");
    expect(await answer(said("x"), called(1, "b"), gave(1, "failed"))).toBe("some result");
    expect(await answer(said("x"), called(1, "b"), gave(1, "ok"), called(2, "a"), gave(2, "A"))).toBe("a: A");
  });

  it("looks at this turn only", async () => {
    const { answer } = await provide(`rules:
  - {when: {tool: a}, reply: [{text: result}]}
  - {when: {step: 1, input: two}, reply: [{text: new turn}]}`);
    const before = [said("one"), called(1, "a")];
    expect(await answer(...before, gave(1, "A"))).toBe("result");
    expect(await answer(...before, gave(1, "A"), { role: "assistant", content: [] }, said("two"))).toBe("new turn");
    // A turn that broke off: its results and the next input share a message.
    const joined: Message = { role: "user", content: [...gave(1, "A").content, ...said("two").content] } as Message;
    expect(await answer(...before, joined)).toBe("new turn");
  });

  it("is used up", async () => {
    const { answer } = await provide("rules: [{times: 2, reply: [{text: a}]}]\notherwise: [{text: b}]");
    expect([await answer(said("x")), await answer(said("x")), await answer(said("x"))]).toEqual(["a", "a", "b"]);
  });

  it("sees a bounded part of the input", async () => {
    const { answer } = await provide("rules: [{when: {input: end}, reply: []}]\notherwise: [{text: not seen}]");
    expect(await answer(said(`${"a".repeat(10_000)}end`))).toBe("not seen");
  });

  it("that is missing ends the call with what was asked", async () => {
    const { ask } = await provide("rules: []");
    expect((await ask(said("what now"), called(1, "t"), gave(1, "r"))).outcome).toEqual({
      type: "failed",
      reason: "ScenarioExhausted",
      message:
        'The scripted model has no reply for this input: step 2 after the result of t of the turn that began with "what now".',
      retryable: false,
    });
  });
});

describe("a fault", () => {
  it.each([
    ["rate_limited", "RateLimited", true],
    ["unavailable", "ProviderUnavailable", true],
    ["cut", "ProviderStreamCut", true],
    ["garbled", "ProviderGarbled", true],
    ["timeout", "ProviderTimeout", true],
    ["unauthorized", "ProviderUnauthorized", false],
    ["content_filter", "ContentFiltered", false],
    ["length", "OutputTruncated", true],
  ])("%s ends the call as %s", async (fault, reason, retryable) => {
    const { ask } = await provide(`rules: [{reply: [{fault: ${fault}}]}]`);
    const { outcome } = await ask(said("a"));
    expect(outcome).toMatchObject({ type: "failed", reason, retryable, message: expect.stringMatching(/^[^<>]+$/) });
  });

  it("comes so many times, then the reply goes on", async () => {
    const { answer } = await provide("rules: [{reply: [{fault: cut, times: 2}, {text: ok}]}]");
    expect([await answer(said("x")), await answer(said("x")), await answer(said("x"))]).toEqual([
      "ProviderStreamCut",
      "ProviderStreamCut",
      "ok",
    ]);
  });

  it("may come in the middle, and says when to try again", async () => {
    const { ask } = await provide("rules: [{reply: [{text: half an}, {fault: rate_limited, retry_after_ms: 250}]}]");
    const { events, outcome } = await ask(said("x"));
    expect(events).toHaveLength(2);
    expect(outcome).toMatchObject({ reason: "RateLimited", retryAfterMs: 250, usage: { output_tokens: 2 } });
  });
});

describe("a pause", () => {
  it("takes its time on the clock", async () => {
    const { clock, ask } = await provide("rules: [{reply: [{text: a}, {pause_ms: 500}, {text: b}]}]");
    const done = ask(said("x"));
    await clock.advance(499);
    expect(clock.sleeping).toBe(1);
    await clock.advance(1);
    expect((await done).events).toHaveLength(2);
  });

  it("ends at once on cancel", async () => {
    const { provider } = await provide("rules: [{reply: [{text: a}, {pause_ms: 500}, {text: b}]}]");
    const abort = new AbortController();
    const events: ModelEvent[] = [];
    const call = { request: request(said("x")), emit: (event: ModelEvent) => void events.push(event) };
    const done = provider.chat({ ...call, signal: abort.signal });
    abort.abort();
    expect(await done).toMatchObject({ type: "failed", reason: "Cancelled", retryable: false });
    expect(events).toHaveLength(1);
    expect(await provider.chat({ ...call, signal: abort.signal })).toMatchObject({ reason: "Cancelled" });
  });
});

it("names itself, its one model and its price", async () => {
  const { provider } = await provide("rules: []");
  expect(provider.name).toBe("scripted");
  expect(await provider.models(new AbortController().signal)).toEqual([
    { id: "scripted:x", priceUsdPerMillion: { input: 0, output: 0 } },
  ]);
  expect(provider.countTokens(request(said("hé")))).toBe(17);
});
