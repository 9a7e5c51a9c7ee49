/** `connect`: from where a server is to a client of it. */
import type { Clock } from "#base";
import type { Handshake } from "#protocol";
import { createSystemClock, createSystemRandom, startPiped } from "#world";
import { type Client, createClient } from "./client.ts";
import { createHttpTransport } from "./http-transport.ts";
import type { ServerAddress } from "./http-wire.ts";
import { createLocalTransport, type LocalEngine } from "./local-transport.ts";
import { DEFAULT_RECONNECT, type ReconnectOptions } from "./retry.ts";
import { createRpcTransport } from "./rpc-transport.ts";
import type { TokenSource } from "./token.ts";
import type { Transport } from "./transport.ts";

/** A daemon, by its Unix socket or its address. */
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

export interface ConnectOptions {
  /** Ends everything that the client does. */
  readonly signal?: AbortSignal;
  /** How it comes back after a cut. */
  readonly reconnect?: Partial<ReconnectOptions>;
  readonly clock?: Clock;
}

/**
 * Resolves when hands are shaken. Rejects with ServerUnreachable when nobody is there: the first connection is tried once, those
 * after it as often as `reconnect` says.
 */
export async function connect(target: Target, options: ConnectOptions = {}): Promise<Client> {
  const clock = options.clock ?? createSystemClock();
  return createClient({
    transport: await transportTo(target, clock),
    clock,
    random: createSystemRandom(),
    reconnect: { ...DEFAULT_RECONNECT, ...options.reconnect },
    signal: options.signal ?? new AbortController().signal,
  });
}

async function transportTo(target: Target, clock: Clock): Promise<Transport> {
  if ("engine" in target) {
    const { engine, identityClass = "human" } = target;
    return createLocalTransport({ engine, identityClass, handshake: localHandshake });
  }
  if ("command" in target) {
    const { command, cwd = ".", env = process.env } = target;
    const [program, ...args] = command;
    return createRpcTransport({
      address: command.join(" "),
      start: (onEnd) => startPiped({ program, args, cwd, env }, onEnd),
      clock,
    });
  }
  if (target.wire !== "ws") return createHttpTransport({ ...target, clock });
  const { createSocketTransport } = await import("./socket-transport.ts");
  return createSocketTransport({ ...target, clock });
}

/** The tables of the protocol are not loaded for a client of another process. */
async function localHandshake(): Promise<Handshake> {
  const { buildHandshake } = await import("#protocol/schemas");
  return buildHandshake(["inproc"]);
}
