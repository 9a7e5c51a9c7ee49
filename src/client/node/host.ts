/** A client in Node: Unix sockets, ports, programs on pipes, and an engine in this process. */
import { createSystemClock, createSystemRandom, startPiped } from "#world";
import type { ClientClock, ClientHost } from "../client-host.ts";
import { createHttpTransport } from "../http-transport.ts";
import { createLocalTransport } from "../local-transport.ts";
import { createRpcTransport } from "../rpc-transport.ts";
import type { Target } from "../target.ts";
import { tokenOf } from "../token.ts";
import type { Transport } from "../transport.ts";
import { createNodeHttp } from "./node-http.ts";
import { readTokenFile } from "./token-file.ts";

export function clientHost(): ClientHost {
  return { clock: createSystemClock(), random: createSystemRandom(), transportTo };
}

async function transportTo(target: Target, clock: ClientClock): Promise<Transport> {
  if ("engine" in target) {
    const { engine, identityClass = "human" } = target;
    return createLocalTransport({ engine, identityClass, interactive: true });
  }
  if ("command" in target) {
    const { command, cwd = ".", env = process.env } = target;
    const [program, ...args] = command;
    const start = (onEnd: () => void) => startPiped({ program, args, cwd, env }, onEnd);
    return createRpcTransport({ address: command.join(" "), start, clock });
  }
  const http = createNodeHttp(target);
  const token = tokenOf(target, http.address, readTokenFile);
  if (target.wire !== "ws") return createHttpTransport({ http, token, clock });
  const [{ createSocketTransport }, { nodeSockets }] = await Promise.all([
    import("../socket-transport.ts"),
    import("./node-sockets.ts"),
  ]);
  return createSocketTransport({ http, token, clock, sockets: nodeSockets(target) });
}
