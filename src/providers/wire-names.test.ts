import { expect, test } from "vitest";
import { createWireNames } from "./wire-names.ts";

const named = (...names: string[]) => names.map((name) => ({ name, description: "", parameters: {} }));

test("a name is put into the characters and the length that vendors take, and found again", () => {
  const long = `mcp.server.${"x".repeat(80)}`;
  const other = `mcp.server.${"x".repeat(81)}`;
  const names = createWireNames(named("fs.read", "mcp.server.a/b:c", long, other));
  expect(names.toWire("fs.read")).toBe("fs_read");
  expect(names.toWire("mcp.server.a/b:c")).toBe("mcp_server_a_b_c");
  for (const name of [long, other]) {
    expect(names.toWire(name)).toMatch(/^mcp_server_x{44}_[0-9a-f]{8}$/);
    expect(names.toCanonical(names.toWire(name))).toBe(name);
    expect(createWireNames([]).toWire(name)).toBe(names.toWire(name));
  }
});

test("a tool of a server whose name is taken gets another one", () => {
  const clashing = ["mcp.a_b.x", "mcp.a.b_x", "mcp.a.b.x", "mcp_a.b_x"];
  const names = createWireNames(named(...clashing));
  expect(names.toWire("mcp_a.b_x")).toBe("mcp_a_b_x");
  expect(new Set(clashing.map(names.toWire)).size).toBe(4);
  expect(clashing.map((name) => names.toCanonical(names.toWire(name)))).toEqual(clashing);
});
