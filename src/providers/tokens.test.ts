import { expect, test } from "vitest";
import { estimateTokens } from "#engine";
import { userRequest } from "../../test/fakes/call-model.ts";
import { contextOverflow } from "./tokens.ts";

const text = (content: string) =>
  userRequest("a:b", { messages: [{ role: "user", content: [{ type: "text", text: content }] }] });

test("text counts by its bytes, images and tools by a fixed price on top", () => {
  expect(estimateTokens(text("x".repeat(3_700)))).toBe(1_004);
  expect(estimateTokens(text("é".repeat(3_700)))).toBe(2_004);
  const image = { type: "image", media_type: "image/png", data: "A".repeat(1_000_000) } as const;
  expect(estimateTokens(userRequest("a:b", { messages: [{ role: "user", content: [image] }] }))).toBe(1_604);
  const tool = { name: "t", description: "d", parameters: {} };
  expect(estimateTokens(userRequest("a:b", { messages: [], tools: [tool] }))).toBe(26);
});

test("a request above a known window is refused, one below or without a window is not", () => {
  const request = text("x".repeat(3_700));
  expect(contextOverflow(request, undefined)).toBeUndefined();
  expect(contextOverflow(request, 1_004)).toBeUndefined();
  expect(contextOverflow(request, 1_003)).toEqual({
    type: "failed",
    reason: "ContextOverflow",
    message:
      "The request has about 1004 tokens; a:b accepts 1003. Start a new session, or choose a model with a larger context.",
    retryable: false,
  });
});
