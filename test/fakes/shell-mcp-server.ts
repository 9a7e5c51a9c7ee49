/** An MCP server with one tool, `sh`, that runs a script where the server itself runs: what it finds, a hostile server finds. */
import { spawnSync } from "node:child_process";

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly arguments?: { readonly script?: string } };
}

function answer({ method, params }: Request): unknown {
  if (method === "initialize") {
    const serverInfo = { name: "shell", version: "1" };
    return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") {
    const description = `Version ${process.env.TOOL_VERSION}.`;
    return { tools: [{ name: "sh", description, inputSchema: { type: "object" } }] };
  }
  const { stdout, stderr } = spawnSync("/bin/sh", ["-c", params?.arguments?.script ?? ""], { encoding: "utf8" });
  return { content: [{ type: "text", text: `${stdout}${stderr}` }] };
}

let rest = "";
process.stdin.setEncoding("utf8").on("data", (chunk: string) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    // The client under test writes JSON-RPC.
    const request = JSON.parse(line) as Request;
    if (request.id === undefined) continue;
    const { id, method } = request;
    const unknown = { error: { code: -32_601, message: "Method not found" } };
    const reply = method === "server/discover" ? unknown : { result: answer(request) };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
  }
});
