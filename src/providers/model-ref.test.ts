import { expect, test } from "vitest";
import { ReasonError } from "#protocol";
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
  expect(defaultModel({})).toBeUndefined();
  expect(defaultModel({ OPENAI_API_KEY: " " })).toBeUndefined();
  expect(defaultModel({ ZAI_API_KEY: "k", OPENAI_API_KEY: "k" })).toBe("openai:gpt-6.1-terra");
  expect(defaultModel({ GITHUB_TOKEN: "k" })).toBeUndefined();
});
