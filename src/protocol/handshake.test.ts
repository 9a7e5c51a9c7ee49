import { expect, it } from "vitest";
import type { z } from "zod";
import * as fields from "./command-fields.ts";
import { type CommandKind, commandRows } from "./command-rows.ts";
import { commands } from "./commands.ts";
import { contentBlocks, inputBlock } from "./content.ts";
import { events } from "./events.ts";
import { buildHandshake, ENGINE_FEATURES, FEATURES, handshakeSchema } from "./handshake.ts";
import { protocolJsonSchema } from "./schemas.ts";

it("lists exactly what the tables have", () => {
  const handshake = buildHandshake();
  expect(handshake).toEqual({
    protocol_version: "0.1.0",
    canonical_form_version: 1,
    schema_version_token_claim: 1,
    schema_version_profile: 1,
    schema_version_session_log: 1,
    command_kinds: Object.keys(commands),
    event_kinds: Object.keys(events),
    features: [...FEATURES.keys(), ...ENGINE_FEATURES],
    resource_uri_scheme: "harness/v1",
  });
  expect(handshakeSchema.parse(handshake)).toEqual(handshake);
});

/** Of the protocol as it was first written: what came later is behind a feature. */
const FIRST: readonly CommandKind[] = [
  "SendInput",
  "CancelTurn",
  "AnswerPermission",
  "CreateSession",
  "AttachSession",
  "DetachSession",
  "SetModel",
  "CustomCommand",
];

it("has a feature for every command that came later, and says so at the command", () => {
  const owned = [...FEATURES.values()].flat();
  expect([...FIRST, ...owned].toSorted()).toEqual(Object.keys(commands).toSorted());
  for (const [feature, kinds] of FEATURES) {
    for (const kind of kinds) expect(commands[kind].description).toContain(`Feature: ${feature}.`);
  }
});

it("knows every feature that a table speaks of", () => {
  const texts = JSON.stringify(protocolJsonSchema());
  const named = new Set([...texts.matchAll(/Feature: (\w+)/g)].map(([, name = ""]) => name));
  expect([...named].filter((name) => !FEATURES.has(name) && !ENGINE_FEATURES.includes(name))).toEqual([]);
});

/** Of the fields that the first commands had from the beginning. */
const FIRST_FIELDS: Readonly<Record<string, string>> = {
  SendInput: "kind session content",
  AnswerPermission: "kind session call_id decision reason",
  CreateSession: "kind profile resume working_dir model",
};

it("has a feature for every field that a first command got later, and says so at the field", () => {
  for (const [kind, first] of Object.entries(FIRST_FIELDS)) {
    const params = Object.entries(commandRows[kind as CommandKind].params(fields)); // a kind of the table above
    const later = params.filter(([name]) => !first.split(" ").includes(name));
    expect(later).toHaveLength(1);
    for (const [name, field] of later) {
      expect((field as z.ZodType).description, `${kind}.${name}`).toMatch(/Feature: \w+\.$/);
    }
  }
});

/** Of the blocks that an input had from the beginning. */
const FIRST_BLOCKS = ["text", "image"];

it("has a feature for every block that an input got later, and says so at the block", () => {
  const examples: Readonly<Record<string, object>> = { file: { name: "a", text: "" } };
  const later = Object.entries(contentBlocks).filter(
    ([type]) => !FIRST_BLOCKS.includes(type) && inputBlock.safeParse({ type, ...examples[type] }).success,
  );
  expect(later.map(([type]) => type)).toEqual(Object.keys(examples));
  for (const [type, { description }] of later) expect(description, type).toMatch(/Feature: \w+\.$/);
});
