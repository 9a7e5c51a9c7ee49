import { describe, expect, test } from "vitest";
import { type EventPayload, TurnId } from "#protocol";
import { createRedactionGateway, createRedactor } from "#redaction";
import { createLogRedaction } from "./log-redaction.ts";

const redactor = createRedactor();
const SECRET = `ghp_${"Zk3vQ9xT1mLr7WcB5nYp2HsDf8GjKa4uEoXi"}`;
const VALUE = "9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c";

function delta(text: string): EventPayload<"TextDelta"> {
  return { turn: TurnId.from("2".repeat(26)), step: 1, block: 0, text };
}

function read(...texts: string[]): string[] {
  const redact = createLogRedaction(createRedactionGateway(redactor).payload, (text) => redactor.redact(text).text);
  return texts.map((text) => redact("TextDelta", delta(text)).text);
}

describe("a streamed text that is read back", () => {
  test("is whole in one event", () => {
    expect(read(`use ${SECRET} now`)).toEqual(["use «redacted:github-pat» now"]);
  });

  test("has the name of the secret in the event before", () => {
    const whole = redactor.redact(`Algolia admin key: ${VALUE} and on`).text;
    expect(whole).not.toContain(VALUE);
    expect(read("Algolia admin key: ", `${VALUE} and on`).join("")).toBe(whole);
  });

  test("has a secret over two events: nothing of it is in the second", () => {
    const [, second] = read(`use ${SECRET.slice(0, 20)}`, `${SECRET.slice(20)} now`);
    expect(second).toBe("«redacted:github-pat» now");
  });

  test("is left alone, as the same object, when there is nothing", () => {
    const given = delta("hello");
    const redact = createLogRedaction(createRedactionGateway(redactor).payload, (text) => redactor.redact(text).text);
    redact("TextDelta", delta("well, "));
    expect(redact("TextDelta", given)).toBe(given);
  });
});
