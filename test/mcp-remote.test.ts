/** MCP servers on the network, as a session reaches them: through the real credential helper, from real sockets. */
import type { ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import type { McpServer } from "#artifacts";
import { createDomainList, type DomainList } from "#base";
import type { EventBus } from "#engine";
import { createSystemClock } from "#world";
import { createRemoteServers } from "../src/session/remote-servers.ts";
import { answerWith, serveOnLoopback } from "./fakes/http-mcp-server.ts";
import { createSpawningWorld, openServers, stdioServer } from "./fakes/mcp-world.ts";
import { modernHandler } from "./fakes/modern-mcp-server.ts";
import { testCredentials } from "./fakes/test-credentials.ts";

const TOKEN = "mcp-token-4f8a1c9e2b7d6053";

function remote(
  url: string,
  more: Partial<Extract<McpServer["connection"], { kind: "http" | "sse" }>> = {},
  limits: Partial<McpServer> = {},
): McpServer {
  return { ...stdioServer("net", []), ...limits, connection: { kind: "http", url, headers: {}, ...more } };
}

function open(server: McpServer, domains?: DomainList) {
  const events: Record<string, unknown>[] = [];
  const bus = { publish: async (_kind: string, payload: object) => void events.push({ ...payload }) };
  const credentials = testCredentials({ NET_TOKEN: TOKEN, PATH: process.env.PATH });
  const clock = createSystemClock();
  // Only `publish` is used.
  const made = createRemoteServers({
    credentials,
    domains: () => domains,
    clock,
    bus: () => bus as unknown as EventBus,
  });
  const world = { ...createSpawningWorld(), fetch: made.fetch };
  const servers = openServers([server], { world, clock });
  onTestFinished(async () => {
    await servers.close();
    await made.close();
  });
  return { servers, events, made };
}

const failure = (lastError: RegExp) => [{ state: "down", lastError: expect.stringMatching(lastError) }];

test("calls through the helper: plain and secret headers, an echoed secret, the record, an answer that is too long", async () => {
  const handle = modernHandler();
  const { origin, seen } = await serveOnLoopback((request, response) => {
    response.setHeader("x-echo", `${request.headers.authorization}`);
    return answerWith(handle, request, response);
  });
  const server = remote(`${origin}/mcp`, {
    headers: { "x-plain": "1" },
    envHeaders: { "x-secret": "NET_TOKEN" },
    bearerVariable: "NET_TOKEN",
  });
  const { servers, events, made } = open(server);
  await servers.ready();
  expect(servers.states()).toMatchObject([{ state: "ready", era: "modern", tools: 8 }]);
  expect(await servers.run("mcp.net.add", { a: 1, b: 2 })).toMatchObject({ content: [{ text: "3" }] });
  expect(seen.at(-1)?.headers).toMatchObject({
    "x-plain": "1",
    "x-secret": TOKEN,
    authorization: `Bearer ${TOKEN}`,
  });
  const direct = await made.fetch(`${origin}/mcp`, { method: "GET" }, server);
  expect(JSON.stringify([...direct.headers]) + (await direct.text())).not.toContain(TOKEN);
  await expect(servers.run("mcp.net.fill", { bytes: 11 * 1024 * 1024 })).rejects.toMatchObject({ reason: "TooLarge" });
  expect(await servers.run("mcp.net.add", { a: 2, b: 2 })).toMatchObject({ content: [{ text: "4" }] });
  await servers.close();
  await made.close();
  const port = Number(new URL(origin).port);
  expect(events).toMatchObject([
    { connection: 1, host: "127.0.0.1", port, state: "opened" },
    { connection: 1, host: "127.0.0.1", port, state: "closed", bytes_received: expect.any(Number) },
  ]);
  expect(JSON.stringify(events)).not.toContain(TOKEN);
});

test("a host that the session may not reach is refused, on the record", async () => {
  const { origin, seen } = await serveOnLoopback((_, response) => void response.end());
  const listed = open(remote(`${origin}/mcp`), createDomainList([["example.org"]]));
  await listed.servers.ready();
  expect(listed.servers.states()).toMatchObject(failure(/SandboxError/));
  expect(listed.events).toMatchObject([{ state: "refused", host: "127.0.0.1" }]);
  expect(seen).toEqual([]);
});

test("a variable that is not set is named", async () => {
  const { servers } = open(remote("http://127.0.0.1:9/mcp", { bearerVariable: "NOT_THERE" }));
  await servers.ready();
  expect(servers.states()).toMatchObject(failure(/the variable NOT_THERE.* is not set/));
});

test("a redirect to a private address or to another origin is refused; one within the origin is followed", async () => {
  const other = await serveOnLoopback((_, response) => void response.end());
  for (const location of ["http://169.254.169.254/latest", `${other.origin}/mcp`]) {
    const { origin } = await serveOnLoopback((_, response) => void response.writeHead(307, { location }).end());
    const { servers } = open(remote(`${origin}/mcp`, { bearerVariable: "NET_TOKEN" }));
    await servers.ready();
    expect(servers.states()).toMatchObject(failure(/redirects to another origin/));
  }
  expect(other.seen).toEqual([]);
  const handle = modernHandler();
  const { origin } = await serveOnLoopback((request, response) =>
    request.url === "/mcp"
      ? response.writeHead(307, { location: "/next" }).end()
      : answerWith(handle, request, response),
  );
  const { servers } = open(remote(`${origin}/mcp`));
  await servers.ready();
  expect(servers.states()).toMatchObject([{ state: "ready" }]);
});

/** Speaks the older era as far as the list of one tool, and leaves the rest to the test. */
function legacyServer(call: (id: unknown, response: ServerResponse) => unknown) {
  return serveOnLoopback(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: number; method: string };
    const json = (value: object) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, ...value }));
    if (id === undefined) return response.writeHead(202).end();
    if (method === "initialize") {
      const serverInfo = { name: "t", version: "1" };
      return json({ result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } });
    }
    if (method === "tools/list") return json({ result: { tools: [{ name: "t", inputSchema: { type: "object" } }] } });
    if (method === "tools/call") return call(id, response);
    return json({ error: { code: -32601, message: "unknown" } });
  });
}

test("hostile answers: endless streams, 100 MB, silence and bytes that are no text end in typed errors", async () => {
  const event = { "content-type": "text/event-stream" };
  const json = { "content-type": "application/json" };
  let mode = "";
  const { origin } = await legacyServer(async (id, response) => {
    const piece = Buffer.from(`: ${"x".repeat(64 * 1024)}\n\n`);
    if (mode === "silent") return undefined;
    if (mode === "half") return response.writeHead(200, json).write('{"jsonrpc":');
    if (mode === "no text") return response.writeHead(200, json).end(Buffer.from([0x22, 0xff, 0xfe, 0x22]));
    if (mode === "no text in a stream") return response.writeHead(200, event).end(Buffer.from([0x64, 0xff, 0xfe]));
    if (mode === "fine") {
      return response
        .writeHead(200, json)
        .end(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "ok" }] } }));
    }
    response.writeHead(200, mode === "endless" ? event : json);
    for (let bytes = 0; bytes < 100 * 1024 * 1024 && !response.destroyed; bytes += piece.length) {
      if (!response.write(piece)) await new Promise((go) => response.once("drain", go).once("close", go));
    }
    return response.end();
  });
  const tried = async (toolTimeoutMs: number) => {
    const { servers } = open(remote(`${origin}/mcp`, {}, { toolTimeoutMs }));
    await servers.ready();
    expect(servers.states()).toMatchObject([{ state: "ready", era: "legacy", tools: 1 }]);
    return async (of: string) => {
      mode = of;
      return servers.run("mcp.net.t").catch((error: unknown) => error);
    };
  };
  const impatient = await tried(400);
  expect(await impatient("silent")).toMatchObject({ reason: "ToolTimeout" });
  expect(await impatient("half")).toMatchObject({ reason: "ToolTimeout" });
  const outcome = await tried(20_000);
  expect(await outcome("fine")).toMatchObject({ content: [{ text: "ok" }] });
  expect(JSON.stringify(await outcome("no text in a stream"))).toContain("not valid UTF-8");
  expect(await outcome("100 MB")).toMatchObject({ reason: expect.stringMatching(/TooLarge|Timeout/) });
  expect(await outcome("endless")).toMatchObject({ reason: expect.stringMatching(/TooLarge|Timeout/) });
  expect(String(await outcome("no text"))).toMatch(/not valid UTF-8/);
});

test("a server that hangs in the handshake or in its list does not hold up the session", async () => {
  for (const silent of ["initialize", "tools/list"]) {
    const { origin } = await serveOnLoopback(async (request, response) => {
      if (request.method !== "POST") return response.writeHead(405).end();
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id?: number; method: string };
      if (id === undefined) return response.writeHead(202).end();
      if (method === silent) return undefined;
      const serverInfo = { name: "t", version: "1" };
      const body =
        method === "initialize"
          ? { result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } }
          : { error: { code: -32601, message: "unknown" } };
      return response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
    });
    const { servers } = open(remote(`${origin}/mcp`, {}, { startupTimeoutMs: 300 }));
    await servers.ready();
    expect(servers.states()).toMatchObject([{ state: "starting" }]);
    await servers.close();
  }
});
