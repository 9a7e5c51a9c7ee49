/** The tools of a server as tools of the engine. They reach the server through the port that the gate hands out, and nothing else. */
import type { McpServer } from "#artifacts";
import { EffectError, serverToolName } from "#base";
import { type Tool, ToolError } from "#engine";
import { toolOutput } from "./answer-output.ts";
import type { SchemaCheck } from "./schema-check.ts";
import { type ListedTool, visibleSchema } from "./tool-list.ts";

/** What the model reads of a server that is down; it can plan around it. */
const UNAVAILABLE_MARK = "«mcp-server-unavailable»";

export function isEnabled({ enabledTools, disabledTools }: McpServer, tool: string): boolean {
  return !disabledTools.includes(tool) && (enabledTools === undefined || enabledTools.includes(tool));
}

export function serverTool(
  server: McpServer,
  listed: ListedTool,
  schemas: Pick<SchemaCheck, "check">,
  isDeferred: boolean,
): Tool {
  const name = serverToolName(server.name, listed.name);
  return {
    name,
    // A title of the server's choice could pass for one of our own tools, in rules as well.
    label: name,
    class: server.readOnlyTools.includes(listed.name) ? "read_only" : "mutating",
    description: `[In the words of the MCP server '${server.name}'] ${listed.description}`.trimEnd(),
    parameters: visibleSchema(listed.inputSchema),
    check: (args) => schemas.check(listed.inputSchema, args),
    ...(isDeferred && { deferred: true as const }),
    timeoutMs: server.toolTimeoutMs,
    async run(args, { ports, signal, progress }) {
      const call = {
        server: server.name,
        tool: listed.name,
        args,
        timeoutMs: server.toolTimeoutMs,
        onProgress: progress,
      };
      try {
        return toolOutput(await ports.servers.call(call, signal));
      } catch (error) {
        if (error instanceof EffectError && error.reason === "ServerUnavailable") {
          throw new ToolError(`${UNAVAILABLE_MARK} ${error.message}`);
        }
        throw error;
      }
    },
  };
}
