import { StringDecoder } from "node:string_decoder";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ModelEvent } from "#engine";
import { CallId } from "#protocol";
import { createSystemClock } from "#world";
import { callModel, testPorts, userRequest } from "../../test/fakes/call-model.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { anthropicEvents } from "../../test/fakes/mock-anthropic-wire.ts";
import { openaiEvents } from "../../test/fakes/mock-openai-wire.ts";
import {
  type MockMessage,
  type MockProviderServer,
  type MockReply,
  startMockProvider,
} from "../../test/fakes/mock-provider-server.ts";
import { anthropicFamily } from "./anthropic.ts";
import { createProvider } from "./create.ts";
import type { HttpClient } from "./http.ts";
import { openaiFamily } from "./openai.ts";
import { limitsOf, streamCall } from "./stream-call.ts";
import { createWireNames } from "./wire-names.ts";

const KEY = "sk-test-0123456789";
const text = { type: "text", text: "hello world", deltas: 4 } as const;

let mock: MockProviderServer;
beforeAll(async () => {
  mock = await startMockProvider();
});
afterAll(() => mock.close());

const oddCall = (called: object) => [{ tool_calls: [{ index: 0, id: "c", function: called }] }];
const oddDelta = (delta: object) => ({
  type: "content_block_delta",
  index: 0,
  delta: { type: "text_delta", ...delta },
});
const oddBlock = (block: object) => [
  { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "c", input: {}, ...block } },
  { type: "content_block_stop", index: 0 },
];

const families = [
  { model: "anthropic:claude-haiku-4-5", path: "" },
  { model: "openai:gpt-4o", path: "/v1" },
];

describe.each(families)("$model", ({ model, path }) => {
  async function answer(reply: MockReply) {
    mock.reply(reply);
    const config = { model, baseUrl: mock.url + path, retry: { maxRetries: 0 } };
    return (await callModel(createProvider(config, testPorts()), userRequest(model))).outcome;
  }
  const vendor = model.split(":")[0];
  const error = (type: string, message: string): string => JSON.stringify({ type: "error", error: { type, message } });

  test.each([
    [401, "ProviderUnauthorized", false],
    [403, "ProviderUnauthorized", false],
    [408, "ProviderUnavailable", true],
    [409, "ProviderUnavailable", true],
    [429, "RateLimited", true],
    [402, "QuotaExceeded", false],
    [500, "ProviderUnavailable", true],
    [529, "ProviderUnavailable", true],
    [400, "ProviderRefused", false],
    [422, "ProviderRefused", false],
  ])("HTTP %i is %s", async (status, reason, retryable) => {
    const outcome = await answer({ type: "http", status, body: error("some_error", "said so") });
    expect(outcome).toMatchObject({ type: "failed", reason, retryable });
    expect(outcome).toHaveProperty("message", expect.stringContaining("said so"));
  });

  test("an empty account is not waited for, whatever the status says", async () => {
    const body = JSON.stringify({ error: { code: "insufficient_quota", type: "insufficient_quota", message: "pay" } });
    expect(await answer({ type: "http", status: 429, body })).toMatchObject({
      reason: "QuotaExceeded",
      retryable: false,
    });
  });

  test("an unauthorized answer names the variable", async () => {
    const variable = vendor === "anthropic" ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
    const outcome = await answer({ type: "http", status: 401, body: "" });
    expect(outcome).toHaveProperty("message", `${vendor} refused the key (HTTP 401). Check ${variable}.`);
  });

  test.each([
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT", date: "Thu, 01 Jan 2026 00:00:00 GMT" }, 30_000],
    [{ "retry-after": "Thu, 01 Jan 2026 01:00:30 GMT", date: "Thu, 01 Jan 2026 01:00:20 GMT" }, 10_000],
    [{ "retry-after": "7", "retry-after-ms": "120" }, 120],
  ])("%o asks to wait %i ms", async (headers, retryAfterMs) => {
    expect(await answer({ type: "http", status: 429, headers, body: "{}" })).toMatchObject({ retryAfterMs });
  });

  test("the vendor's text is bounded and never holds the key", async () => {
    const body = error("invalid_request_error", `bad key ${KEY} ${"x".repeat(2_000)}`);
    const outcome = await answer({ type: "http", status: 400, body });
    expect(outcome).toHaveProperty("message", expect.stringMatching(/^.{1,600}$/));
    expect(JSON.stringify(outcome)).not.toContain(KEY);
    expect(JSON.stringify(outcome)).toContain("«redacted:key»");
  });

  test.each([
    ["invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"],
    [
      "invalid_request_error",
      "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease it",
    ],
    ["request_too_large", "Request exceeds the maximum size"],
    ["invalid_request_error", "This model's maximum context length is 8192 tokens. However, you requested 9000."],
    ["invalid_request_error", "Your input exceeds the context window of this model."],
    ["invalid_argument", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."],
    ["exceed_context_size_error", "it is too large"],
    ["some_error", "the request exceeds the available context size, try increasing it"],
    ["some_error", "Please reduce the length of the messages or completion."],
  ])("%s, %s is an overflow, as a status and in the stream", async (type, message) => {
    const overflow = { type: "failed", reason: "ContextOverflow", retryable: false };
    expect(await answer({ type: "http", status: 400, body: error(type, message) })).toMatchObject(overflow);
    const event = `event: error\ndata: ${error(type, message)}\n\n`;
    const fault = { type: "event", afterEvents: 4, event } as const;
    expect(await answer({ type: "message", blocks: [text], fault })).toMatchObject(overflow);
  });

  test.each([
    "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens",
    "tools.0.description: string too long. Expected a string with maximum length 1024",
    "messages.0.content.0.text: text content blocks must contain non-whitespace text",
  ])("%s is none", async (message) => {
    const body = error("invalid_request_error", message);
    expect(await answer({ type: "http", status: 400, body })).toMatchObject({ reason: "ProviderRefused" });
  });

  test("half a character is not sent, and nothing else is changed", async () => {
    mock.reply({ type: "message", blocks: [text] });
    const whole = "😀 \\ud83d \\\\ud83d";
    const content = [{ type: "text" as const, text: `${whole} \ud83d| \ude00` }];
    const input = { path: "half \ud83d" };
    const id = CallId.from("01HXX000000000000000000001");
    const messages = [
      { role: "user" as const, content },
      { role: "assistant" as const, content: [{ type: "tool_use" as const, id, name: "exec", input }] },
      { role: "user" as const, content: [{ type: "tool_result" as const, tool_use_id: id, content, is_error: false }] },
    ];
    const config = { model, baseUrl: mock.url + path, retry: { maxRetries: 0 } };
    const { outcome } = await callModel(createProvider(config, testPorts()), { ...userRequest(model), messages });
    expect(outcome).toMatchObject({ type: "done" });
    const sent = JSON.stringify(mock.requests.at(-1)?.body);
    expect(sent).toContain(JSON.stringify(`${whole} \ufffd| \ufffd`).slice(1, -1));
    expect(sent).toContain("half \ufffd");
  });

  test("a model that the vendor does not know", async () => {
    const code = vendor === "anthropic" ? "not_found_error" : "model_not_found";
    const outcome = await answer({ type: "http", status: 404, body: error(code, "no such model") });
    expect(outcome).toMatchObject({ reason: "UnknownModel", retryable: false });
  });

  test.each([
    ["an HTML page", { type: "http", status: 200, headers: { "content-type": "text/html" }, body: "<html>" }],
    ["JSON", { type: "http", status: 200, headers: { "content-type": "application/json" }, body: '{"id":1}' }],
    ["an empty response", { type: "http", status: 200, headers: { "content-type": "application/json" } }],
    ["an empty response", { type: "http", status: 200, headers: { "content-type": "text/event-stream" } }],
    [
      "stream data that is not JSON",
      { type: "message", blocks: [text], fault: { type: "event", afterEvents: 3, event: "data: {oops\n\n" } },
    ],
  ] satisfies [string, MockReply][])("garbled: %s", async (_name, reply) => {
    expect(await answer(reply)).toMatchObject({ type: "failed", reason: "ProviderGarbled", retryable: true });
  });

  test.each([
    ["an object as the name of a tool", oddCall({ name: {}, arguments: "{}" }), oddBlock({ name: {} })],
    ["no arguments that are text", oddCall({ name: "fs.read", arguments: { path: "x" } }), oddBlock({ name: ["x"] })],
    [
      "a text that is a list",
      [{ content: "a", reasoning_content: ["x"] }],
      [{ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }, oddDelta({ text: ["x"] })],
    ],
  ])("garbled, and nothing of it is told: %s", async (_name, deltas, events) => {
    const wire = vendor === "anthropic" ? events : deltas.map((delta) => ({ choices: [{ index: 0, delta }] }));
    const ends =
      vendor === "anthropic"
        ? [{ type: "message_delta", delta: { stop_reason: "tool_use" } }, { type: "message_stop" }]
        : [{ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }];
    const body = [...wire, ...ends].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const sent = { type: "http", status: 200, headers: { "content-type": "text/event-stream" }, body } as const;
    expect(await answer(sent)).toMatchObject({ type: "failed", reason: "ProviderGarbled", retryable: true });
  });

  test("an HTML error page is not quoted", async () => {
    const outcome = await answer({ type: "http", status: 502, body: "<html><body>Bad gateway" });
    expect(outcome).toMatchObject({ reason: "ProviderUnavailable" });
    expect(outcome).toHaveProperty("message", `${vendor} is not available (HTTP 502: an HTML page).`);
  });

  test("an error in JSON that came with status 200", async () => {
    const headers = { "content-type": "application/json" };
    const outcome = await answer({ type: "http", status: 200, headers, body: error("overloaded_error", "busy") });
    expect(outcome).toMatchObject({ reason: "ProviderUnavailable", retryable: true });
  });

  test.each([
    ["overloaded_error", "ProviderUnavailable", true],
    ["rate_limit_error", "RateLimited", true],
    ["authentication_error", "ProviderUnauthorized", false],
    ["invalid_request_error", "ProviderRefused", false],
    ["context_length_exceeded", "ContextOverflow", false],
  ])("the error event %s is %s", async (type, reason, retryable) => {
    const event = `event: error\ndata: ${error(type, "in the stream")}\n\n`;
    const outcome = await answer({ type: "message", blocks: [text], fault: { type: "event", afterEvents: 4, event } });
    expect(outcome).toMatchObject({ type: "failed", reason, retryable });
  });

  test.each(["cut", "end"] as const)("a stream without its terminator (%s)", async (type) => {
    const outcome = await answer({ type: "message", blocks: [text], fault: { type, afterEvents: 5 } });
    expect(outcome).toMatchObject({ type: "failed", reason: "ProviderStreamCut", retryable: true });
  });

  test.each([
    ["refusal", "ContentFiltered", false],
    ["content_filter", "ContentFiltered", false],
    ["model_context_window_exceeded", "ContextOverflow", false],
    ["brand_new_reason", "UnknownFinishReason", true],
    [null, "UnknownFinishReason", true],
    ["tool_calls", "UnknownFinishReason", true],
  ])("the finish reason %s is %s", async (stop, reason, retryable) => {
    const outcome = await answer({ type: "message", blocks: [text], stop });
    expect(outcome).toMatchObject({ type: "failed", reason, retryable });
  });

  test.each(["cut", "end", "stall", "pings"] as const)(
    "an answer whose finish reason has come is whole, whatever the stream does then (%s)",
    async (type) => {
      const reply: MockMessage = { type: "message", blocks: [text] };
      const events = (vendor === "anthropic" ? anthropicEvents : openaiEvents)(reply, "m");
      const last = events.findLastIndex((event) => /"(stop_reason|finish_reason)":"\w+"/.test(event));
      const afterEvents = last + 1;
      const stop = new AbortController();
      const until = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
      const fault: NonNullable<MockMessage["fault"]> =
        type === "pings"
          ? { type: "drip", afterEvents, event: ": ping\n\n", everyMs: 20, until }
          : type === "stall"
            ? { type, afterEvents, until }
            : { type, afterEvents };
      mock.reply({ ...reply, fault });
      const limits = { chunkTimeoutMs: 100 };
      const config = { model, baseUrl: mock.url + path, retry: { maxRetries: 0 }, limits };
      const ports = { ...testPorts(), clock: createSystemClock() };
      const { outcome } = await callModel(createProvider(config, ports), userRequest(model));
      stop.abort();
      expect(outcome).toMatchObject({ type: "done", stop: "end" });
    },
  );

  test("more bytes than a response may have", async () => {
    mock.reply({ type: "message", blocks: [text] });
    const config = { model, baseUrl: mock.url + path, limits: { maxResponseBytes: 200 } };
    const { outcome } = await callModel(createProvider(config, testPorts()), userRequest(model));
    expect(outcome).toMatchObject({ type: "failed", reason: "OutputLimit", retryable: false });
  });

  test("cancelled in the middle of a stream; nothing is told after that", async () => {
    const cancel = new AbortController();
    mock.reply({
      type: "message",
      blocks: [text],
      eventsPerWrite: 6,
      fault: { type: "stall", afterEvents: 6, until: Promise.withResolvers<void>().promise },
    });
    const provider = createProvider({ model, baseUrl: mock.url + path }, testPorts());
    let emitted = 0;
    const outcome = await provider.chat({
      request: userRequest(model),
      signal: cancel.signal,
      emit: () => {
        emitted += 1;
        cancel.abort();
      },
    });
    expect(outcome).toMatchObject({ type: "failed", reason: "Cancelled", retryable: false });
    expect(emitted).toBe(1);
  });

  test("slow headers and a stalled stream time out on the clock", async () => {
    const limits = { headersTimeoutMs: 1_000, chunkTimeoutMs: 500 };
    const never = Promise.withResolvers<void>().promise;
    const stalled: MockReply[] = [
      { type: "message", blocks: [text], headersAfter: never },
      { type: "message", blocks: [text], fault: { type: "stall", afterEvents: 4, until: never } },
    ];
    for (const reply of stalled) {
      const ports = testPorts();
      mock.reply(reply);
      const asked = mock.requests.length;
      const config = { model, baseUrl: mock.url + path, retry: { maxRetries: 0 }, limits };
      const pending = callModel(createProvider(config, ports), userRequest(model));
      while (mock.requests.length === asked) await new Promise((resolve) => setImmediate(resolve));
      let done = false;
      void pending.then(() => {
        done = true;
      });
      while (!done) await ports.clock.advance(250);
      expect((await pending).outcome).toMatchObject({ reason: "ProviderTimeout", retryable: true });
    }
  });
});

test("an error code that is an HTTP status counts as one", async () => {
  const event = `data: ${JSON.stringify({ error: { code: 429, message: "slow down" } })}\n\n`;
  mock.reply({ type: "message", blocks: [text], fault: { type: "event", afterEvents: 2, event } });
  const config = { model: "openrouter:a/b", baseUrl: `${mock.url}/v1`, retry: { maxRetries: 0 } };
  const { outcome } = await callModel(createProvider(config, testPorts()), userRequest(config.model));
  expect(outcome).toEqual({
    type: "failed",
    reason: "RateLimited",
    message: "openrouter rate-limited the request. slow down",
    retryable: true,
  });
});

describe("however the bytes are cut", () => {
  const reply = {
    type: "message",
    blocks: [
      { type: "thinking", text: "hm, 考える", signature: "c2ln", deltas: 2 },
      { type: "text", text: "Grüße 🌍\r\n", deltas: 3 },
      { type: "tool_call", name: "x", arguments: '{"a":"ü"}', deltas: 3 },
    ],
  } as const;

  test.each([
    ["anthropic", anthropicFamily, anthropicEvents(reply, "m")],
    ["openai", openaiFamily, openaiEvents(reply, "m")],
  ] as const)("%s events are the same", async (_name, family, events) => {
    const bytes = Buffer.from(events.join(""));
    const peer = { name: "vendor", keySource: "KEY" };
    const names = createWireNames([]);
    const run = async (cuts: readonly number[]): Promise<unknown> => {
      const emitted: ModelEvent[] = [];
      const reader = family.reader(peer, names, (event) => emitted.push(event));
      const http = deliver(bytes, cuts);
      const { signal } = new AbortController();
      const call = { peer, url: new URL("http://x/"), headers: {}, body: {}, signal, limits: limitsOf(), reader };
      return { end: await streamCall(call, { http, clock: createManualClock() }), emitted };
    };
    const whole = await run([]);
    expect(whole).toMatchObject({ end: { type: "ended", stop: "tool_calls" } });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 40 }), async (cuts) => {
        expect(await run(cuts)).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });

  /** Hands over the bytes in pieces, decoded as the real client decodes them. */
  function deliver(bytes: Buffer, cuts: readonly number[]): HttpClient {
    return {
      async send(_request, onHead) {
        const head = { status: 200, headers: { "content-type": "text/event-stream" } };
        const sink = onHead(head);
        const decoder = new StringDecoder("utf8");
        const ends = [...cuts].sort((a, b) => a - b);
        let from = 0;
        for (const to of [...ends, bytes.length]) {
          if (sink(decoder.write(bytes.subarray(from, to))) === "complete") break;
          from = to;
        }
        return { type: "ok", ...head };
      },
      close() {},
    };
  }
});
