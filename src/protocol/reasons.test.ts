import { describe, expect, it } from "vitest";
import { type Reason, ReasonError, reasons, reasonText } from "./reasons.ts";

/** JSON-RPC's own codes that a response may carry, and the range left to the program. */
const RPC_CODES = new Set([-32600, -32601, -32602, -32603]);
const isRpcCode = (code: number) => RPC_CODES.has(code) || (code >= -32099 && code <= -32000);

describe.each(Object.entries(reasons))("%s", (code, row) => {
  // The keys of the table are the reasons.
  const reason = code as Reason;

  it("has legal numbers on every surface", () => {
    expect(Number.isInteger(row.http) && row.http >= 400 && row.http <= 599).toBe(true);
    expect(isRpcCode(row.rpc)).toBe(true);
    expect([1, 2, 3, 130]).toContain(row.exit);
  });

  it("says something, and every placeholder can be filled", () => {
    expect(row.text.trim()).not.toBe("");
    const names = [...row.text.matchAll(/<([^>]*)>/g)].map(([, name = ""]) => name);
    const values = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
    const text = reasonText(reason, values);
    expect(text).not.toMatch(/[<>]/);
    for (const name of names) expect(text).toContain(`value of ${name}`);
  });
});

describe("a text", () => {
  it("keeps a placeholder without a value visible", () => {
    expect(reasonText("SessionNotFound")).toBe("There is no session <session>.");
  });

  it("takes values as they are", () => {
    expect(reasonText("ToolFailed", { detail: "$& <session> $1" })).toBe("$& <session> $1");
    expect(reasonText("StepLimit", { limit: 0 })).toContain("limit of 0 steps");
  });
});

it("travels as an error with its code, text and cause", () => {
  const cause = new Error("disk full");
  const error = new ReasonError("StoreFailed", { detail: "no space" }, { cause });
  expect(error).toBeInstanceOf(Error);
  expect({ ...error, message: error.message, cause: error.cause }).toEqual({
    name: "ReasonError",
    reason: "StoreFailed",
    message: "This could not be stored: no space.",
    cause,
  });
});
