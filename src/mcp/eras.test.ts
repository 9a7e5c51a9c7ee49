/** Both eras over both kinds of wire: the newer one made with the SDK, the older one as the published server speaks it. */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { McpServer } from "#artifacts";
import { createSpawningWorld, openServers, stdioServer } from "../../test/fakes/mcp-world.ts";
import { modernHandler } from "../../test/fakes/modern-mcp-server.ts";

const root = resolve(import.meta.dirname, "../..");

function open(...args: Parameters<typeof openServers>): ReturnType<typeof openServers> {
  const opened = openServers(...args);
  onTestFinished(() => opened.close());
  return opened;
}

function networkServer(url: string, kind: "http" | "sse" = "http"): McpServer {
  return { ...stdioServer("net", []), connection: { kind, url, headers: { "x-key": "1" } } };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  // It listens on TCP.
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

test("a server of the newer era over stdio: calls, progress and changed tools", async () => {
  const servers = open([stdioServer("new", [resolve(root, "test/fakes/modern-mcp-server.ts")])]);
  await servers.ready();
  expect(servers.states()).toMatchObject([{ state: "ready", era: "modern", protocolVersion: "2026-07-28", tools: 8 }]);
  expect(await servers.run("mcp.new.add", { a: 1, b: 2 })).toMatchObject({ content: [{ text: "3" }] });
  const told: string[] = [];
  await servers.run("mcp.new.steps", {}, { progress: (text) => void told.push(text) });
  expect(told).toEqual(Array.from({ length: 50 }, (_, at) => `${at + 1} of 50\n`));
  await servers.run("mcp.new.grow");
  await vi.waitFor(() => expect(servers.tools().map(({ name }) => name)).toContain("mcp.new.grown"), 20_000);
});

test("a server of the newer era over HTTP: headers, calls, and an answer that is too long", async () => {
  const handle = modernHandler();
  const keys = new Set<string | null>();
  const world = {
    ...createSpawningWorld(),
    async fetch(url: string | URL, init?: RequestInit) {
      keys.add(new Headers(init?.headers).get("x-key"));
      return handle(new Request(url, init));
    },
  };
  const servers = open([networkServer("http://server.test/mcp")], { world });
  await servers.ready();
  expect(servers.states()).toMatchObject([{ state: "ready", era: "modern", tools: 8 }]);
  expect(await servers.run("mcp.net.add", { a: 1, b: 2 })).toMatchObject({ content: [{ text: "3" }] });
  await expect(servers.run("mcp.net.fill", { bytes: 11 * 1024 * 1024 })).rejects.toMatchObject({ reason: "TooLarge" });
  expect(await servers.run("mcp.net.add", { a: 2, b: 2 })).toMatchObject({ content: [{ text: "4" }] });
  expect([...keys]).toEqual(["1"]);
});

test("the older era over HTTP and over its first kind of stream", async () => {
  for (const [kind, mode, path] of [
    ["http", "streamableHttp", "mcp"],
    ["sse", "sse", "sse"],
  ] as const) {
    const port = await freePort();
    const program = resolve(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    const child = spawn(process.execPath, [program, mode], { env: { PORT: `${port}` } });
    onTestFinished(() => void child.kill());
    await new Promise<void>((listening) => {
      child.stderr.on("data", (chunk: Buffer) => {
        if (/port \d/.test(chunk.toString())) listening();
      });
    });
    const servers = open([networkServer(`http://127.0.0.1:${port}/${path}`, kind)]);
    await servers.ready();
    expect(servers.states()).toMatchObject([{ state: "ready", era: "legacy" }]);
    expect(await servers.run("mcp.net.echo", { message: "x" })).toMatchObject({ content: [{ text: "Echo: x" }] });
    child.kill();
    await new Promise((ended) => child.once("exit", ended));
    await expect(servers.run("mcp.net.echo", { message: "x" })).rejects.toThrow(/^«mcp-server-unavailable»/);
    await vi.waitFor(() => expect(servers.states()).toMatchObject([{ restarts: 1 }]), 20_000);
  }
});

test("a redirect to another origin is refused", async () => {
  const asked: string[] = [];
  const world = {
    ...createSpawningWorld(),
    async fetch(url: string | URL) {
      asked.push(new URL(url).origin);
      return new Response(null, { status: 307, headers: { location: "http://169.254.169.254/latest" } });
    },
  };
  const servers = open([networkServer("https://server.test/mcp")], { world });
  await servers.ready();
  expect(servers.states()).toMatchObject([{ state: "down", lastError: expect.stringMatching(/redirect/i) }]);
  expect([...new Set(asked)]).toEqual(["https://server.test"]);
});
