import { afterAll, beforeAll, expect, test } from "vitest";
import { callModel, testPorts, userRequest } from "../../test/fakes/call-model.ts";
import { type MockProviderServer, startMockProvider } from "../../test/fakes/mock-provider-server.ts";
import { createModelRouter, type RouterConfig } from "./router.ts";

let mock: MockProviderServer;
beforeAll(async () => {
  mock = await startMockProvider({ models: { data: [{ id: "local" }] } });
});
afterAll(() => mock.close());

function router(config: Partial<RouterConfig> = {}, env: Record<string, string> = testPorts().env) {
  const models = [
    { model: "anthropic:claude-haiku-4-5", baseUrl: mock.url, retry: { maxRetries: 0 } },
    { model: "openai:gpt-4o", baseUrl: `${mock.url}/v1`, retry: { maxRetries: 0 } },
    { model: "ollama:gpt-4o", baseUrl: `${mock.url}/v1` },
  ];
  return createModelRouter({ models, ...config }, testPorts(env));
}

test("models are found by reference or name", () => {
  const { resolve } = router();
  expect(resolve("claude-haiku-4-5")).toBe("anthropic:claude-haiku-4-5");
  expect(resolve("openai:gpt-4o")).toBe("openai:gpt-4o");
  expect(resolve("zai:glm-5.3")).toBe("zai:glm-5.3");
});

test.each([
  ["gpt-4o", {}, "UnknownModel", /more than one model: openai:gpt-4o, ollama:gpt-4o/],
  ["nothing", {}, "UnknownModel", /'nothing' is not a model/],
  ["openia:x", {}, "UnknownModel", /Did you mean 'openai:x'/],
  ["zai:x", { ANTHROPIC_API_KEY: "k" }, "MissingCredential", /ZAI_API_KEY/],
])("%s is refused", (text, env, reason, message) => {
  const { resolve } = router({}, { ...(Object.keys(env).length === 0 ? testPorts().env : env) });
  expect(() => resolve(text)).toThrow(expect.objectContaining({ reason, message: expect.stringMatching(message) }));
});

test("a request goes to the model it names", async () => {
  const { provider } = router();
  mock.reply({ type: "message", blocks: [{ type: "text", text: "ok" }] });
  const { outcome } = await callModel(provider, userRequest("openai:gpt-4o"));
  expect(outcome).toMatchObject({ type: "done", model: "openai:gpt-4o" });
  expect(mock.requests.at(-1)?.path).toBe("/v1/chat/completions");
});

test("a model that cannot be used ends as a failure, not as an exception", async () => {
  const { provider } = router({}, { ANTHROPIC_API_KEY: "k" });
  expect((await callModel(provider, userRequest("openai:gpt-4o"))).outcome).toMatchObject({
    type: "failed",
    reason: "MissingCredential",
  });
  expect((await callModel(provider, userRequest("nonsense"))).outcome).toMatchObject({ reason: "UnknownModel" });
});

test("the list of models holds every configured vendor's", async () => {
  const { provider } = router();
  const ids = (await provider.models(new AbortController().signal)).map(({ id }) => id);
  expect(ids).toEqual(
    expect.arrayContaining(["anthropic:claude-opus-5-5", "openai:gpt-4o", "ollama:local", "ollama:gpt-4o"]),
  );
});
