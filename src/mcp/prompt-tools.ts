/**
 * Prompts of servers: a tool that gets the messages of one. It is called for a person who typed `/mcp:SERVER:PROMPT`; the model is not
 * offered it.
 */
import type { McpServer } from "#artifacts";
import { GET_PROMPT_TOOL, isRecord, objectSchema, promptReference } from "#base";
import { type Tool, ToolError } from "#engine";
import { toolOutput } from "./answer-output.ts";
import { answering } from "./answer-server.ts";
import { MAX_ASKING_MS } from "./server-questions.ts";
import { available } from "./server-tools.ts";

const MAX_ARGUMENTS = 32;

/** None when no server has prompts. */
export function promptTools(servers: readonly McpServer[]): readonly Tool[] {
  if (servers.length === 0) return [];
  const byName = new Map(servers.map((server) => [server.name, server]));
  return [
    {
      name: GET_PROMPT_TOOL,
      label: "GetPrompt",
      // Its arguments leave for the server.
      class: "sensitive",
      fresh: true,
      deferred: true,
      description: "Get the messages of a prompt of an MCP server.",
      parameters: objectSchema(
        {
          server: { type: "string" },
          prompt: { type: "string" },
          arguments: { type: "object", maxProperties: MAX_ARGUMENTS, additionalProperties: { type: "string" } },
        },
        ["server", "prompt", "arguments"],
      ),
      timeoutMs: MAX_ASKING_MS * 2,
      subject: ({ server, prompt }) => promptReference(String(server), String(prompt)).slice("/mcp:".length),
      async run(args, context) {
        const server = byName.get(String(args.server));
        if (server === undefined) {
          throw new ToolError(`No such MCP server with prompts. There are: ${[...byName.keys()].join(", ")}.`);
        }
        const { ports, signal, progress } = context;
        const request = {
          server: server.name,
          prompt: String(args.prompt),
          // Checked against the schema.
          args: (isRecord(args.arguments) ? args.arguments : {}) as Readonly<Record<string, string>>,
          timeoutMs: server.toolTimeoutMs,
          onProgress: progress,
          onAsk: answering(server, context),
        };
        return toolOutput(await available(ports.servers.prompt(request, signal)));
      },
    },
  ];
}
