/** MCP servers of others as tools: connected over stdio or HTTP, supervised, and called through a port that the gate wraps. */
export type { McpLog, McpWorld, ServerProcess, StdioServer } from "./mcp-world.ts";
export { createMcpServers, type McpServers, type McpServersOptions, type ServerLists } from "./servers.ts";
export type { McpServerState } from "./supervised-server.ts";
