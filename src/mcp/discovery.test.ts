/** Servers with many tools: what the model sees of them, how it finds one, and that it can call one at once. */
import { beforeAll, expect, test } from "vitest";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { openServers, stdioServer } from "../../test/fakes/mcp-world.ts";
import { createScriptedWorld } from "../../test/fakes/scripted-mcp-world.ts";
import { loadSdk } from "./sdk.ts";
import { createToolSearch } from "./tool-search.ts";

beforeAll(() => loadSdk());

async function open(
  toolCount: number,
  names: readonly string[] = ["s"],
  discovery: "auto" | "lazy" | "eager" = "auto",
) {
  const clock = createManualClock();
  const world = createScriptedWorld(clock);
  world.tools = Array.from({ length: toolCount }, (_, at) => ({
    name: `tool_${at}`,
    description: `Does the thing number ${at}.\nAt length.`,
    inputSchema: { type: "object", properties: { at: { const: at } } },
  }));
  const servers = openServers(
    names.map((name) => stdioServer(name, [], { discovery })),
    { clock, world },
  );
  void servers.ready();
  await clock.advance(0);
  const offered = () => servers.tools().filter(({ deferred }) => deferred !== true);
  return { servers, offered: () => offered().map(({ name }) => name) };
}

test("up to 20 tools are offered as they are, more only by name", async () => {
  expect((await open(20)).offered()).toHaveLength(20);
  expect((await open(21)).offered()).toEqual(["mcp.search", "mcp.describe"]);
  expect((await open(1, ["s"], "lazy")).offered()).toEqual(["mcp.search", "mcp.describe"]);
  expect((await open(200, ["s"], "eager")).offered()).toHaveLength(200);
  expect((await open(0, ["s"], "lazy")).offered()).toEqual([]);
});

test("the menu has a line for each tool while it fits, and one for each server beyond", async () => {
  const few = await open(21);
  const { description } = few.servers.tool("mcp.search");
  expect(description).toContain("\nmcp.s.tool_20: Does the thing number 20.");
  expect(description).not.toContain("At length");
  const many = await open(
    50,
    Array.from({ length: 20 }, (_, at) => `server${at}`),
  );
  const menu = many.servers.tool("mcp.search").description;
  expect(menu).toContain("\nserver19: 50 tools");
  expect(Buffer.byteLength(menu)).toBeLessThan(4_300);
});

test("a tool that was described is offered with its schema; the others stay the same objects", async () => {
  const { servers, offered } = await open(30);
  const other = servers.tool("mcp.s.tool_1");
  const output = await servers.run("mcp.describe", { names: ["mcp.s.tool_7", "mcp.s.none"] });
  expect(output.content[0]).toMatchObject({ text: expect.stringContaining('"properties":{"at":{"const":7}}') });
  expect(output.content[0]).toMatchObject({ text: expect.stringContaining("No such tool: mcp.s.none") });
  expect(offered()).toEqual(["mcp.search", "mcp.describe", "mcp.s.tool_7"]);
  expect(servers.tool("mcp.s.tool_1")).toBe(other);
  await expect(servers.run("mcp.describe", { names: ["fs.read"] })).rejects.toThrow(/^No such tool: fs\.read\./);
});

test("a tool that was not described can be called by its name", async () => {
  const { servers } = await open(30);
  expect(await servers.run("mcp.s.tool_7", {})).toMatchObject({ content: [{ text: "done" }] });
});

test("search knows parts of names, beginnings of words, and ranks names before descriptions", () => {
  const search = createToolSearch(
    [
      ["readTextFile", "Contents of a document."],
      ["write_file", "Changes a document."],
      ["list-issues", "Issues of a repository, as text."],
    ].map(([name = "", description = ""]) => ({ name, description })),
  );
  const found = (query: string) => search.find(query, 2).map(({ name }) => name);
  expect(found("text")).toEqual(["readTextFile", "list-issues"]);
  expect(found("repo")).toEqual(["list-issues"]);
  expect(found("file write")).toEqual(["write_file", "readTextFile"]);
  expect(found("xyz")).toEqual([]);
  expect(found("")).toEqual([]);
});
