import { expect, it } from "vitest";
import { textDraft } from "../../test/store-suite.ts";
import { toRecord } from "./record.ts";

it("refuses a payload over its bound and names the kind", () => {
  expect(() => toRecord(textDraft("x".repeat(64 * 1024 * 1024)))).toThrow(
    expect.objectContaining({
      reason: "StoreFailed",
      message: expect.stringContaining("the payload of TextDelta is longer than 67108864 characters"),
    }),
  );
});
