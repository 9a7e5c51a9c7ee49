/** Servers made with both major versions of the SDK, over stdio and over HTTP, all used by one session. */
import { resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { McpServer } from "#artifacts";
import type { ToolContext } from "#engine";
import { createSystemClock } from "#world";
import { createRemoteServers } from "../src/session/remote-servers.ts";
import { answerWith, serveOnLoopback } from "./fakes/http-mcp-server.ts";
import { createSpawningWorld, openServers, stdioServer } from "./fakes/mcp-world.ts";
import { modernHandler } from "./fakes/modern-mcp-server.ts";
import { answerAsSdk1 } from "./fakes/sdk-1-server.ts";
import { testCredentials } from "./fakes/test-credentials.ts";

test("SDK 1.x and 2.x, stdio and HTTP", async () => {
  const program = (name: string, file: string) =>
    stdioServer(name, [resolve(import.meta.dirname, "fakes", file)], { startupTimeoutMs: 60_000, sampling: true });
  const remote = (name: string, { origin }: { readonly origin: string }): McpServer => {
    return { ...stdioServer(name, []), connection: { kind: "http", url: `${origin}/mcp`, headers: {} } };
  };
  const handle = modernHandler();
  const entries = [
    program("old_stdio", "sdk-1-server.ts"),
    program("new_stdio", "modern-mcp-server.ts"),
    remote("old_http", await serveOnLoopback(answerAsSdk1)),
    remote("new_http", await serveOnLoopback((request, response) => answerWith(handle, request, response))),
  ];
  const clock = createSystemClock();
  const credentials = testCredentials({ PATH: process.env.PATH });
  const { fetch } = createRemoteServers({ credentials, domains: () => undefined, clock, bus: () => undefined });
  const servers = openServers(entries, { world: { ...createSpawningWorld(), fetch }, clock });
  onTestFinished(() => servers.close());
  await servers.ready();
  expect(servers.states().map(({ name, state, era, protocolVersion }) => [name, state, era, protocolVersion])).toEqual([
    ["old_stdio", "ready", "legacy", "2025-11-25"],
    ["new_stdio", "ready", "modern", "2026-07-28"],
    ["old_http", "ready", "legacy", "2025-11-25"],
    ["new_http", "ready", "modern", "2026-07-28"],
  ]);
  for (const { name } of entries) {
    expect(await servers.run(`mcp.${name}.add`, { a: 2, b: 3 })).toMatchObject({ content: [{ text: "5" }] });
    await expect.poll(() => servers.prompts().map(({ server }) => server)).toContain(name);
    const asked = { server: name, prompt: "review", arguments: { file: "x.ts" } };
    expect(JSON.stringify(await servers.run("mcp.get_prompt", asked))).toContain("Review x.ts");
    const isOld = name.startsWith("old");
    const typed = { server: name, of: { prompt: "review" }, argument: isOld ? "file" : "style", value: "", others: {} };
    expect(await servers.port.complete(typed, new AbortController().signal)).toEqual(
      isOld ? ["a.ts", "b.ts"] : ["short", "strict"],
    );
  }
  // Of the older era over stdio: over HTTP without sessions nothing can ask back.
  const call: ToolContext["call"] = async (tool, args) => {
    expect([tool, args.server]).toEqual(["mcp.sample", "old_stdio"]);
    return { content: [{ type: "text", text: "Because." }] };
  };
  expect(JSON.stringify(await servers.run("mcp.old_stdio.ask", {}, { call }))).toContain("Because.");
});
