/** MCP servers of others as tools: connected over stdio or HTTP, supervised, and called through a port that the gate wraps. */
export { approveWaiting } from "./approved-tools.ts";
export { createToolKeeper, type KeptTools, type ToolKeeper } from "./kept-tools.ts";
export type { McpLog, McpWorld, ServerProcess, StdioServer } from "./mcp-world.ts";
export { createServerPool, type ServerPool } from "./server-pool.ts";
export { createMcpServers, type McpServers, type McpServersOptions, type ServerLists } from "./servers.ts";
export type { McpServerState } from "./supervised-server.ts";
