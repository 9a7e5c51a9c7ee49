/** A harness with MCP servers in their confinement, and what hostile ones could do there. */
import { dirname, join } from "node:path";
import type { McpServer } from "#artifacts";
import { calls, createHarnessRig, type HarnessRig, type RigOptions } from "./harness-rig.ts";
import { stdioServer } from "./mcp-world.ts";
import type { MockReply } from "./mock-reply.ts";
import { createTemporaryWorkspace } from "./temporary-workspace.ts";

export const CHECKOUT = dirname(dirname(import.meta.dirname));

/** Sees the packages of this checkout and the Node that runs it. */
export function shown(server: McpServer): McpServer {
  const { connection } = server;
  if (connection.kind !== "stdio") throw new Error("a program was expected");
  return { ...server, connection: { ...connection, paths: [CHECKOUT] } };
}

/** It runs the scripts that it is called with, for somebody who wants to know what a hostile one could do. */
export function shell(more: Parameters<typeof stdioServer>[2] = {}): McpServer {
  return stdioServer("shell", [join(CHECKOUT, "test/fakes/shell-mcp-server.ts")], more);
}

export const runs = (script: string): MockReply => calls(["mcp.shell.sh", { script }]);

export interface McpRig extends HarnessRig {
  readonly logged: string[];
  readonly data: string;
}

export async function createMcpRig(
  replies: readonly MockReply[],
  servers: readonly McpServer[] | ((root: string) => readonly McpServer[]),
  { allow = [], ...options }: RigOptions & { readonly allow?: readonly string[] } = {},
): Promise<McpRig> {
  const logged: string[] = [];
  const data = createTemporaryWorkspace().outside;
  const { root } = createTemporaryWorkspace();
  const rig = await createHarnessRig(replies, {
    ...options,
    workspace: root,
    serverLog: (level, text) => void logged.push(`${level} ${text}`),
    extraEnv: { HOME: data, XDG_DATA_HOME: data, ...options.extraEnv },
    settings: {
      permissions: allow.map((rule) => ({ effect: "allow", rule, source: "test" })),
      mcpServers: typeof servers === "function" ? servers(root) : servers,
      ...options.settings,
    },
  });
  return { ...rig, logged, data };
}

export const textOf = (rig: McpRig): string => JSON.stringify(rig.of("ToolResult").map(({ content }) => content));
