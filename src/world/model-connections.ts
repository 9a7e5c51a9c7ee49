/** The kept-alive connections to model servers, which the engine and the credential helper hold alike. It sends nothing itself. */
import type { Agent } from "node:http";

const KEEP_ALIVE_IDLE_MS = 90_000;
const MAX_SOCKETS_PER_HOST = 64;
const MAX_FREE_SOCKETS_PER_HOST = 8;
const PROXY_VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];

export interface ModelConnections {
  /** Loopback addresses are reached directly, all others by way of the proxy if one is set. */
  to(url: URL): Agent;
  /** For a Unix socket, whatever is asked for through it. */
  throughSocket(): Agent;
  close(): void;
}

/** `proxy` is what `proxyVariables` kept. */
export function createModelConnections(proxy: Readonly<Record<string, string>>): ModelConnections {
  const agents = new Map<string, Agent>();
  const kept = (protocol: "http" | "https", isDirect: boolean): Agent => {
    const key = `${protocol}${isDirect}`;
    const known = agents.get(key);
    if (known !== undefined) return known;
    const { Agent } = process.getBuiltinModule(protocol === "https" ? "node:https" : "node:http");
    const agent = new Agent({
      keepAlive: true,
      timeout: KEEP_ALIVE_IDLE_MS,
      maxSockets: MAX_SOCKETS_PER_HOST,
      maxFreeSockets: MAX_FREE_SOCKETS_PER_HOST,
      ...(isDirect ? {} : { proxyEnv: { ...proxy } }),
    });
    agents.set(key, agent);
    return agent;
  };
  return {
    to: (url) => kept(url.protocol === "https:" ? "https" : "http", isLoopback(url.hostname)),
    throughSocket: () => kept("http", true),
    close() {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

/** All that connections to models need of an environment. */
export function proxyVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of PROXY_VARIABLES) {
    const value = env[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** Of a URL, so an address of numbers has its four parts; a name may begin with 127 as well. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}
