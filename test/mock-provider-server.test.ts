/** The mock vendor against the vendors' own clients, and our requests against those that the clients would send. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CallId, type Message } from "#protocol";
import { createProvider } from "#providers";
import { callModel, testPorts, userRequest } from "./fakes/call-model.ts";
import { type MockMessage, type MockProviderServer, startMockProvider } from "./fakes/mock-provider-server.ts";

const KEY = "sk-test-0123456789";
const CALL_1 = CallId.from("01HXX000000000000000000001");
const CALL_2 = CallId.from("01HXX000000000000000000002");

let mock: MockProviderServer;
let anthropic: Anthropic;
let openai: OpenAI;
beforeAll(async () => {
  mock = await startMockProvider();
  anthropic = new Anthropic({ apiKey: KEY, baseURL: mock.url, maxRetries: 0 });
  openai = new OpenAI({ apiKey: KEY, baseURL: `${mock.url}/v1`, maxRetries: 0 });
});
afterAll(() => mock.close());

const reply: MockMessage = {
  type: "message",
  blocks: [
    { type: "thinking", text: "let me see", signature: "c2ln", deltas: 3 },
    { type: "text", text: "Grüße 🌍", deltas: 4 },
    { type: "tool_call", name: "fs_read", arguments: '{"path":"a.txt"}', deltas: 4 },
    { type: "tool_call", name: "exec", arguments: '{"command":"ls"}', deltas: 2 },
  ],
  usage: { input: 3, output: 7, cacheRead: 100, cacheWrite: 50 },
};
const parameters = { type: "object", properties: { path: { type: "string" } } } as const;

describe("Anthropic's client", () => {
  const params = {
    model: "claude-haiku-4-5",
    max_tokens: 100,
    messages: [{ role: "user", content: "hello" }],
  } satisfies Anthropic.MessageStreamParams;

  test("reads text, thinking, tool calls and usage", async () => {
    mock.reply(reply);
    const message = await anthropic.messages.stream(params).finalMessage();
    expect(message).toMatchObject({
      role: "assistant",
      model: "claude-haiku-4-5",
      stop_reason: "tool_use",
      content: [
        { type: "thinking", thinking: "let me see", signature: "c2ln" },
        { type: "text", text: "Grüße 🌍" },
        { type: "tool_use", name: "fs_read", input: { path: "a.txt" } },
        { type: "tool_use", name: "exec", input: { command: "ls" } },
      ],
      usage: {
        input_tokens: 3,
        output_tokens: 7,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 50,
      },
    });
  });

  test("understands the mock's refusals, error statuses and error events", async () => {
    const orphan = {
      ...params,
      messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_x", content: "?" }] }],
    } satisfies Anthropic.MessageStreamParams;
    await expect(anthropic.messages.stream(orphan).finalMessage()).rejects.toBeInstanceOf(Anthropic.BadRequestError);

    const body = JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "slow down" } });
    mock.reply({ type: "http", status: 429, headers: { "content-type": "application/json" }, body });
    const limited = anthropic.messages.stream(params).finalMessage();
    await expect(limited).rejects.toMatchObject({ status: 429, apiMessage: "slow down" });

    const event = `event: error\ndata: ${JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "busy" } })}\n\n`;
    mock.reply({ ...reply, fault: { type: "event", afterEvents: 4, event } });
    await expect(anthropic.messages.stream(params).finalMessage()).rejects.toThrow("busy");
  });
});

describe("OpenAI's client", () => {
  const params = {
    model: "gpt-4o",
    messages: [{ role: "user", content: "hello" }],
    stream: true,
    stream_options: { include_usage: true },
  } satisfies OpenAI.ChatCompletionCreateParamsStreaming;

  test("reads text, interleaved tool calls and usage", async () => {
    mock.reply({ ...reply, interleaveCalls: true });
    const completion = await openai.chat.completions.stream(params).finalChatCompletion();
    expect(completion.choices).toMatchObject([
      {
        finish_reason: "tool_calls",
        message: {
          role: "assistant",
          content: "Grüße 🌍",
          tool_calls: expect.arrayContaining([
            expect.objectContaining({
              function: expect.objectContaining({ name: "fs_read", arguments: '{"path":"a.txt"}' }),
            }),
            expect.objectContaining({
              function: expect.objectContaining({ name: "exec", arguments: '{"command":"ls"}' }),
            }),
          ]),
        },
      },
    ]);
    expect(completion.usage).toMatchObject({
      prompt_tokens: 153,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 50 },
    });
  });

  test("understands the mock's refusals, error statuses and a cut stream", async () => {
    const orphan = {
      ...params,
      messages: [{ role: "tool", tool_call_id: "call_x", content: "?" }],
    } satisfies OpenAI.ChatCompletionCreateParamsStreaming;
    await expect(openai.chat.completions.create(orphan)).rejects.toBeInstanceOf(OpenAI.BadRequestError);

    mock.reply({
      type: "http",
      status: 401,
      headers: { "content-type": "application/json" },
      body: '{"error":{"message":"no"}}',
    });
    await expect(openai.chat.completions.create(params)).rejects.toBeInstanceOf(OpenAI.AuthenticationError);

    mock.reply({ ...reply, fault: { type: "cut", afterEvents: 4 } });
    const cut = openai.chat.completions.stream(params).finalChatCompletion();
    await expect(cut).rejects.toThrow();
  });
});

describe("our requests are those of the vendors' clients for the same conversation", () => {
  const tools = [
    { name: "fs.read", description: "Reads a file.", parameters },
    { name: "exec", description: "Runs a program.", parameters },
  ];
  const messages: Message[] = [
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "image", media_type: "image/png", data: "aGk=" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "text", text: "reading" },
        { type: "tool_use", id: CALL_1, name: "fs.read", input: { path: "a" } },
        { type: "tool_use", id: CALL_2, name: "exec", input: { path: "b" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: CALL_1, content: [{ type: "text", text: "A" }], is_error: false },
        { type: "tool_result", tool_use_id: CALL_2, content: [{ type: "text", text: "B" }], is_error: true },
        { type: "text", text: "and?" },
      ],
    },
  ];
  const rest = { system: ["Be brief."], messages, tools, maxTokens: 500 };
  const bodies = (): unknown[] => mock.requests.slice(-2).map(({ body }) => body);
  beforeEach(() => mock.reply(reply, reply));

  test("Anthropic", async () => {
    const cache_control = { type: "ephemeral" } as const;
    const params = {
      model: "claude-sonnet-5-5",
      max_tokens: 500,
      stream: true,
      thinking: {
        type: "adaptive",
        display: "summarized",
        block_binding: { prefix_mismatch_behavior: "drop_block" },
      },
      system: [{ type: "text", text: "Be brief.", cache_control }],
      tools: [
        { name: "fs_read", description: "Reads a file.", input_schema: parameters },
        { name: "exec", description: "Runs a program.", input_schema: parameters, cache_control },
      ],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "text", text: "reading" },
            { type: "tool_use", id: CALL_1, name: "fs_read", input: { path: "a" } },
            { type: "tool_use", id: CALL_2, name: "exec", input: { path: "b" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: CALL_1, content: [{ type: "text", text: "A" }] },
            { type: "tool_result", tool_use_id: CALL_2, content: [{ type: "text", text: "B" }], is_error: true },
            { type: "text", text: "and?", cache_control },
          ],
        },
      ],
    } satisfies Anthropic.Beta.MessageCreateParamsStreaming;
    const betas = ["thinking-binding-controls-2026-08-01"];
    await drain(await anthropic.beta.messages.create({ ...params, betas }));
    const model = "anthropic:claude-sonnet-5-5";
    await callModel(createProvider({ model, baseUrl: mock.url }, testPorts()), userRequest(model, rest));
    const [theirs, ours] = bodies();
    expect(ours).toEqual(theirs);
    const [theirBeta, ourBeta] = mock.requests.slice(-2).map(({ headers }) => headers["anthropic-beta"]);
    expect(ourBeta).toEqual(theirBeta);
  });

  test("OpenAI", async () => {
    const call = (id: string, name: string, path: string) =>
      ({ id, type: "function", function: { name, arguments: JSON.stringify({ path }) } }) as const;
    const params = {
      model: "gpt-6.1-terra",
      max_completion_tokens: 500,
      reasoning_effort: "none",
      prompt_cache_key: "session",
      stream: true,
      stream_options: { include_usage: true },
      tools: [
        { type: "function", function: { name: "fs_read", description: "Reads a file.", parameters } },
        { type: "function", function: { name: "exec", description: "Runs a program.", parameters } },
      ],
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
          ],
        },
        {
          role: "assistant",
          content: "reading",
          tool_calls: [call(CALL_1, "fs_read", "a"), call(CALL_2, "exec", "b")],
        },
        { role: "tool", tool_call_id: CALL_1, content: "A" },
        { role: "tool", tool_call_id: CALL_2, content: "Error: B" },
        { role: "user", content: "and?" },
      ],
    } satisfies OpenAI.ChatCompletionCreateParamsStreaming;
    await drain(await openai.chat.completions.create(params));
    const model = "openai:gpt-6.1-terra";
    const provider = createProvider({ model, baseUrl: `${mock.url}/v1` }, testPorts());
    await callModel(provider, userRequest(model, { ...rest, cacheKey: "session" }));
    const [theirs, ours] = bodies();
    expect(ours).toEqual(theirs);
  });
});

describe("the mock", () => {
  test("streams 20,000 deltas fast when asked to write in batches", async () => {
    mock.reply({
      type: "message",
      blocks: [{ type: "text", text: "hello ".repeat(20_000), deltas: 20_000 }],
      eventsPerWrite: 500,
    });
    const model = "anthropic:claude-haiku-4-5";
    const provider = createProvider({ model, baseUrl: mock.url }, testPorts());
    expect((await callModel(provider, userRequest(model))).events).toHaveLength(20_000);
  });

  test("paces its writes and says when it has no reply left", async () => {
    const paced: number[] = [];
    mock.reply({ type: "message", blocks: [], pace: (written) => void paced.push(written) });
    const model = "openai:gpt-4o";
    const provider = createProvider({ model, baseUrl: `${mock.url}/v1`, retry: { maxRetries: 0 } }, testPorts());
    await callModel(provider, userRequest(model));
    expect(paced).toEqual([0, 1, 2, 3]);
    expect((await callModel(provider, userRequest(model))).outcome).toMatchObject({ reason: "ProviderUnavailable" });
  });
});

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}
