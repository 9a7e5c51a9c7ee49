import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callModel, testPorts, userRequest } from "../../test/fakes/call-model.ts";
import { type MockProviderServer, startMockProvider } from "../../test/fakes/mock-provider-server.ts";
import { createProvider, type ModelConfig } from "./create.ts";

let mock: MockProviderServer;
beforeAll(async () => {
  mock = await startMockProvider({ always: { type: "message", blocks: [{ type: "text", text: "ok" }] } });
});
afterAll(() => mock.close());

async function ask(config: ModelConfig, env: Record<string, string>) {
  const provider = createProvider(config, testPorts(env));
  const { outcome } = await callModel(provider, userRequest(config.model));
  return { outcome, request: mock.requests.at(-1) };
}

describe("keys", () => {
  test("a missing one is named", () => {
    expect(() => createProvider({ model: "openai:gpt-4o" }, testPorts({}))).toThrow(
      expect.objectContaining({
        reason: "MissingCredential",
        message: "No key for openai: set OPENAI_API_KEY, pass it as apiKey, or choose another model.",
      }),
    );
    expect(() => createProvider({ model: "copilot:gpt-4o" }, testPorts({}))).toThrow("GH_TOKEN or GITHUB_TOKEN");
    const config = { model: "openai:gpt-4o", apiKeyEnv: "MY_KEY" };
    expect(() => createProvider(config, testPorts())).toThrow("MY_KEY");
  });

  test("the vendor's variables count in order, a configured one alone", async () => {
    const baseUrl = `${mock.url}/v1`;
    const env = { GH_TOKEN: "first", GITHUB_TOKEN: "second", MY_KEY: " mine\n" };
    const { request } = await ask({ model: "copilot:gpt-4o", baseUrl }, env);
    expect(request?.headers).toMatchObject({
      authorization: "Bearer first",
      "editor-version": "harness/0.1.0",
      "copilot-integration-id": "harness",
    });
    const own = await ask({ model: "github:openai/gpt-4.1", baseUrl, apiKeyEnv: "MY_KEY" }, env);
    expect(own.request?.headers.authorization).toBe("Bearer mine");
  });

  test("an address of a project gets no key of the user, one of the user does", async () => {
    const config = { model: "openai:m", baseUrl: `${mock.url}/v1`, retry: { maxRetries: 0 } };
    const count = mock.requests.length;
    const refused = {
      reason: "CredentialHostRefused",
      message: expect.stringContaining("bound to https://api.openai.com"),
    };
    expect((await ask({ ...config, fromProject: true }, testPorts().env)).outcome).toMatchObject(refused);
    // Nor by the name of another vendor's variable.
    const swapped = { ...config, apiKeyEnv: "ZAI_API_KEY", fromProject: true } as const;
    const elsewhere = await ask(swapped, { ...testPorts().env, OPENAI_BASE_URL: `${mock.url}/v1` });
    expect(elsewhere.outcome).toMatchObject({ message: expect.stringContaining("bound to https://api.z.ai") });
    expect(mock.requests).toHaveLength(count);
    expect((await ask(config, testPorts().env)).outcome).toMatchObject({ type: "done" });
  });

  test("a local vendor needs none and gets none", async () => {
    const { request } = await ask({ model: "ollama:qwen3:8b", baseUrl: `${mock.url}/v1` }, { OPENAI_API_KEY: "k" });
    expect(request?.headers).not.toHaveProperty("authorization");
    expect(request?.body).toMatchObject({ model: "qwen3:8b" });
  });
});

describe("addresses", () => {
  test.each([
    ["anthropic:m", "ANTHROPIC_BASE_URL", "", "/v1/messages"],
    ["openai:m", "OPENAI_BASE_URL", "/v1", "/v1/chat/completions"],
    ["openrouter:m", "OPENROUTER_BASE_URL", "/api/v1/", "/api/v1/chat/completions"],
    ["zai:m", "ZAI_BASE_URL", "/api/paas/v4", "/api/paas/v4/chat/completions"],
  ])("%s is moved by %s", async (model, variable, path, asked) => {
    const { request } = await ask({ model }, { ...testPorts().env, [variable]: mock.url + path });
    expect(request?.path).toBe(asked);
  });

  test("OpenRouter is told who asks, and configured headers are added", async () => {
    const headers = { "X-Title": "mine", "x-more": "1" };
    const { request } = await ask({ model: "openrouter:m", baseUrl: mock.url, headers }, testPorts().env);
    expect(request?.headers).toMatchObject({
      "http-referer": "https://harness.invalid",
      "x-title": "mine",
      "x-more": "1",
    });
  });

  test.each(["openai", "anthropic"] as const)("a custom vendor of the %s family", async (family) => {
    const config = { model: "custom:m", baseUrl: mock.url, family, apiKeyEnv: "MY_KEY" };
    const { outcome, request } = await ask(config, { MY_KEY: "mine" });
    expect(outcome).toMatchObject({ type: "done", model: "custom:m" });
    expect(request).toMatchObject(
      family === "openai"
        ? { path: "/chat/completions", headers: { authorization: "Bearer mine" } }
        : { path: "/v1/messages", headers: { "x-api-key": "mine" } },
    );
  });

  test.each([
    [{ model: "custom:m" }, "custom:m needs a base_url, or HARNESS_CUSTOM_BASE_URL in the environment"],
    [{ model: "openai:m", baseUrl: "ftp://x" }, "'ftp://x' is not an http or https address (openai)"],
    [{ model: "openai:m", family: "anthropic" }, "the family of openai is openai"],
  ] satisfies [ModelConfig, string][])("%o is refused", (config, message) => {
    expect(() => createProvider(config, testPorts())).toThrow(
      expect.objectContaining({ reason: "ConfigInvalid", message }),
    );
  });
});

test("configured cap, temperature and rate limit are used", async () => {
  const config = {
    model: "zai:glm-5.3",
    baseUrl: mock.url,
    maxTokens: 77,
    temperature: 0,
    rateLimit: { requestsPerMinute: 1, maxWaiters: 0 },
  };
  const provider = createProvider(config, testPorts());
  await callModel(provider, userRequest(config.model));
  expect(mock.requests.at(-1)?.body).toMatchObject({ max_tokens: 77, temperature: 0 });
  expect((await callModel(provider, userRequest(config.model))).outcome).toMatchObject({ reason: "RateLimited" });
});
