/** A program that speaks JSON-RPC on its pipes: each connection starts it anew, on the same log. */
import type { Caller, Connection, Target } from "./driver.ts";
import { connectRpc, type RpcConnectionOptions } from "./drivers/rpc.ts";

export interface RpcTargetOptions extends RpcConnectionOptions {
  /** Flags that make the client an agent; absent: it cannot be one. */
  readonly agentArgs?: readonly string[];
}

export function rpcTarget({ agentArgs, ...options }: RpcTargetOptions): Target {
  const open = new Set<Connection>();
  return {
    wire: "rpc",
    lacks(as: Caller) {
      if (as === "stranger" || as === "nobody") return "pipes do not use tokens";
      return as === "agent" && agentArgs === undefined
        ? "needs the arguments that make the command an agent"
        : undefined;
    },
    async connect(as = "human") {
      const args = as === "agent" ? [...options.args, ...(agentArgs ?? [])] : options.args;
      const connection = connectRpc({ ...options, args });
      open.add(connection);
      return connection;
    },
    async restart() {
      for (const { lines } of open) lines?.kill();
      await Promise.all([...open].map((connection) => connection.close()));
      open.clear();
    },
  };
}
