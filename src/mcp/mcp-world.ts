/** What this part needs of the world: programs that are spoken to over their standard streams, and requests over HTTP. */
import type { McpConnection, McpServer } from "#artifacts";

/** A server that is started as a program. */
export type StdioServer = McpServer & { readonly connection: Extract<McpConnection, { readonly kind: "stdio" }> };

export interface ServerProcess {
  /** The line comes with its line feed. A line for a program that has ended is lost. */
  write(line: string): void;
  /** Closes its standard input. */
  end(): void;
  /** Resolves when the program has ended and all of its output was handed over. Never rejects. */
  readonly ended: Promise<ServerEnd>;
}

export interface ServerEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it could not run, in words for a person; absent when it did. */
  readonly problem?: string;
  /** What it did to the workspace and its sandbox undid, in words of ours. */
  readonly note?: string;
}

export interface McpWorld {
  /** Starts the program in its confinement; `mayWrite` opens the folders that its entry names as writable. Aborting the signal ends the whole process group. Rejects when it cannot start. */
  start(
    server: StdioServer,
    on: { stdout(chunk: Buffer): void; stderr(chunk: Buffer): void },
    signal: AbortSignal,
    mayWrite?: true,
  ): Promise<ServerProcess>;
  /** Rejects with a `ReasonError` when `start` would, because what would start is not what was approved. Absent: nothing is approved. */
  check?(server: StdioServer): Promise<void>;
  /** For servers on the network: to the origin of its entry, at public or allowed addresses only. Rejects with an `EffectError`. */
  readonly fetch: (url: string | URL, init: RequestInit | undefined, server: McpServer) => Promise<Response>;
}

export type McpLog = (level: "debug" | "info" | "warn" | "error", text: string) => void;
