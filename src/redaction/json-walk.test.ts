/** JSON values: strings and keys, and fields whose name decides. */
import { describe, expect, test } from "vitest";
import { computingTime } from "../../test/fakes/computing-time.ts";
import { fillExample } from "../../test/fakes/rule-example.ts";
import { createRedactor } from "./index.ts";

const redactor = createRedactor();
const pat = fillExample("ghp_<a36>");

describe("redactJson", () => {
  test("redacts strings at any depth, and keys", () => {
    const value = { a: [{ b: `x ${pat}` }, 1, null, true], [pat]: "named by a secret" };
    expect(redactor.redactJson(value)).toEqual({
      value: { a: [{ b: "x «redacted:github-pat»" }, 1, null, true], "«redacted:github-pat»": "named by a secret" },
      counts: { "github-pat": 2 },
    });
  });

  test("lets the name of a field decide on the whole value", () => {
    const value = {
      password: "two words",
      dbPassword: "hunter2",
      "user-password": 12345678,
      passphrase: "nine tall ships",
      cvv: 123,
      tokens: ["plain"],
    };
    expect(redactor.redactJson(value).value).toEqual({
      password: "«redacted:password»",
      dbPassword: "«redacted:password»",
      "user-password": "«redacted:password»",
      passphrase: "«redacted:passphrase»",
      cvv: "«redacted:card-code»",
      tokens: ["plain"],
    });
  });

  test("looks at a value together with its name", () => {
    const value = {
      datadog_api_key: fillExample("<h32>"),
      checksum: fillExample("<h32>"),
      authorization: "Bearer abc123def456ghi7",
    };
    expect(redactor.redactJson(value).value).toEqual({
      datadog_api_key: "«redacted:datadog-api-key»",
      checksum: value.checksum,
      authorization: expect.stringContaining("«redacted:"),
    });
  });

  test("gives the same object back when there is nothing", () => {
    const value = {
      password: "",
      secret: "$VAULT_SECRET",
      api_token: null,
      session_id: "sess_01JD3V8Z6Q5R4T3W2Y1X0ABCDE",
      token: "cli_01JD3V8Z6Q5R4T3W2Y1X0ABCDE",
      max_tokens: 4096,
      schema: { properties: { password: { type: "string" } } },
    };
    const { value: same, counts } = redactor.redactJson(value);
    expect(same).toBe(value);
    expect(counts).toEqual({});
  });

  test("takes nothing for a marker that is none", () => {
    expect(redactor.redactJson({ password: "«redacted:hunter2»" }).value).toEqual({ password: "«redacted:password»" });
    expect(redactor.redactJson({ password: "hunter2 «redacted:jwt» x" }).value).toEqual({
      password: "«redacted:password»",
    });
    expect(redactor.redactJson({ password: "tall ships «redacted:jwt»" }).value).toEqual({
      password: "«redacted:password»",
    });
  });

  test("changes nothing the second time", () => {
    const { value } = redactor.redactJson({ password: "hunter2", list: [pat], pin_code: 1234 });
    expect(redactor.redactJson(value).value).toBe(value);
  });

  test("reads a long name once, not with each of its values", () => {
    const values = Array.from({ length: 2_000 }, (_, index) => `${index}`.padStart(4, "0"));
    const token = fillExample("<a32>");
    const name = `${"k ".repeat(50_000)}api_token`;
    const computedMs = computingTime();
    const { value } = redactor.redactJson({ [name]: [...values, token] });
    // Far above what it takes, and far below what reading 200 MB would take.
    expect(computedMs()).toBeLessThan(1_000);
    expect(value[name]?.at(-1)).toBe("«redacted:api-key»");
  });

  test("refuses what is nested too deep, also when it contains itself", () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    expect(() => redactor.redactJson(loop)).toThrow(expect.objectContaining({ reason: "RedactionFailed" }));
  });
});
