/** An MCP server as somebody declared it: how it is reached, and what it may do. */

export interface McpServer {
  readonly name: string;
  readonly connection: McpConnection;
  /** How long the first request waits for it. */
  readonly startupTimeoutMs: number;
  readonly toolTimeoutMs: number;
  /** `auto`: eager up to 20 tools. */
  readonly discovery: "auto" | "eager" | "lazy";
  /** Absent: all. */
  readonly enabledTools?: readonly string[];
  readonly disabledTools: readonly string[];
  /** Those that the user says change nothing; what the server says of itself does not count. */
  readonly readOnlyTools: readonly string[];
}

export type McpConnection =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      /** Names of variables that it gets as they are; no others, besides what every program needs. */
      readonly envVars: readonly string[];
      /** Hosts that it may reach; empty: none, "public": any public one. */
      readonly network: readonly string[] | "public";
      /** Folders of the machine that it sees, besides those that every command sees. */
      readonly paths: readonly string[];
    }
  | {
      readonly kind: "http" | "sse";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };
