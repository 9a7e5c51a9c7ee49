/** What the sessions of one program share of their MCP servers: processes, and their end. */
import type { McpServer } from "#artifacts";
import { canonicalHash, messageOf, once } from "#base";
import type { McpLog, ServerPool, ToolKeeper } from "#mcp";
import { serverFolders } from "#stores";
import type { SandboxPlace } from "./sandbox.ts";
import { namedVariables } from "./server-world.ts";
import type { SessionServers } from "./servers.ts";

export interface ProgramServers {
  /** Those of the sessions that are open. */
  readonly open: Set<Pick<SessionServers, "states">>;
  /** Loaded with the first session that has a server. */
  readonly shared: () => Promise<{ readonly pool: ServerPool; readonly keeper: ToolKeeper }>;
  /** Aborts when the program begins to end. */
  readonly hurry: AbortSignal;
  /** Servers have less time from now on. */
  beginToEnd(): void;
  /** Resolves when every server has ended whose sessions are closed. */
  close(): Promise<void>;
}

export function createProgramServers(env: Readonly<Record<string, string | undefined>>, log: McpLog): ProgramServers {
  const hurried = new AbortController();
  let isLoaded = false;
  const shared = once(async () => {
    isLoaded = true;
    const { createServerPool, createToolKeeper } = await import("#mcp");
    return { pool: createServerPool(), keeper: createToolKeeper(toolsFolder(env, log), log) };
  });
  return {
    open: new Set(),
    shared,
    hurry: hurried.signal,
    beginToEnd: () => hurried.abort(),
    async close() {
      hurried.abort();
      if (isLoaded) await (await shared()).pool.close();
    },
  };
}

/** Undefined without HOME: then nothing is kept. */
function toolsFolder(env: Readonly<Record<string, string | undefined>>, log: McpLog): string | undefined {
  try {
    return serverFolders(env).tools;
  } catch (error) {
    log("warn", `what the tools of MCP servers are is not kept: ${messageOf(error)}`);
    return undefined;
  }
}

/**
 * Sessions with the same key may use one process. Undefined for a server that a session has to itself: what it reaches over the network
 * is on the record of one session, and nobody can say for whose call a shared process opened a connection.
 */
export function sharedKey(
  server: McpServer,
  { root, settings, deniedPrograms }: SandboxPlace,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const {
    connection,
    startupTimeoutMs,
    toolTimeoutMs,
    discovery,
    enabledTools,
    disabledTools,
    readOnlyTools,
    declaredIn,
    ...own
  } = server;
  if (connection.kind !== "stdio" || connection.network.length > 0) return undefined;
  const { sandbox, network, sandboxPaths } = settings;
  const confinement = { sandbox, network, sandboxPaths, denied: deniedPrograms().toSorted() };
  const variables = namedVariables({ ...server, connection }, env);
  return canonicalHash({ own, connection, variables, root, confinement: JSON.stringify(confinement) });
}
