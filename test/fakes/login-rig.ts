/** A home with its own credential file, a login in the real credential helper, and an MCP server that is used with it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { McpServer } from "#artifacts";
import type { HelperCredentials } from "#credentials";
import { createSystemClock } from "#world";
import { createRemoteServers } from "../../src/session/remote-servers.ts";
import { createSpawningWorld, openServers, stdioServer } from "./mcp-world.ts";
import { startOAuthServer } from "./oauth-server.ts";
import { testCredentials } from "./test-credentials.ts";

type RemoteConnection = Extract<McpServer["connection"], { kind: "http" | "sse" }>;

export async function startLoginRig() {
  const home = mkdtempSync(join(tmpdir(), "harness-login-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const env = { HOME: home, PATH: process.env.PATH, HARNESS_MACHINE_KEY: "ab".repeat(32) };
  return {
    env,
    config: join(home, ".config/harness"),
    oauth: await startOAuthServer(),
    credentials: testCredentials(env),
  };
}

export function openLoginServer(credentials: HelperCredentials, url: string, more: Partial<RemoteConnection> = {}) {
  const clock = createSystemClock();
  const remote = createRemoteServers({ credentials, domains: () => undefined, clock, bus: () => undefined });
  const server: McpServer = { ...stdioServer("net", []), connection: { kind: "http", url, headers: {}, ...more } };
  const servers = openServers([server], { world: { ...createSpawningWorld(), fetch: remote.fetch }, clock });
  onTestFinished(() => servers.close());
  return { servers, server, remote, add: () => servers.run("mcp.net.add", { a: 1, b: 2 }) };
}

/** As a browser whose owner agrees: follows the address to the end, which is the page of the login. */
export async function agree(url: string): Promise<Response> {
  return fetch(url);
}

export interface LoginOptions {
  /** What the person does with the address. */
  readonly visit?: (url: string) => unknown;
  readonly signal?: AbortSignal;
  readonly entry?: Partial<Parameters<HelperCredentials["login"]>[0]>;
}

export function login(credentials: HelperCredentials, url: string, options: LoginOptions = {}) {
  const { visit = agree, signal = new AbortController().signal, entry } = options;
  return credentials.login({
    ...{ name: "net", url, kind: "http", headers: {}, mayBePrivate: false, ...entry },
    onAddress: (address) => void visit(address),
    signal,
  });
}
