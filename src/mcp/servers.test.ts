/** The published reference servers, as programs over stdio. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openServers, referenceServer } from "../../test/fakes/mcp-world.ts";

function open(...args: Parameters<typeof openServers>): ReturnType<typeof openServers> {
  const opened = openServers(...args);
  onTestFinished(() => opened.close());
  return opened;
}

test("all three connect side by side and answer calls", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mcp-"));
  writeFileSync(join(folder, "note.txt"), "one line\n");
  const servers = open([
    referenceServer("everything"),
    referenceServer("filesystem", [folder], { readOnlyTools: ["read_text_file"] }),
    referenceServer("memory", [], { env: { MEMORY_FILE_PATH: join(folder, "memory.json") } }),
  ]);
  await servers.ready();
  expect(servers.states()).toMatchObject([
    { name: "everything", state: "ready", era: "legacy", protocolVersion: "2025-11-25", restarts: 0 },
    { name: "filesystem", state: "ready", era: "legacy" },
    { name: "memory", state: "ready", era: "legacy", tools: 9 },
  ]);
  expect(await servers.run("mcp.everything.echo", { message: "hello" })).toEqual({
    content: [{ type: "text", text: "Echo: hello" }],
    isError: false,
  });
  const read = await servers.run("mcp.filesystem.read_text_file", { path: join(folder, "note.txt") });
  expect(read).toEqual({ content: [{ type: "text", text: "one line\n" }], isError: false });
  const made = await servers.run("mcp.memory.create_entities", {
    entities: [{ name: "a", entityType: "b", observations: [] }],
  });
  expect(made.isError).toBe(false);
  expect(servers.tool("mcp.filesystem.read_text_file").class).toBe("read_only");
  expect(servers.tool("mcp.filesystem.write_file").class).toBe("mutating");
  expect(servers.tools()).toBe(servers.tools());
});

test("every kind of content becomes a block", async () => {
  const servers = open([referenceServer("everything")]);
  await servers.ready();
  const image = await servers.run("mcp.everything.get-tiny-image");
  expect(image.content.map(({ type }) => type)).toEqual(["text", "image", "text"]);
  const links = await servers.run("mcp.everything.get-resource-links", { count: 1 });
  expect(links.content.at(-1)).toMatchObject({ text: expect.stringMatching(/^\[resource link: demo:\/\//) });
  const embedded = await servers.run("mcp.everything.get-resource-reference", { resourceType: "Text", resourceId: 1 });
  expect(embedded.content).toContainEqual({ type: "text", text: expect.stringMatching(/^\[resource: demo:\/\//) });
  const structured = await servers.run("mcp.everything.get-structured-content", { location: "Chicago" });
  expect(structured.content).toEqual([{ type: "text", text: expect.stringMatching(/^\{"temperature":/) }]);
});

test("progress arrives, all of it, and a cancelled call ends at once", async () => {
  const servers = open([referenceServer("everything")]);
  await servers.ready();
  const told: string[] = [];
  const progress = (text: string) => void told.push(text);
  const name = "mcp.everything.trigger-long-running-operation";
  await servers.run(name, { duration: 0.05, steps: 5 }, { progress });
  expect(told).toHaveLength(5);
  const cancelling = new AbortController();
  const long = servers.run(name, { duration: 600, steps: 2 }, { signal: cancelling.signal });
  cancelling.abort();
  await expect(long).rejects.toMatchObject({ reason: "Cancelled" });
});

test("what the server refuses is an answer", async () => {
  const servers = open([referenceServer("everything")]);
  await servers.ready();
  const refused = await servers.run("mcp.everything.get-sum", { a: "x" });
  expect(refused).toMatchObject({ isError: true });
  const call = { server: "everything", tool: "nothing", args: {}, timeoutMs: 1_000 };
  const { signal } = new AbortController();
  expect(await servers.port.call(call, signal)).toMatchObject({ isError: true });
  await expect(servers.port.call({ ...call, server: "nobody" }, signal)).rejects.toMatchObject({
    reason: "ServerUnavailable",
  });
});
