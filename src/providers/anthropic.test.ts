import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CallId, type Message } from "#protocol";
import { callModel, testPorts, userRequest } from "../../test/fakes/call-model.ts";
import { type MockProviderServer, startMockProvider } from "../../test/fakes/mock-provider-server.ts";
import { createProvider } from "./create.ts";

const MODEL = "anthropic:claude-haiku-4-5";
const CALL_1 = CallId.from("01HXX000000000000000000001");
const CALL_2 = CallId.from("01HXX000000000000000000002");
const readTool = { name: "fs.read", description: "Reads a file.", parameters: { type: "object", properties: {} } };
const execTool = { name: "exec", description: "Runs a program.", parameters: { type: "object" } };

let mock: MockProviderServer;
beforeAll(async () => {
  mock = await startMockProvider();
});
afterAll(() => mock.close());

function provider(model = MODEL) {
  return createProvider({ model, baseUrl: mock.url }, testPorts());
}

const lastBody = (): unknown => mock.requests.at(-1)?.body;

describe("requests", () => {
  test("carry the conversation, our call ids, wire names and three cache breakpoints", async () => {
    mock.reply({ type: "message", blocks: [{ type: "text", text: "ok" }] });
    const thinking = { type: "thinking", thinking: "hm", signature: "c2ln" };
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
          { type: "thinking", provider: "anthropic", data: thinking },
          { type: "thinking", provider: "openai", data: { reasoning_content: "not ours" } },
          { type: "text", text: "reading" },
          { type: "tool_use", id: CALL_1, name: "fs.read", input: { path: "a" } },
          { type: "tool_use", id: CALL_2, name: "exec", input: "not json" },
          { type: "yield", reason: "done" },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: CALL_1, content: [{ type: "text", text: "A" }], is_error: false },
        ],
      },
      {
        role: "user",
        content: [
          { type: "text", text: "and?" },
          { type: "tool_result", tool_use_id: CALL_2, content: [], is_error: true },
        ],
      },
    ];
    const request = userRequest(MODEL, {
      system: ["Be brief.", "", "Be kind."],
      messages,
      tools: [readTool, execTool],
      maxTokens: 500,
      temperature: 0.5,
      cacheKey: "session",
    });
    await callModel(provider(), request);
    const cache_control = { type: "ephemeral" };
    expect(lastBody()).toEqual({
      model: "claude-haiku-4-5",
      max_tokens: 500,
      temperature: 0.5,
      stream: true,
      system: [
        { type: "text", text: "Be brief." },
        { type: "text", text: "Be kind.", cache_control },
      ],
      tools: [
        { name: "fs_read", description: "Reads a file.", input_schema: readTool.parameters },
        { name: "exec", description: "Runs a program.", input_schema: { type: "object" }, cache_control },
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
            thinking,
            { type: "text", text: "reading" },
            { type: "tool_use", id: CALL_1, name: "fs_read", input: { path: "a" } },
            { type: "tool_use", id: CALL_2, name: "exec", input: { invalid_arguments: "not json" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: CALL_1, content: [{ type: "text", text: "A" }] },
            {
              type: "tool_result",
              tool_use_id: CALL_2,
              content: [{ type: "text", text: "(no output)" }],
              is_error: true,
            },
            { type: "text", text: "and?", cache_control },
          ],
        },
      ],
    });
    expect(mock.requests.at(-1)?.headers).toMatchObject({
      "x-api-key": "sk-test-0123456789",
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
    });
  });

  test("leave out texts of blanks alone, and put the images of an error behind the results", async () => {
    mock.reply({ type: "message", blocks: [{ type: "text", text: "ok" }] });
    const image = { type: "image", media_type: "image/png", data: "aGk=" } as const;
    const blank = { type: "text", text: " \n" } as const;
    const thinking = { type: "thinking", thinking: "hm", signature: "c2ln" };
    const messages: Message[] = [
      { role: "user", content: [blank] },
      { role: "assistant", content: [blank, { type: "tool_use", id: CALL_1, name: "exec", input: {} }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: CALL_1, content: [blank, image], is_error: true }],
      },
      { role: "assistant", content: [{ type: "thinking", provider: "anthropic", data: thinking }, blank] },
      { role: "user", content: [{ type: "text", text: "and?" }, blank] },
    ];
    const request = { ...userRequest(MODEL), system: [" "], messages };
    expect((await callModel(provider(), request)).outcome.type).toBe("done");
    const result = [{ type: "text", text: "(see the images below)" }];
    const source = { type: "base64", media_type: "image/png", data: "aGk=" };
    expect(lastBody()).toMatchObject({
      messages: [
        { role: "user", content: [{ type: "text", text: "(blank)" }] },
        { role: "assistant", content: [{ type: "tool_use", id: CALL_1 }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: CALL_1, content: result, is_error: true },
            { type: "text", text: `Images from the result of ${CALL_1}:` },
            { type: "image", source },
            { type: "text", text: "and?" },
          ],
        },
      ],
    });
    expect(lastBody()).not.toHaveProperty("system");
  });

  test("ask newer models for readable thinking, to forget what is stale, and send them no temperature", async () => {
    mock.reply({ type: "message", blocks: [{ type: "text", text: "ok" }] });
    const model = "anthropic:claude-sonnet-5-5";
    const headers = { "Anthropic-Beta": "mine" };
    const configured = createProvider({ model, baseUrl: mock.url, headers }, testPorts());
    await callModel(configured, userRequest(model, { temperature: 0.5 }));
    expect(mock.requests.at(-1)?.headers["anthropic-beta"]).toBe("mine,thinking-binding-controls-2026-08-01");
    expect(lastBody()).toEqual({
      model: "claude-sonnet-5-5",
      max_tokens: 32_000,
      thinking: {
        type: "adaptive",
        display: "summarized",
        block_binding: { prefix_mismatch_behavior: "drop_block" },
      },
      stream: true,
      messages: [{ role: "user", content: [{ type: "text", text: "hello", cache_control: { type: "ephemeral" } }] }],
    });
  });
});

describe("responses", () => {
  test("text, in the pieces in which it comes, multi-byte characters intact", async () => {
    mock.reply({
      type: "message",
      blocks: [{ type: "text", text: "Grüße, 世界 🌍!", deltas: 5 }],
      usage: { input: 3, output: 7, cacheRead: 100, cacheWrite: 50 },
    });
    const { events, outcome } = await callModel(provider(), userRequest(MODEL));
    expect(events).toHaveLength(5);
    expect(events.map((event) => (event.type === "text" ? event.text : event.type)).join("")).toBe("Grüße, 世界 🌍!");
    expect(outcome).toEqual({
      type: "done",
      model: MODEL,
      stop: "end",
      usage: { input_tokens: 3, output_tokens: 7, cache_read_tokens: 100, cache_write_tokens: 50 },
      costUsd: (3 * 1 + 7 * 5 + 100 * 0.1 + 50 * 1.25) / 1_000_000,
    });
  });

  test("thinking with its signature, redacted thinking, text and tool calls, each whole at its end", async () => {
    mock.reply({
      type: "message",
      blocks: [
        { type: "thinking", text: "let me see", signature: "c2ln", deltas: 2 },
        { type: "redacted_thinking", data: "b3BhcXVl" },
        { type: "text", text: "reading" },
        { type: "tool_call", name: "fs_read", arguments: '{"path":"a.txt"}', deltas: 4 },
        { type: "tool_call", name: "made_up", arguments: "" },
      ],
    });
    const { events, outcome } = await callModel(provider(), userRequest(MODEL, { tools: [readTool] }));
    expect(events).toEqual([
      { type: "thinking", block: 0, text: "let m" },
      { type: "thinking", block: 0, text: "e see" },
      {
        type: "thinking_block",
        block: 0,
        content: {
          type: "thinking",
          provider: "anthropic",
          data: { type: "thinking", thinking: "let me see", signature: "c2ln" },
        },
      },
      {
        type: "thinking_block",
        block: 1,
        content: { type: "thinking", provider: "anthropic", data: { type: "redacted_thinking", data: "b3BhcXVl" } },
      },
      { type: "text", block: 2, text: "reading" },
      { type: "tool_call", block: 3, name: "fs.read", arguments: '{"path":"a.txt"}' },
      { type: "tool_call", block: 4, name: "made_up", arguments: "{}" },
    ]);
    expect(outcome).toMatchObject({ type: "done", stop: "tool_calls" });
  });

  test("pause_turn is a yield", async () => {
    mock.reply({ type: "message", blocks: [{ type: "text", text: "later" }], stop: "pause_turn" });
    const { events, outcome } = await callModel(provider(), userRequest(MODEL));
    expect(events.at(-1)).toEqual({ type: "yield", block: 1, reason: "pause_turn" });
    expect(outcome).toMatchObject({ type: "done", stop: "yield" });
  });

  test("a connection is used again for the next call", async () => {
    mock.reply({ type: "message", blocks: [] }, { type: "message", blocks: [] });
    const same = provider();
    await callModel(same, userRequest(MODEL));
    await callModel(same, userRequest(MODEL));
    const [first, second] = mock.requests.slice(-2).map((request) => request.connection);
    expect(second).toBe(first);
  });
});

test("two tools that would share a wire name are refused before anything is sent", async () => {
  const before = mock.requests.length;
  const clash = { ...readTool, name: "fs_read" };
  const { outcome } = await callModel(provider(), userRequest(MODEL, { tools: [readTool, clash] }));
  expect(outcome).toEqual({
    type: "failed",
    reason: "ConfigInvalid",
    message: "the tools 'fs.read' and 'fs_read' cannot both be offered: both are 'fs_read' to the model",
    retryable: false,
  });
  expect(mock.requests.length).toBe(before);
});
