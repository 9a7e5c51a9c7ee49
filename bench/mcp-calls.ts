/**
 * What a call of an MCP tool over stdio costs this process, beside the SDK's own client on the same server; and the search over ten
 * thousand tools. CPU time, in rounds that alternate.
 */
import { resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createToolSearch } from "../src/mcp/tool-search.ts";
import { openServers, referenceServer } from "../test/fakes/mcp-world.ts";

const ROUNDS = 6;
const CALLS = 500;
const program = resolve(import.meta.dirname, "../node_modules/@modelcontextprotocol/server-everything/dist/index.js");

const client = new Client({ name: "bench", version: "1" });
await client.connect(new StdioClientTransport({ command: process.execPath, args: [program], stderr: "ignore" }));
await client.listTools();
const servers = openServers([referenceServer("everything")]);
await servers.ready();
const tool = servers.tool("mcp.everything.echo");

const bare = (message: string) => client.callTool({ name: "echo", arguments: { message } });
const port = (message: string) => servers.run("mcp.everything.echo", { message });
async function checked(message: string): Promise<void> {
  await tool.check?.({ message });
  await servers.run("mcp.everything.echo", { message });
}

const ways = { bare, port, checked };
const spent: Record<string, number[]> = { bare: [], port: [], checked: [] };
for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, call] of Object.entries(ways)) {
    const before = process.cpuUsage();
    for (let count = 0; count < CALLS; count++) await call(`hello ${count}`);
    const { user, system } = process.cpuUsage(before);
    if (round > 0) spent[name]?.push((user + system) / 1_000 / CALLS);
  }
}
for (const [name, times] of Object.entries(spent)) {
  console.log(`${name.padEnd(8)} ${median(times).toFixed(3)} ms of CPU a call`);
}
await Promise.all([client.close(), servers.close()]);

const tools = Array.from({ length: 10_000 }, (_, at) => ({
  name: `mcp.server${at % 20}.${["read", "write", "list", "find"][at % 4]}_thing_${at}`,
  description: `Does the thing number ${at} for repositories, issues and files of kind ${at % 97}.`,
}));
const began = performance.now();
const search = createToolSearch(tools);
const builtMs = performance.now() - began;
const searches = ["find files", "thing 4711", "repo issue", "kind 42", "write"].flatMap((query) =>
  Array.from({ length: 20 }, () => {
    const start = performance.now();
    search.find(query, 10);
    return performance.now() - start;
  }),
);
searches.sort((a, b) => a - b);
console.log(
  `search   built in ${builtMs.toFixed(0)} ms, median ${median(searches).toFixed(1)} ms, p95 ${searches[95]?.toFixed(1)} ms`,
);

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
