import { expect, test } from "vitest";
import { headerFault } from "./header-declarations.ts";

const schema = (...properties: Record<string, unknown>[]) => ({
  type: "object",
  properties: Object.fromEntries(properties.map((property, at) => [`p${at}`, property])),
});
const header = (name: unknown, type = "string") => ({ type, "x-mcp-header": name });

test("declarations that can be used, and schemas without any", () => {
  expect(headerFault(schema(header("Region"), header("Zone", "integer"), { type: "string" }))).toBeUndefined();
  expect(headerFault(schema(schema(header("Deep", "boolean"))))).toBeUndefined();
  expect(headerFault(schema({ type: "object", default: header("") }))).toBeUndefined();
});

test.each([
  ["is not the name", schema(header(""))],
  ["is not the name", schema(header(7))],
  ["is not the name", schema(header("a b"))],
  ["is not the name", schema(header("a\u0001"))],
  ["is not the name", schema(header("Größe"))],
  ["needs a text", schema(header("A", "object"))],
  ["needs a text", schema(header("A", "number"))],
  ["same header twice", schema(header("A"), header("a"))],
  ["plain properties", { type: "object", "x-mcp-header": "A" }],
  ["plain properties", schema({ type: "array", items: header("A") })],
  ["plain properties", { ...schema(), anyOf: [schema(header("A"))] }],
])("%s: %j", (why, inputSchema) => {
  expect(headerFault(inputSchema)).toContain(why);
});
