import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { callModel, testPorts, userRequest } from "../../test/fakes/call-model.ts";
import { type MockProviderServer, startMockProvider } from "../../test/fakes/mock-provider-server.ts";
import { createProvider } from "./create.ts";

let mock: MockProviderServer;
beforeAll(async () => {
  mock = await startMockProvider();
});
afterAll(() => mock.close());

const caps = (): unknown[] =>
  mock.requests.map(({ body }) => {
    const { max_tokens, max_completion_tokens } = body as { max_tokens?: number; max_completion_tokens?: number };
    return max_tokens ?? max_completion_tokens;
  });

describe.each([
  {
    model: "anthropic:claude-haiku-4-5",
    path: "",
    stop: "max_tokens",
    price: { input: 1, output: 5 },
    maximum: 64_000,
  },
  { model: "openai:gpt-4o", path: "/v1", stop: "length", price: { input: 2.5, output: 10 }, maximum: 16_384 },
])("an answer of $model that hit its cap", ({ model, path, stop, price, maximum }) => {
  const provider = (maxRetries = 3) =>
    createProvider({ model, baseUrl: mock.url + path, retry: { maxRetries } }, testPorts());
  const cut = { type: "message", blocks: [{ type: "text", text: "half" }], stop } as const;
  const whole = { type: "message", blocks: [{ type: "text", text: "whole" }] } as const;
  const retrying = (to: number) => ({
    type: "retrying",
    reason: "OutputTruncated",
    message: `The response reached its limit of output tokens; retrying with ${to}.`,
    retryAfterMs: 0,
    retry: { attempt: 1, of: 3 },
  });

  test("is asked for again with twice the cap; both are paid", async () => {
    mock.reply(cut, whole);
    expect(await callModel(provider(), userRequest(model, { maxTokens: 100 }))).toEqual({
      events: [{ type: "text", block: 0, text: "half" }, retrying(200), { type: "text", block: 0, text: "whole" }],
      outcome: {
        type: "done",
        model,
        stop: "end",
        usage: { input_tokens: 20, output_tokens: 40, cache_read_tokens: 0, cache_write_tokens: 0 },
        costUsd: expect.closeTo((20 * price.input + 40 * price.output) / 1_000_000, 12),
      },
    });
    expect(caps().slice(-2)).toEqual([100, 200]);
  });

  test("is asked for as often as retries allow, and fails then", async () => {
    mock.reply(cut, cut, cut);
    const { outcome } = await callModel(provider(2), userRequest(model, { maxTokens: 100 }));
    expect(outcome).toMatchObject({
      type: "failed",
      reason: "OutputTruncated",
      message: "The response reached its limit of 400 output tokens. Raise max_tokens, or ask for less at once.",
      usage: { input_tokens: 30, output_tokens: 60 },
      costUsd: expect.closeTo((30 * price.input + 60 * price.output) / 1_000_000, 12),
    });
    expect(caps().slice(-3)).toEqual([100, 200, 400]);
    const before = mock.requests.length;
    mock.reply(cut);
    await callModel(provider(0), userRequest(model, { maxTokens: 100 }));
    expect(mock.requests.length).toBe(before + 1);
  });

  test("is never asked for with more than the model's maximum", async () => {
    mock.reply(cut, cut);
    await callModel(provider(), userRequest(model, { maxTokens: maximum - 1 }));
    expect(caps().slice(-2)).toEqual([maximum - 1, maximum]);
    const before = mock.requests.length;
    mock.reply(cut);
    const { events, outcome } = await callModel(provider(), userRequest(model, { maxTokens: maximum * 2 }));
    expect(events).toEqual([{ type: "text", block: 0, text: "half" }]);
    expect(outcome).toMatchObject({ reason: "OutputTruncated" });
    expect(mock.requests.length).toBe(before + 1);
  });

  test("a tool call in it never becomes an answer", async () => {
    const call = { type: "tool_call", name: "x", arguments: '{"half":' } as const;
    mock.reply({ type: "message", blocks: [call], stop }, { type: "message", blocks: [call], stop });
    const { outcome } = await callModel(provider(1), userRequest(model, { maxTokens: 100 }));
    expect(outcome).toMatchObject({ reason: "OutputTruncated" });
  });
});

test("a request that cannot fit is not sent", async () => {
  const before = mock.requests.length;
  const model = "openai:gpt-4o";
  const long = { role: "user", content: [{ type: "text", text: "x".repeat(500_000) }] } as const;
  const provider = createProvider({ model, baseUrl: `${mock.url}/v1` }, testPorts());
  const { outcome } = await callModel(provider, userRequest(model, { messages: [long] }));
  expect(outcome).toMatchObject({ type: "failed", reason: "ContextOverflow", retryable: false });
  expect(mock.requests.length).toBe(before);
});

test("retries go through the whole stack: two failures, then the answer", async () => {
  const model = "anthropic:claude-haiku-4-5";
  const ports = testPorts();
  mock.reply(
    { type: "http", status: 529, body: '{"error":{"type":"overloaded_error","message":"busy"}}' },
    {
      type: "message",
      blocks: [{ type: "text", text: "half of it", deltas: 5 }],
      fault: { type: "cut", afterEvents: 5 },
    },
    { type: "message", blocks: [{ type: "text", text: "all" }] },
  );
  const pending = callModel(createProvider({ model, baseUrl: mock.url }, ports), userRequest(model));
  let over = false;
  void pending.then(() => {
    over = true;
  });
  while (!over) await ports.clock.advance(100);
  const { events, outcome } = await pending;
  expect(events.map((event) => (event.type === "retrying" ? event.reason : event.type))).toEqual([
    "ProviderUnavailable",
    "text",
    "text",
    "ProviderStreamCut",
    "text",
  ]);
  expect(outcome).toMatchObject({ type: "done", stop: "end" });
});

test("a model without a known price is not asked where a budget needs one", async () => {
  const model = "ollama:unpriced";
  const ports = testPorts();
  const listed = await startMockProvider({
    models: { data: [{ id: "listed", pricing: { prompt: "1", completion: "2" } }] },
  });
  onTestFinished(() => listed.close());
  const provider = createProvider({ model, baseUrl: `${listed.url}/v1` }, ports);
  const ask = (name: string) => callModel(provider, userRequest(name), undefined, { needsPrice: true });
  expect((await ask(model)).outcome).toMatchObject({ type: "failed", reason: "PriceUnknown", retryable: false });
  expect(listed.requests.map(({ path }) => path)).toEqual(["/v1/models"]);
  listed.reply({ type: "message", blocks: [{ type: "text", text: "ok" }] });
  expect((await ask("ollama:listed")).outcome).toMatchObject({ type: "done", costUsd: 50 });
});

test.each([
  ["zai:glm-5.3", false],
  ["zai:glm-5.3-flash", false],
  ["zai:glm-5.3v", true],
  ["openai:gpt-4o", true],
])("%s is sent images of files and tools: %s; a model that reads none gets a note instead", async (model, isSent) => {
  mock.reply({ type: "message", blocks: [{ type: "text", text: "seen" }] });
  const image = { type: "image", media_type: "image/png", data: "aGk=" } as const;
  const content = [{ type: "text", text: "look" } as const, image];
  const request = userRequest(model, { messages: [{ role: "user", content }] });
  await callModel(createProvider({ model, baseUrl: `${mock.url}/v1` }, testPorts()), request);
  const sent = JSON.stringify(mock.requests.at(-1)?.body);
  expect([sent.includes("aGk="), sent.includes("an image that this model cannot read")]).toEqual([isSent, !isSent]);
});
