import { describe, expect, it } from "vitest";
import { commandKinds } from "./command-rows.ts";
import { replies } from "./commands.ts";
import { commands, contentBlocks, events, parseReply, protocolJsonSchema, wireReply } from "./schemas.ts";

/** Commands that are answered with more than that they are carried out. */
const ANSWERED = commandKinds.filter((kind) => Object.keys(replies[kind].in.shape).length > 0);

describe("the JSON Schema document", () => {
  const { $defs: defs, ...rest } = protocolJsonSchema();

  it("has every command, reply, event and block, the envelope and the handshake, and nothing else", () => {
    expect(Object.keys(defs as object)).toEqual([
      ...Object.keys(commands).map((name) => `command.${name}`),
      ...ANSWERED.map((name) => `reply.${name}`),
      ...Object.keys(events).map((name) => `event.${name}`),
      ...Object.keys(contentBlocks).map((name) => `block.${name}`),
      "envelope",
      "handshake",
    ]);
    expect(rest).toEqual({ $schema: "https://json-schema.org/draft/2020-12/schema", $id: "harness-protocol" });
  });

  it("describes each as an object, commands and events in words", () => {
    for (const [name, schema] of Object.entries(defs as Record<string, object>)) {
      expect(schema, name).toMatchObject({ type: "object", properties: expect.any(Object) });
      if (/^(command|event)\./.test(name)) expect(schema, name).toHaveProperty("description");
    }
  });

  it("says what is required and how ids look", () => {
    expect(defs).toMatchObject({
      "command.SendInput": {
        properties: {
          kind: { const: "SendInput" },
          session: { type: "string", pattern: "^sess_[0-9A-HJKMNP-TV-Z]{26}$" },
        },
        required: ["kind", "session", "content"],
      },
      "event.PlanModeChanged": { properties: { active: { type: "boolean" } }, required: ["active"] },
    });
  });

  it("is JSON", () => {
    const document = protocolJsonSchema();
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });
});

describe("a reply", () => {
  const turn = `turn_${"0".repeat(26)}`;

  it("is taken with fields that are not known here, which go", () => {
    expect(parseReply("SendInput", { kind: "SendInput", turn, later: 1 })).toEqual({ turn });
    expect(parseReply("CancelTurn", { ok: true })).toEqual({});
  });

  it.each([undefined, "yes", {}, { turn: "sess_1" }])("is not taken for one when it is %j", (value) => {
    expect(parseReply("SendInput", value)).toBeUndefined();
  });

  it("goes out without what is only for this process", () => {
    expect(wireReply("SendInput", { turn, done: Promise.resolve() })).toEqual({ kind: "SendInput", turn });
  });
});
