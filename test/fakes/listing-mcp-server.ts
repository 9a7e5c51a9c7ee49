/** An MCP server that lists as many tools as its argument says. */
const count = Number(process.argv[2] ?? 1);
const tools = Array.from({ length: count }, (_, index) => ({
  name: `look_${index}`,
  description: `Looks at "${index}" – exactly.`,
  inputSchema: { type: "object", properties: { at: { type: ["string", "null"], description: "Where" } } },
}));
const results: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "listing", version: "1" },
  },
  "tools/list": { tools },
  "tools/call": { content: [{ type: "text", text: "seen" }] },
};

let rest = "";
process.stdin.setEncoding("utf8").on("data", (chunk: string) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    // The client under test writes JSON-RPC.
    const { id, method } = JSON.parse(line) as { id?: number; method: string };
    if (id === undefined) continue;
    const result = results[method];
    const reply = result === undefined ? { error: { code: -32_601, message: "Method not found" } } : { result };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
  }
});
