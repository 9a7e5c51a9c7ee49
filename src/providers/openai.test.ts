import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CallId, type Message } from "#protocol";
import { callModel, testPorts, userRequest } from "../../test/fakes/call-model.ts";
import { type MockProviderServer, startMockProvider } from "../../test/fakes/mock-provider-server.ts";
import { createProvider } from "./create.ts";

const MODEL = "zai:glm-5.3v";
const CALL_1 = CallId.from("01HXX000000000000000000001");
const CALL_2 = CallId.from("01HXX000000000000000000002");
const readTool = { name: "fs.read", description: "Reads a file.", parameters: { type: "object", properties: {} } };

let mock: MockProviderServer;
beforeAll(async () => {
  mock = await startMockProvider();
});
afterAll(() => mock.close());

function provider(model = MODEL) {
  return createProvider({ model, baseUrl: `${mock.url}/v1/` }, testPorts());
}

const lastBody = (): unknown => mock.requests.at(-1)?.body;

describe("requests", () => {
  const messages: Message[] = [
    { role: "user", content: [{ type: "text", text: "look" }] },
    {
      role: "user",
      content: [
        { type: "text", text: "here" },
        { type: "image", media_type: "image/png", data: "aGk=" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", provider: "openai", data: { reasoning_content: "first " } },
        { type: "thinking", provider: "anthropic", data: { type: "thinking", thinking: "not ours" } },
        { type: "thinking", provider: "openai", data: { reasoning_content: "second" } },
        { type: "tool_use", id: CALL_1, name: "fs.read", input: { path: "a" } },
        { type: "tool_use", id: CALL_2, name: "gone.tool", input: "not json" },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: CALL_1,
          content: [
            { type: "text", text: "A" },
            { type: "image", media_type: "image/jpeg", data: "aGk=" },
          ],
          is_error: false,
        },
        { type: "tool_result", tool_use_id: CALL_2, content: [], is_error: true },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "fine" }] },
    { role: "assistant", content: [{ type: "text", text: "really" }] },
    { role: "user", content: [{ type: "text", text: "thanks" }] },
  ];

  test("carry the conversation in the order the wire wants; images of results follow as a user message", async () => {
    mock.reply({ type: "message", blocks: [{ type: "text", text: "ok" }] });
    const request = userRequest(MODEL, {
      system: ["Be brief."],
      messages,
      tools: [readTool],
      maxTokens: 500,
      temperature: 0.5,
      cacheKey: "session",
    });
    await callModel(provider(), request);
    const call = (id: string, name: string, args: string) => ({
      id,
      type: "function",
      function: { name, arguments: args },
    });
    expect(lastBody()).toEqual({
      model: "glm-5.3v",
      max_tokens: 500,
      temperature: 0.5,
      stream: true,
      stream_options: { include_usage: true },
      tools: [
        {
          type: "function",
          function: { name: "fs_read", description: "Reads a file.", parameters: readTool.parameters },
        },
      ],
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "text", text: "here" },
            { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
          ],
        },
        {
          role: "assistant",
          content: null,
          reasoning_content: "first second",
          tool_calls: [
            call(CALL_1, "fs_read", '{"path":"a"}'),
            call(CALL_2, "gone_tool", '{"invalid_arguments":"not json"}'),
          ],
        },
        { role: "tool", tool_call_id: CALL_1, content: "A" },
        { role: "tool", tool_call_id: CALL_2, content: "Error: (no output)" },
        {
          role: "user",
          content: [
            { type: "text", text: `Images from the result of ${CALL_1}:` },
            { type: "image_url", image_url: { url: "data:image/jpeg;base64,aGk=" } },
          ],
        },
        { role: "assistant", content: "fine\n\nreally" },
        { role: "user", content: "thanks" },
      ],
    });
    expect(mock.requests.at(-1)).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: "Bearer sk-test-0123456789" },
    });
  });

  test("leave out texts of blanks alone", async () => {
    mock.reply({ type: "message", blocks: [{ type: "text", text: "ok" }] });
    const blank = { type: "text", text: " \n" } as const;
    const messages: Message[] = [
      { role: "user", content: [blank] },
      { role: "assistant", content: [blank] },
      { role: "user", content: [{ type: "text", text: "and?" }, blank] },
    ];
    await callModel(createProvider({ model: "openai:gpt-4o", baseUrl: `${mock.url}/v1` }, testPorts()), {
      ...userRequest("openai:gpt-4o"),
      ...{ system: [" "], messages },
    });
    expect(mock.requests.at(-1)?.body).toMatchObject({
      messages: [
        { role: "user", content: "(blank)" },
        { role: "user", content: "and?" },
      ],
    });
  });

  test("to OpenAI itself: its cap field, the cache key, no reasoning back, no effort with tools", async () => {
    mock.reply({ type: "message", blocks: [{ type: "text", text: "ok" }] });
    const model = "openai:gpt-6.1-terra";
    const request = userRequest(model, {
      messages: [
        { role: "user", content: [{ type: "text", text: "hi" }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", provider: "openai", data: { reasoning_content: "hm" } },
            { type: "text", text: "yes?" },
          ],
        },
        { role: "user", content: [{ type: "text", text: "go" }] },
      ],
      tools: [readTool],
      maxTokens: 500,
      temperature: 0.5,
      cacheKey: "session",
    });
    await callModel(provider(model), request);
    expect(lastBody()).toEqual({
      model: "gpt-6.1-terra",
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "yes?" },
        { role: "user", content: "go" },
      ],
      tools: [expect.objectContaining({ type: "function" })],
      reasoning_effort: "none",
      max_completion_tokens: 500,
      prompt_cache_key: "session",
      stream: true,
      stream_options: { include_usage: true },
    });
  });
});

describe("responses", () => {
  test("text with usage; cached tokens are counted apart", async () => {
    mock.reply({
      type: "message",
      blocks: [{ type: "text", text: "hello world", deltas: 3 }],
      usage: { input: 3, output: 7, cacheRead: 100, cacheWrite: 50 },
    });
    const { events, outcome } = await callModel(provider(), userRequest(MODEL));
    expect(events).toEqual([
      { type: "text", block: 0, text: "hel" },
      { type: "text", block: 0, text: "lo w" },
      { type: "text", block: 0, text: "orld" },
    ]);
    expect(outcome).toEqual({
      type: "done",
      model: MODEL,
      stop: "end",
      usage: { input_tokens: 3, output_tokens: 7, cache_read_tokens: 100, cache_write_tokens: 50 },
      costUsd: (3 * 1.4 + 7 * 4.4 + 100 * 0.26 + 50 * 1.4) / 1_000_000,
    });
  });

  test.each(["reasoning_content", "reasoning"] as const)("%s becomes a thinking block to echo", async (field) => {
    mock.reply({
      type: "message",
      blocks: [
        { type: "thinking", text: "let me see", field, deltas: 2 },
        { type: "text", text: "done" },
      ],
    });
    const { events } = await callModel(provider(), userRequest(MODEL));
    expect(events).toEqual([
      { type: "thinking", block: 0, text: "let m" },
      { type: "thinking", block: 0, text: "e see" },
      {
        type: "thinking_block",
        block: 0,
        content: { type: "thinking", provider: "openai", data: { [field]: "let me see" } },
      },
      { type: "text", block: 1, text: "done" },
    ]);
  });

  test("reasoning_details are joined by entry and shown once", async () => {
    mock.reply({
      type: "message",
      blocks: [
        { type: "thinking", text: "let me see", field: "reasoning_details", deltas: 2 },
        { type: "text", text: "done" },
      ],
    });
    const { events } = await callModel(provider(), userRequest(MODEL));
    const detail = { type: "reasoning.text", text: "let me see", index: 0, format: "unknown" };
    expect(events.slice(0, 3)).toEqual([
      { type: "thinking", block: 0, text: "let m" },
      { type: "thinking", block: 0, text: "e see" },
      {
        type: "thinking_block",
        block: 0,
        content: {
          type: "thinking",
          provider: "openai",
          data: { reasoning: "let me see", reasoning_details: [detail] },
        },
      },
    ]);
  });

  test("parallel tool calls whose pieces come interleaved and in reverse", async () => {
    mock.reply({
      type: "message",
      interleaveCalls: true,
      blocks: [
        { type: "text", text: "both" },
        { type: "tool_call", name: "fs_read", arguments: '{"path":"a.txt"}', deltas: 3 },
        { type: "tool_call", name: "made_up", arguments: '{"n":1}', deltas: 5 },
        { type: "tool_call", name: "fs_read", arguments: "" },
      ],
    });
    const { events, outcome } = await callModel(provider(), userRequest(MODEL, { tools: [readTool] }));
    expect(events).toEqual([
      { type: "text", block: 0, text: "both" },
      { type: "tool_call", block: 1, name: "fs.read", arguments: '{"path":"a.txt"}' },
      { type: "tool_call", block: 2, name: "made_up", arguments: '{"n":1}' },
      { type: "tool_call", block: 3, name: "fs.read", arguments: "{}" },
    ]);
    expect(outcome).toMatchObject({ type: "done", stop: "tool_calls" });
  });

  test("tool calls with a plain stop are tool calls", async () => {
    mock.reply({ type: "message", blocks: [{ type: "tool_call", name: "x", arguments: "{}" }], stop: "stop" });
    const { outcome } = await callModel(provider(), userRequest(MODEL));
    expect(outcome).toMatchObject({ type: "done", stop: "tool_calls" });
  });

  test("what OpenRouter says it charged is the cost", async () => {
    mock.reply({ type: "message", blocks: [], usage: { input: 1, output: 1, costUsd: 0.25 } });
    const model = "openrouter:anthropic/claude-sonnet-5.5";
    const { outcome } = await callModel(provider(model), userRequest(model));
    expect(outcome).toMatchObject({ type: "done", costUsd: 0.25 });
  });

  test("without usage there is no cost, although the price is known", async () => {
    const body = `data: ${JSON.stringify({ choices: [{ delta: { content: "ok" }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;
    mock.reply({ type: "http", status: 200, headers: { "content-type": "text/event-stream" }, body });
    const { outcome } = await callModel(provider(), userRequest(MODEL));
    const usage = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };
    expect(outcome).toEqual({ type: "done", model: MODEL, stop: "end", usage });
  });

  test("calls without an index are told apart by their ids", async () => {
    const deltas = [
      { id: "a", function: { name: "one", arguments: '{"x":' } },
      { function: { arguments: "1}" } },
      { id: "b", function: { name: "two", arguments: "{}" } },
    ];
    const chunks = deltas.map((call) => ({ choices: [{ delta: { tool_calls: [call] } }] }));
    const events = [...chunks, { choices: [{ delta: {}, finish_reason: "tool_calls" }] }].map((chunk) =>
      JSON.stringify(chunk),
    );
    const body = [...events, "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
    mock.reply({ type: "http", status: 200, headers: { "content-type": "text/event-stream" }, body });
    expect((await callModel(provider(), userRequest(MODEL))).events).toEqual([
      { type: "tool_call", block: 0, name: "one", arguments: '{"x":1}' },
      { type: "tool_call", block: 1, name: "two", arguments: "{}" },
    ]);
  });

  test("a refusal is a filtered answer", async () => {
    const event = `data: ${JSON.stringify({ choices: [{ delta: { refusal: "I cannot." } }] })}\n\n`;
    mock.reply({ type: "message", blocks: [], fault: { type: "event", afterEvents: 1, event } });
    const { outcome } = await callModel(provider(), userRequest(MODEL));
    expect(outcome).toEqual({
      type: "failed",
      reason: "ContentFiltered",
      message: "zai withheld the response (content filter). I cannot.",
      retryable: false,
    });
  });
});

test("a model that caches only what is marked gets a mark behind the prompt and behind the conversation", async () => {
  const body = async (model: string) => {
    mock.reply({ type: "message", blocks: [{ type: "text", text: "ok" }] });
    const made = createProvider({ model, baseUrl: `${mock.url}/v1` }, testPorts());
    await callModel(made, userRequest(model, { system: ["Be", "brief."] }));
    return (lastBody() as { messages: unknown }).messages;
  };
  const cache_control = { type: "ephemeral" };
  expect(await body("openrouter:anthropic/claude-sonnet-5.5")).toEqual([
    { role: "system", content: "Be" },
    { role: "system", content: [{ type: "text", text: "brief.", cache_control }] },
    { role: "user", content: [{ type: "text", text: "hello", cache_control }] },
  ]);
  expect(JSON.stringify(await body("openrouter:openai/gpt-6-sol"))).not.toContain("cache_control");
});
