import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type EventPayload, TurnId } from "#protocol";
import { events } from "#protocol/schemas";
import { createRedactionGateway, STRUCTURAL_FIELDS } from "./gateway.ts";
import { createRedactor } from "./redactor.ts";

const TOKEN = `ghp_${"Zk3vQ9xT1mLr7WcB5nYp2HsDf8GjKa4uEoXi"}`;
const turn = TurnId.from("2".repeat(26));

describe("fields of events that are not looked at", () => {
  /** A schema that takes no text but ids, hashes, times and words of ours. */
  function isClosed(schema: unknown): boolean {
    if (schema instanceof z.ZodOptional) return isClosed(schema.unwrap());
    if (schema instanceof z.ZodPipe) return isClosed(schema.in);
    if (schema instanceof z.ZodArray) return isClosed(schema.element);
    if (schema instanceof z.ZodObject) return Object.values(schema.shape).every(isClosed);
    if (schema instanceof z.ZodNumber || schema instanceof z.ZodBoolean || schema instanceof z.ZodEnum) return true;
    if (schema instanceof z.ZodLiteral || schema instanceof z.ZodISODateTime) return true;
    return schema instanceof z.ZodType && !schema.safeParse(TOKEN).success && !schema.safeParse({ a: TOKEN }).success;
  }

  const fields = Object.entries(events).flatMap(([kind, schema]) =>
    Object.entries((schema.in as z.ZodObject).shape).map(([name, field]) => ({ kind, name, field })),
  );

  test.each(fields.filter(({ name }) => STRUCTURAL_FIELDS.has(name)))(
    "$kind, $name: takes no free text",
    ({ field }) => {
      expect(isClosed(field)).toBe(true);
    },
  );

  test("each is a field of an event", () => {
    const known = new Set(fields.map(({ name }) => name));
    expect([...STRUCTURAL_FIELDS].filter((name) => !known.has(name))).toEqual([]);
  });
});

describe("the gateway", () => {
  const { payload, output, request } = createRedactionGateway(createRedactor());

  test("redacts what an event says and leaves its ids", () => {
    const given = { turn, content: [{ type: "text" as const, text: `use ${TOKEN}` }], model: "a:b" };
    expect(payload("TurnStarted", given)).toEqual({
      ...given,
      content: [{ type: "text", text: "use «redacted:github-pat»" }],
    });
  });

  test("gives the same object back when there is nothing to redact", () => {
    const given = { turn, content: [{ type: "text" as const, text: "hello" }], model: "a:b" };
    expect(payload("TurnStarted", given)).toBe(given);
    expect(output(given.content)).toBe(given.content);
  });

  test("drops reasoning that a provider would not take back as it is then", () => {
    const given: EventPayload<"ThinkingDelta"> = {
      turn,
      step: 1,
      block: 0,
      text: "",
      provider: "p",
      data: { thinking: TOKEN },
    };
    expect(payload("ThinkingDelta", given)).toEqual({ turn, step: 1, block: 0, text: "", provider: "p" });
  });

  test("leaves the data of pictures alone", () => {
    const picture = {
      type: "image" as const,
      media_type: "image/png" as const,
      data: Buffer.from(TOKEN).toString("base64"),
    };
    expect(output([picture])).toEqual([picture]);
  });

  test("says what was redacted in a payload, and by which rules", () => {
    const redactor = createRedactor();
    const gateway = createRedactionGateway(redactor);
    const given = { turn, content: [{ type: "text" as const, text: `use ${TOKEN} or ${TOKEN}` }], model: "a:b" };
    const { policy_version } = redactor.status();
    const summary = { policy_version, redacted_count: 2, counts: { "github-pat": 2 } };
    const clean = payload("TurnStarted", given);
    expect(gateway.summary?.(clean)).toEqual(summary);
    expect(
      gateway.summary?.({ ...given, content: [{ type: "text", text: "«redacted:no-such-kind»" }] }),
    ).toBeUndefined();
    expect(gateway.totals?.()).toEqual({ policy_version, redacted_count: 0, counts: {} });
    gateway.payload("TurnStarted", given);
    expect(gateway.totals?.()).toEqual(summary);
  });

  test("leaves a summary as it is, unless it holds a secret itself", () => {
    const given = { turn, content: [], model: "a:b" };
    const redaction = { policy_version: "0123456789abcdef", redacted_count: 1234, counts: { password: 1234 } };
    const known = { ...given, redaction };
    expect(payload("TurnStarted", known)).toBe(known);
    const forged = { ...given, redaction: { ...redaction, counts: { [TOKEN]: 1 } } };
    expect(JSON.stringify(payload("TurnStarted", forged))).not.toContain(TOKEN);
  });

  test("redacts every part of a request", () => {
    const clean = request({
      model: "a:b",
      system: [`key ${TOKEN}`],
      messages: [{ role: "user", content: [{ type: "text", text: TOKEN }] }],
      tools: [{ name: "t", description: TOKEN, parameters: { default: TOKEN } }],
    });
    expect(JSON.stringify(clean)).not.toContain(TOKEN);
    expect(JSON.stringify(clean).match(/«redacted:github-pat»/g)).toHaveLength(4);
  });
});
