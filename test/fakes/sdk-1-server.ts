/** A small server made with the SDK's first major version: over stdio as a program, over HTTP as a handler for one request. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

function createServer(): McpServer {
  const server = new McpServer({ name: "sdk-1", version: "1" });
  server.registerTool("add", { description: "Adds.", inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({
    content: [{ type: "text", text: `${a + b}` }],
  }));
  server.registerPrompt(
    "review",
    { description: "Reviews a file.", argsSchema: { file: completable(z.string(), () => ["a.ts", "b.ts"]) } },
    ({ file }) => ({ messages: [{ role: "user", content: { type: "text", text: `Review ${file}.` } }] }),
  );
  server.registerTool("ask", { description: "Has the model answer." }, async () => {
    const messages = [{ role: "user" as const, content: { type: "text" as const, text: "Why?" } }];
    const { content } = await server.server.createMessage({ messages, maxTokens: 10 });
    return { content: [{ type: "text", text: JSON.stringify(content) }] };
  });
  return server;
}

/** Without sessions: a server of its own for each request. */
export async function answerAsSdk1(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const server = createServer();
  const transport = new StreamableHTTPServerTransport({});
  response.once("close", () => void transport.close().then(() => server.close()));
  await server.connect(transport as Parameters<McpServer["connect"]>[0]); // its own types disagree about optional fields
  await transport.handleRequest(request, response);
}

if (import.meta.main) await createServer().connect(new StdioServerTransport());
