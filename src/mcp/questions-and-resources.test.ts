/** What servers ask people, and what they have besides tools, in both eras. */
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { QuestionDetails, ToolContext } from "#engine";
import { openServers, referenceServer, stdioServer } from "../../test/fakes/mcp-world.ts";
import { readResources } from "./resource-list.ts";

const root = resolve(import.meta.dirname, "../..");
const modern = () => stdioServer("new", [resolve(root, "test/fakes/modern-mcp-server.ts")]);

/** One of each for all tests: starting them takes most of the time. */
const servers = openServers([modern(), referenceServer("everything")], { root: "/work space" });
beforeAll(() => servers.ready());
afterAll(() => servers.close());

/** A person who gives these answers, one after the other, and then is gone. */
function person(...answers: readonly string[]) {
  const asked: (QuestionDetails & { readonly question: string })[] = [];
  const left = [...answers];
  const ask: ToolContext["ask"] = async (question, _options, details) => {
    asked.push({ question, ...details });
    return left.shift();
  };
  return { asked, ask };
}

const textOf = (output: { readonly content: readonly unknown[] }): string => JSON.stringify(output.content);

test("newer era: a form is a question that names the server, and the request is repeated with its answer", async () => {
  const { asked, ask } = person('{"city":"x"}', '{"place":"Ulm"}');
  expect(textOf(await servers.run("mcp.new.where", {}, { ask }))).toContain("It is in Ulm.");
  expect(asked[0]).toMatchObject({ server: "new", form: [{ name: "place", type: "text", required: true }] });
  expect(asked[0]?.question).toMatch(/^The MCP server 'new' asks: Where\?[\s\S]*Do not enter passwords/);
  expect(asked[1]?.question).toContain("The form has no field city.");
});

test("newer era: a person may decline, and nobody there cancels at once", async () => {
  for (const { ask } of [person("decline"), person()]) {
    expect(textOf(await servers.run("mcp.new.where", {}, { ask }))).toContain("Nobody said.");
  }
});

test("newer era: a request that wants input for ever ends", async () => {
  const output = await servers.run("mcp.new.never");
  expect(output).toMatchObject({ isError: true });
  expect(textOf(output)).toContain("it wanted input more than 10 times");
});

test("older era: the published server asks with a form of every kind, and for an address", async () => {
  const filled = { name: "Ada", check: true };
  const { asked, ask } = person(JSON.stringify(filled));
  expect(textOf(await servers.run("mcp.everything.trigger-elicitation-request", {}, { ask }))).toContain("Ada");
  expect(new Set(asked[0]?.form?.map(({ type }) => type))).toEqual(
    new Set(["text", "boolean", "integer", "number", "choice", "choices"]),
  );
  // The workspace is the one root.
  await expect
    .poll(async () => textOf(await servers.run("mcp.everything.get-roots-list")))
    .toContain("file:///work%20space");
});

test("resources are listed and read, and a change is told once, in the newer era", async () => {
  expect(textOf(await servers.run("mcp.resources", { query: "note" }))).toContain(
    "new note://1 (note; text/plain; A note.)",
  );
  const read = { server: "new", uri: "note://1" };
  expect(textOf(await servers.run("mcp.read_resource", read))).toContain("[resource: note://1]\\nfirst");
  await expect
    .poll(async () => {
      await servers.run("mcp.new.rewrite");
      return servers.updates();
    })
    .toEqual([{ server: "new", uri: "note://1" }]);
  expect(await servers.updates()).toEqual([]);
  expect(servers.lines.join("\n")).toContain("debug new: the note was changed");
  expect(textOf(await servers.run("mcp.read_resource", read))).toContain("second");
});

test("resources of the older era: templates, blobs, and what does not exist", async () => {
  expect(textOf(await servers.run("mcp.resources", { server: "everything", limit: 200 }))).toContain("template");
  const text = { server: "everything", uri: "demo://resource/dynamic/text/1" };
  expect(textOf(await servers.run("mcp.read_resource", text))).toContain("[resource: demo://resource/dynamic/text/1]");
  const blob = { server: "everything", uri: "demo://resource/dynamic/blob/1" };
  expect(textOf(await servers.run("mcp.read_resource", blob))).toMatch(/bytes: not shown\]/);
  const missing = await servers.run("mcp.read_resource", { server: "everything", uri: "demo://none" });
  expect(missing).toMatchObject({ isError: true });
  for (const uri of ["no-scheme", "file:///a b", "x:\u202e1"]) {
    await expect(servers.run("mcp.read_resource", { server: "everything", uri })).rejects.toThrow("not a URI");
  }
  await expect(servers.run("mcp.read_resource", { server: "other", uri: "x:1" })).rejects.toThrow("everything");
});

test("a resource that is too large is refused, and the server goes on", async () => {
  const read = (uri: string) => servers.run("mcp.read_resource", { server: "new", uri });
  await expect(read("note://big")).rejects.toMatchObject({ reason: "TooLarge" });
  expect(textOf(await read("note://1"))).toContain("note://1");
});

test("of too many resources the first are listed, and of names only what is one", () => {
  const refused: string[] = [];
  const read = readResources((why) => void refused.push(why));
  const page = Array.from({ length: 10_001 }, (_, at) => ({ uri: `x://${at}`, name: "\u001b[2Jn" }));
  expect(read.add([{ uri: "no scheme" }, { uri: "x://\u202e" }, "x", ...page], false)).toBe(false);
  expect(read.resources()).toHaveLength(10_000);
  expect(read.resources()[0]?.name).not.toContain("\u001b");
  expect(refused).toHaveLength(4);
});

test("a server without resources brings no tools for them", async () => {
  const others = openServers([referenceServer("filesystem", [root])]);
  onTestFinished(() => others.close());
  await others.ready();
  expect(others.tools().map(({ name }) => name)).not.toContain("mcp.resources");
});
