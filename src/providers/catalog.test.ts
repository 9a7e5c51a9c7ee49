import { afterAll, beforeAll, expect, test } from "vitest";
import { callModel, testPorts, userRequest } from "../../test/fakes/call-model.ts";
import { type MockProviderServer, startMockProvider } from "../../test/fakes/mock-provider-server.ts";
import { CATALOG_TTL_MS } from "./catalog.ts";
import { createProvider } from "./create.ts";
import { vendors } from "./vendors.ts";

const list = {
  data: [
    {
      id: "maker/large",
      context_length: 2_000,
      top_provider: { max_completion_tokens: 500 },
      pricing: { prompt: "0.000003", completion: "0.000015", input_cache_read: "0.0000003" },
    },
    { id: "maker/free", context_length: 1_000, pricing: { prompt: "0", completion: "0" } },
    { id: "maker/depends", pricing: { prompt: "-1", completion: "-1" } },
    { name: "no id" },
    null,
  ],
};
const signal = new AbortController().signal;

let mock: MockProviderServer;
beforeAll(async () => {
  mock = await startMockProvider({ models: list });
});
afterAll(() => mock.close());

test("OpenRouter's list is fetched with the key, kept for an hour and then fetched again", async () => {
  const ports = testPorts();
  const provider = createProvider({ model: "openrouter:maker/large", baseUrl: `${mock.url}/api/v1` }, ports);
  const expected = [
    {
      id: "openrouter:maker/large",
      contextTokens: 2_000,
      maxOutputTokens: 500,
      priceUsdPerMillion: { input: 3, output: 15 },
    },
    { id: "openrouter:maker/free", contextTokens: 1_000, priceUsdPerMillion: { input: 0, output: 0 } },
    { id: "openrouter:maker/depends" },
  ];
  expect(await provider.models(signal)).toEqual(expected);
  await ports.clock.advance(CATALOG_TTL_MS - 1);
  expect(await provider.models(signal)).toEqual(expected);
  expect(mock.requests).toMatchObject([
    { method: "GET", path: "/api/v1/models", headers: { authorization: "Bearer sk-test-0123456789" } },
  ]);
  await ports.clock.advance(1);
  await provider.models(signal);
  expect(mock.requests).toHaveLength(2);
});

test("a list is kept between runs, unless it is old, damaged or from another address", async () => {
  const kept = new Map<string, string>();
  const cache = {
    read: (name: string) => kept.get(name),
    write: (name: string, text: string) => void kept.set(name, text),
  };
  const ports = { ...testPorts(), catalogs: cache };
  const asked = async (path: string): Promise<number> => {
    const before = mock.requests.length;
    const made = createProvider({ model: "openrouter:maker/large", baseUrl: `${mock.url}${path}` }, ports);
    expect(await made.models(signal)).toHaveLength(3);
    return mock.requests.length - before;
  };
  expect([await asked("/api/v1"), await asked("/api/v1"), await asked("/other/api/v1")]).toEqual([1, 0, 1]);
  for (const [name, text] of kept) kept.set(name, text.slice(0, 40));
  expect([await asked("/api/v1"), await asked("/api/v1")]).toEqual([1, 0]);
  await ports.clock.advance(CATALOG_TTL_MS);
  expect([await asked("/api/v1"), await asked("/api/v1")]).toEqual([1, 0]);
});

test("a fetched list gives chat its window, its cap and its price", async () => {
  const model = "openrouter:maker/large";
  const provider = createProvider({ model, baseUrl: `${mock.url}/api/v1` }, testPorts());
  await provider.models(signal);
  mock.reply({ type: "message", blocks: [], usage: { input: 1_000_000, output: 0 } });
  expect((await callModel(provider, userRequest(model, { maxTokens: 9_999 }))).outcome).toMatchObject({ costUsd: 3 });
  expect(mock.requests.at(-1)?.body).toMatchObject({ max_tokens: 500 });
  const long = { role: "user", content: [{ type: "text", text: "x".repeat(8_000) }] } as const;
  const { outcome } = await callModel(provider, userRequest(model, { messages: [long] }));
  expect(outcome).toMatchObject({ type: "failed", reason: "ContextOverflow" });
});

test("vendors without a list have their static rows", async () => {
  const models = await createProvider({ model: "anthropic:claude-opus-5-5" }, testPorts()).models(signal);
  expect(models).toContainEqual({
    id: "anthropic:claude-opus-5-5",
    contextTokens: 1_000_000,
    maxOutputTokens: 128_000,
    priceUsdPerMillion: { input: 4, output: 20 },
  });
});

test("a list that cannot be fetched or read is a ReasonError", async () => {
  const gone = await startMockProvider();
  await gone.close();
  const unreachable = createProvider({ model: "ollama:x", baseUrl: gone.url }, testPorts());
  await expect(unreachable.models(signal)).rejects.toMatchObject({
    reason: "ProviderUnreachable",
    message: `Cannot reach ollama at ${new URL(gone.url).host}: ECONNREFUSED.`,
  });
  const odd = await startMockProvider({ models: { models: "none" } });
  const garbled = createProvider({ model: "ollama:x", baseUrl: odd.url }, testPorts());
  await expect(garbled.models(signal)).rejects.toMatchObject({ reason: "ProviderGarbled" });
  await odd.close();
});

test("every vendor's own models are models of that vendor", () => {
  for (const { name, models, baseUrl, keyVariables } of vendors) {
    expect(models === undefined || models.default !== "", name).toBe(true);
    expect(baseUrl === undefined || URL.canParse(baseUrl), name).toBe(true);
    expect(new Set(keyVariables).size, name).toBe(keyVariables.length);
  }
});
