/**
 * Servers that sessions of one program share: one process for each key, counted by the sessions that use it. The last one to leave ends
 * it; the next reference starts another. What may be shared, and under which key, is decided by whoever leases.
 */
import type { McpServer } from "#artifacts";
import { EffectError } from "#base";
import type { McpWorld } from "./mcp-world.ts";
import { type SupervisedServer, type SupervisorParts, superviseServer } from "./supervised-server.ts";

/** What a session hears of a server. */
export type ServerListener = Pick<SupervisorParts, "onDown" | "onRefused" | "onTools" | "onResourceUpdated">;

/** A server of its own world, which is closed when the server has ended. */
export interface PooledParts extends Omit<SupervisorParts, keyof ServerListener | "world" | "server"> {
  readonly world: McpWorld & { close(): Promise<void> };
}

export interface ServerPool {
  /** `make` is called where nobody has a server of this key. `stop` gives the reference back and does not wait for the end. */
  lease(key: string, server: McpServer, listener: ServerListener, make: () => PooledParts): SupervisedServer;
  /** Resolves when every server whose last reference was given back has ended. */
  close(): Promise<void>;
}

interface PooledServer {
  readonly supervised: SupervisedServer;
  readonly listeners: Set<ServerListener>;
  readonly close: () => Promise<void>;
}

export function createServerPool(): ServerPool {
  const pooled = new Map<string, PooledServer>();
  const endings = new Set<Promise<void>>();

  function open(server: McpServer, parts: PooledParts): PooledServer {
    const listeners = new Set<ServerListener>();
    const supervised = superviseServer({
      ...parts,
      server,
      onDown: (event) => listeners.forEach((listener) => void listener.onDown(event)),
      onRefused: (problem) => listeners.forEach((listener) => void listener.onRefused?.(problem)),
      onTools: () => listeners.forEach((listener) => void listener.onTools()),
      onResourceUpdated: (uri) => listeners.forEach((listener) => void listener.onResourceUpdated(uri)),
    });
    return { supervised, listeners, close: () => parts.world.close() };
  }

  function end({ supervised, close }: PooledServer): void {
    const ending = supervised
      .stop()
      .then(close)
      .finally(() => endings.delete(ending));
    endings.add(ending);
  }

  return {
    lease(key, server, listener, make) {
      const shared = pooled.get(key) ?? open(server, make());
      pooled.set(key, shared);
      shared.listeners.add(listener);
      const { supervised } = shared;
      const own = () => {
        if (shared.listeners.has(listener)) return supervised;
        throw new EffectError(
          "ServerUnavailable",
          `the MCP server '${server.name}' is not available: it is not running`,
        );
      };
      return {
        // What it is called and how its tools are offered is each session's own.
        server,
        offer: () => supervised.offer(),
        waiting: () => supervised.waiting(),
        isKnown: () => supervised.isKnown(),
        check: () => supervised.check(),
        lookAgain: () => supervised.lookAgain(),
        state: () => supervised.state(),
        start: async () => own().start(),
        connected: async (signal) => own().connected(signal),
        writing: async (signal) => own().writing(signal),
        restart: async () => own().restart(),
        async stop() {
          if (!shared.listeners.delete(listener) || shared.listeners.size > 0) return;
          pooled.delete(key);
          end(shared);
        },
      };
    },
    async close() {
      await Promise.all(endings);
    },
  };
}
