/** A small server of the newer era, made with the SDK: over stdio as a program, over HTTP as a handler. */
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

function createServer(): McpServer {
  const server = new McpServer({ name: "modern", version: "1" }, { capabilities: { tools: { listChanged: true } } });
  server.registerTool(
    "add",
    { description: "Adds.", inputSchema: z.object({ a: z.number(), b: z.number() }) },
    ({ a, b }) => ({
      content: [{ type: "text", text: `${a + b}` }],
    }),
  );
  server.registerTool(
    "fill",
    { description: "Repeats.", inputSchema: z.object({ bytes: z.number() }) },
    ({ bytes }) => ({
      content: [{ type: "text", text: "x".repeat(bytes) }],
    }),
  );
  server.registerTool("steps", { description: "Tells progress." }, async (context) => {
    for (let progress = 1; progress <= 50; progress++) {
      const params = { progressToken: context.mcpReq._meta?.progressToken ?? 0, progress, total: 50 };
      await context.mcpReq.notify({ method: "notifications/progress", params });
    }
    return { content: [{ type: "text", text: "done" }] };
  });
  server.registerTool("grow", { description: "Adds a tool." }, async () => {
    server.registerTool("grown", { description: "New." }, () => ({ content: [] }));
    return { content: [{ type: "text", text: "grown" }] };
  });
  return server;
}

export function modernHandler(): (request: Request) => Promise<Response> {
  const handler = createMcpHandler(createServer);
  return (request) => handler.fetch(request);
}

if (import.meta.main) serveStdio(createServer);
