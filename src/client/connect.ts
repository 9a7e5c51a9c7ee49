/** `connect`: from where a server is to a client of it. */
import { clientHost } from "#client/host";
import { type Client, createClient } from "./client.ts";
import type { ClientClock } from "./client-host.ts";
import { DEFAULT_RECONNECT, type ReconnectOptions } from "./retry.ts";
import type { Target } from "./target.ts";

export interface ConnectOptions {
  /** Ends everything that the client does. */
  readonly signal?: AbortSignal;
  /** How it comes back after a cut. */
  readonly reconnect?: Partial<ReconnectOptions>;
  readonly clock?: ClientClock;
}

/**
 * Resolves when the handshake completes. Rejects with ServerUnreachable when nobody is there: the first connection is tried once,
 * those after it as often as `reconnect` says.
 */
export async function connect(target: Target, options: ConnectOptions = {}): Promise<Client> {
  const host = clientHost();
  const clock = options.clock ?? host.clock;
  return createClient({
    transport: await host.transportTo(target, clock),
    clock,
    random: host.random,
    reconnect: { ...DEFAULT_RECONNECT, ...options.reconnect },
    signal: options.signal ?? new AbortController().signal,
  });
}
