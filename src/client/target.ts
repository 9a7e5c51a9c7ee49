/** Where the server of a client is. */
import type { ServerAddress } from "./http-wire.ts";
import type { LocalEngine } from "./local-transport.ts";
import type { TokenSource } from "./token.ts";

/** A daemon, by its Unix socket or its address. A page reaches one by its address alone. */
export type DaemonTarget = ServerAddress &
  TokenSource & {
    /** `sse` (default): a request for each command and a stream of server-sent events. `ws`: web sockets. */
    readonly wire?: "sse" | "ws";
  };

/** A program that speaks JSON-RPC on its pipes, started for this client and ended with it. */
export interface ProgramTarget {
  /** For example `["harness", "rpc", "--cwd", "."]`. */
  readonly command: readonly [string, ...string[]];
  readonly cwd?: string;
  /** Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The engine in this process. */
export interface EngineTarget {
  readonly engine: LocalEngine;
  /** Default `human`: may answer. */
  readonly identityClass?: "human" | "agent";
}

export type Target = DaemonTarget | ProgramTarget | EngineTarget;
