/** The tools of a server as tools of the engine. They reach the server through the port that the gate hands out, and nothing else. */
import type { McpServer } from "#artifacts";
import { type Cache, EffectError, type EffectReason, programCaches, serverToolName, textBytes } from "#base";
import { type Tool, ToolError } from "#engine";
import { toolOutput } from "./answer-output.ts";
import { answering } from "./answer-server.ts";
import type { SchemaCheck } from "./schema-check.ts";
import { MAX_ASKING_MS } from "./server-questions.ts";
import { type ListedTool, visibleSchema } from "./tool-list.ts";

/** What the model reads of a server that is down; it can plan around it. */
const UNAVAILABLE_MARK = "«mcp-server-unavailable»";
const UNAVAILABLE = new Set<EffectReason>(["ServerUnavailable", "LoginRequired"]);

export function isEnabled({ enabledTools, disabledTools }: McpServer, tool: string): boolean {
  return !disabledTools.includes(tool) && (enabledTools === undefined || enabledTools.includes(tool));
}

/** In the place of a tool that has changed since it was approved: the model does not see it, and a call says what it waits for. */
export function withheldTool(server: McpServer, { name: tool }: ListedTool): Tool {
  const name = serverToolName(server.name, tool);
  const why = waitsForApproval(server.name, tool);
  return {
    name,
    label: name,
    class: "mutating",
    description: why,
    parameters: { type: "object" },
    deferred: true,
    check: async () => [why],
    async run() {
      throw new ToolError(why);
    },
  };
}

export function waitsForApproval(server: string, tool: string): string {
  return `The MCP server '${server}' has changed its tool '${tool}'. It is not available until a person has approved the change with: harness mcp approve ${server}`;
}

export function serverTool(
  server: McpServer,
  listed: ListedTool,
  schemas: Pick<SchemaCheck, "check">,
  isDeferred: boolean,
): Tool {
  const name = serverToolName(server.name, listed.name);
  const parameters = visibleParameters(listed);
  return {
    name,
    // A title of the server's choice could pass for one of our own tools, in rules as well.
    label: name,
    class: server.readOnlyTools.includes(listed.name) ? "read_only" : "mutating",
    description: `[In the words of the MCP server '${server.name}'] ${listed.description}`.trimEnd(),
    // Of a thousand deferred tools the model asks for a few.
    get parameters() {
      return parameters();
    },
    check: (args) => schemas.check(listed.inputSchema, args),
    ...(isDeferred && { deferred: true as const }),
    timeoutMs: server.toolTimeoutMs + MAX_ASKING_MS,
    async run(args, context) {
      const { ports, signal, progress } = context;
      const call = {
        server: server.name,
        tool: listed.name,
        args,
        timeoutMs: server.toolTimeoutMs,
        onProgress: progress,
        onAsk: answering(server, context),
      };
      return toolOutput(await available(ports.servers.call(call, signal)));
    },
  };
}

/** Made when they are asked for, and again when they had to make room. */
function visibleParameters({ inputSchema }: ListedTool): () => ToolParameters {
  let kept: Cache<ToolParameters> | undefined;
  return () => {
    kept ??= programCaches.open<ToolParameters>("MCP schemas");
    const known = kept.get("");
    if (known !== undefined) return known;
    const made = visibleSchema(inputSchema);
    kept.set("", made, textBytes(JSON.stringify(made)));
    return made;
  };
}

type ToolParameters = Tool["parameters"];

/** What the model reads of a server that is down or slow. */
export async function available<Answer>(asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof EffectError)) throw error;
    if (UNAVAILABLE.has(error.reason)) throw new ToolError(`${UNAVAILABLE_MARK} ${error.message}`);
    if (error.reason === "Timeout") throw new ToolError(error.message, "ToolTimeout");
    throw error;
  }
}
