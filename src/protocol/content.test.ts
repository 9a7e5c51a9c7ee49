import { describe, expect, it } from "vitest";
import { contentBlock, type contentBlocks, inputBlock, toolOutputBlock } from "./content.ts";

const call = "call_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/** For each type a right block and a change to it that must be refused. */
const examples: Record<keyof typeof contentBlocks, readonly [block: object, wrong: object]> = {
  text: [{ text: "" }, { text: 1 }],
  image: [{ media_type: "image/png", data: "AA==" }, { data: "not base64!" }],
  file: [{ name: "a.md", text: "" }, { text: 1 }],
  tool_use: [{ id: call, name: "fs.read", input: { path: "a" } }, { id: "toolu_1" }],
  tool_result: [{ tool_use_id: call, content: [{ type: "text", text: "a" }], is_error: false }, { is_error: "no" }],
  thinking: [{ provider: "p", data: { signature: "s" } }, { provider: 1 }],
  yield: [{ reason: "done" }, { reason: 1 }],
};

describe.each(Object.entries(examples))("a %s block", (type, [body, wrong]) => {
  it("is parsed, keeps extensions and loses the rest", () => {
    expect(contentBlock.parse({ type, ...body, extra: 1, x_cache: true })).toEqual({ type, ...body, x_cache: true });
  });

  it("is refused when it is wrong", () => {
    expect(contentBlock.safeParse({ type, ...body, ...wrong }).success).toBe(false);
  });
});

it("is text, an image or a file where people speak, and no file where tools do", () => {
  for (const [type, [body]] of Object.entries(examples)) {
    const allowed = type === "text" || type === "image";
    expect([
      inputBlock.safeParse({ type, ...body }).success,
      toolOutputBlock.safeParse({ type, ...body }).success,
    ]).toEqual([allowed || type === "file", allowed]);
  }
});

it("keeps the extensions of blocks inside a result", () => {
  const result = {
    type: "tool_result",
    tool_use_id: call,
    content: [{ type: "text", text: "a", x_n: 1, no: 2 }],
    is_error: true,
  };
  expect(contentBlock.parse(result)).toEqual({ ...result, content: [{ type: "text", text: "a", x_n: 1 }] });
});
