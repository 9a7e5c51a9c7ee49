import { expect, test } from "vitest";
import { textOutput } from "#engine";
import { createCallMemo } from "./memo.ts";

test("equal arguments find the result, whatever the order of their keys", () => {
  const memo = createCallMemo();
  const output = textOutput("content");
  memo.remember("fs.read", { path: "a", nested: { x: 1, y: [2] } }, output);
  expect(memo.lookup("fs.read", { nested: { y: [2], x: 1 }, path: "a" })).toBe(output);
  expect(memo.lookup("fs.read", { path: "b" })).toBeUndefined();
  expect(memo.lookup("fs.list", { path: "a", nested: { x: 1, y: [2] } })).toBeUndefined();
});

test("clearing forgets everything", () => {
  const memo = createCallMemo();
  memo.remember("fs.read", { path: "a" }, textOutput("x"));
  memo.clear();
  expect(memo.lookup("fs.read", { path: "a" })).toBeUndefined();
});

test("errors and images are not kept", () => {
  const memo = createCallMemo();
  memo.remember("fs.read", { path: "error" }, { ...textOutput("x"), isError: true });
  memo.remember("fs.read", { path: "image" }, { content: [{ type: "image", media_type: "image/png", data: "" }] });
  expect(memo.lookup("fs.read", { path: "error" })).toBeUndefined();
  expect(memo.lookup("fs.read", { path: "image" })).toBeUndefined();
});

test("the oldest make room beyond 64 entries and 4 MiB", () => {
  const memo = createCallMemo();
  for (let index = 0; index < 65; index++) memo.remember("fs.read", { index }, textOutput(String(index)));
  expect(memo.lookup("fs.read", { index: 0 })).toBeUndefined();
  expect(memo.lookup("fs.read", { index: 1 })).toEqual(textOutput("1"));
  const large = textOutput("x".repeat(3 * 1024 * 1024));
  memo.remember("fs.read", { large: 1 }, large);
  memo.remember("fs.read", { large: 2 }, large);
  expect(memo.lookup("fs.read", { large: 1 })).toBeUndefined();
  expect(memo.lookup("fs.read", { large: 2 })).toBe(large);
  memo.remember("fs.read", { large: 3 }, textOutput("x".repeat(5 * 1024 * 1024)));
  expect(memo.lookup("fs.read", { large: 3 })).toBeUndefined();
  expect(memo.lookup("fs.read", { large: 2 })).toBe(large);
});
