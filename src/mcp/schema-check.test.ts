/** Schemas of others: what they refuse, and that the hostile ones hold nobody up. */
import { expect, onTestFinished, test } from "vitest";
import { createSystemClock } from "#world";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createSchemaCheck } from "./schema-check.ts";
import { schemaFault } from "./schema-limits.ts";

function open(clock = createSystemClock()) {
  const lines: string[] = [];
  const schemas = createSchemaCheck(clock, (_, text) => void lines.push(text));
  onTestFinished(() => schemas.close());
  return { ...schemas, lines };
}

test("values are checked by drafts 7 and 2020-12, and the same $id may come twice", async () => {
  const { check } = open();
  const object = {
    $id: "x",
    type: "object",
    properties: { a: { type: "integer" } },
    required: ["a"],
    additionalProperties: false,
  };
  expect(await check(object, { a: 1 })).toEqual([]);
  expect(await check({ ...object }, { a: "1" })).toEqual(["a: must be integer."]);
  expect(await check(object, {})).toEqual(["must have required property 'a'."]);
  expect(await check(object, { a: 1, b: 2 })).toEqual(['must NOT have additional properties ("b").']);
  const pair = { properties: { p: { items: [{ type: "string" }, { type: "number" }], additionalItems: false } } };
  expect(await check(pair, { p: ["a", 1] })).toEqual([]);
  expect(await check(pair, { p: ["a", "b"] })).toEqual(["p/1: must be number."]);
  const prefixed = { $schema: "https://json-schema.org/draft/2020-12/schema", prefixItems: [{ type: "string" }] };
  expect(await check(prefixed, [1])).toEqual(["0: must be string."]);
  const tree = { type: "object", properties: { child: { $ref: "#" } }, additionalProperties: false };
  expect(await check(tree, { child: { child: { x: 1 } } })).toEqual([
    'child/child: must NOT have additional properties ("x").',
  ]);
});

test("a pattern that takes exponential time elsewhere is checked at once, and one that cannot be is left out and said", async () => {
  const { check, lines } = open();
  const slow = { properties: { a: { type: "string", pattern: "^(a+)+$" } } };
  expect(await check(slow, { a: `${"a".repeat(40)}!` })).toEqual(['a: must match pattern "^(a+)+$".']);
  const lookahead = { properties: { a: { type: "string", pattern: "^(?=x)x$", maxLength: 1 } } };
  expect(await check(lookahead, { a: "y" })).toEqual([]);
  expect(await check(lookahead, { a: "yy" })).toEqual(["a: must NOT have more than 1 characters."]);
  expect(lines).toEqual(["a pattern of a schema is not checked: ^(?=x)x$"]);
});

test("a check that takes too long is ended, and the next one works", async () => {
  const clock = createManualClock();
  const { check } = open(clock);
  expect(await check({ type: "object" }, {})).toEqual([]);
  const unique = { properties: { list: { uniqueItems: true } } };
  const list = Array.from({ length: 200_000 }, (_, at) => ({ at, name: `n${at}` }));
  const slow = check(unique, { list });
  await clock.advance(30_000);
  expect(await slow).toEqual(["The schema of the tool takes too long to check."]);
  expect(await check(unique, { list: [] })).toEqual(["The schema of the tool takes too long to check."]);
  expect(await check({ type: "object" }, {})).toEqual([]);
});

test("it is the time of the processor that counts", async () => {
  const { check } = open();
  const unique = { properties: { list: { uniqueItems: true } } };
  const list = Array.from({ length: 200_000 }, (_, at) => ({ at, name: `n${at}` }));
  const began = performance.now();
  expect(await check(unique, { list })).toEqual(["The schema of the tool takes too long to check."]);
  expect(performance.now() - began).toBeLessThan(29_000);
});

test("what is too large, too deep or somewhere else is refused before it is compiled", () => {
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 5_000; level++) deep = { properties: { a: deep } };
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, {}]));
  expect([
    schemaFault({ type: "object", properties: { a: { $ref: "#/definitions/a" } }, definitions: { a: {} } }),
    schemaFault(deep),
    schemaFault({ properties: many(1_001) }),
    schemaFault({ properties: { a: { $ref: "https://example.org/schema" } } }),
    schemaFault({ description: "x".repeat(70_000) }),
    schemaFault({ $schema: "http://json-schema.org/draft-04/schema#" }),
  ]).toEqual([
    undefined,
    "it is nested more than 64 levels deep",
    "it has more than 1000 properties",
    "it refers to another document",
    "it is longer than 65536 characters",
    "it is written for a JSON Schema draft older than 6",
  ]);
});
