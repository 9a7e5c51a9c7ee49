/** The text of an MCP server that needs nothing but Node: it leaves a mark in its home when it starts, and says what it was given. */
export const TINY_SERVER = `
const { writeFileSync } = require("node:fs");
writeFileSync(process.env.HOME + "/started", "");
const tool = { name: "given", description: "What it was given.", inputSchema: { type: "object" } };
const answers = {
  initialize: () => ({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "tiny", version: "1.2.3" } }),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": () => ({ content: [{ type: "text", text: JSON.stringify({ args: process.argv.slice(2), mark: process.env.MARK }) }] }),
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const body = answer === undefined ? { error: { code: -32601, message: "no such method" } } : { result: answer() };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
});
`;
