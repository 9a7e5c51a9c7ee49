import { expect, test } from "vitest";
import { ReasonError } from "#protocol";
import { createHeldKeys } from "./held-keys.ts";
import { defaultModel, parseModelRef } from "./model-ref.ts";

test.each([
  ["anthropic:claude-opus-5-5", "anthropic", "claude-opus-5-5"],
  ["openrouter:anthropic/claude-sonnet-5.5", "openrouter", "anthropic/claude-sonnet-5.5"],
  ["ollama:qwen3:8b", "ollama", "qwen3:8b"],
])("%s", (text, vendor, name) => {
  expect(parseModelRef(text)).toMatchObject({ vendor: { name: vendor }, name });
});

test.each([
  ["claude-opus-5-5", /write provider:name, for example anthropic:/],
  ["antropic:claude", /There is no provider 'antropic'\. Did you mean 'anthropic:claude'\?/],
  ["OpenAI:x", /Did you mean 'openai:x'\?/],
  ["xyzzyplugh:x", /There is no provider 'xyzzyplugh'\. Providers: anthropic, openai/],
  ["openai:", /names no model: write provider:name, for example openai:/],
])("%s is refused with a remedy", (text, message) => {
  expect(() => parseModelRef(text)).toThrow(ReasonError);
  expect(() => parseModelRef(text)).toThrow(message);
  expect(() => parseModelRef(text)).toThrow(expect.objectContaining({ reason: "UnknownModel" }));
});

test("the default is that of the first vendor with a key", () => {
  const chosen = (env: Record<string, string>) => defaultModel(createHeldKeys(env));
  expect(chosen({})).toBeUndefined();
  expect(chosen({ OPENAI_API_KEY: " " })).toBeUndefined();
  expect(chosen({ ZAI_API_KEY: "k", OPENAI_API_KEY: "k" })).toBe("openai:gpt-6.1-terra");
  expect(chosen({ GITHUB_TOKEN: "k" })).toBeUndefined();
  expect(defaultModel({ holds: ({ provider }) => provider === "github" })).toBe("github:openai/gpt-4.1");
});
