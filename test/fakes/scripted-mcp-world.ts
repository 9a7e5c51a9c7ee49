/** MCP servers without processes: each start is written down, and what a server answers is a function of the test. */
import type { Clock } from "#base";
import type { McpWorld } from "#mcp";

export interface ScriptedServer {
  /** Ends the program, as if by itself. */
  exit(code: number): void;
  /** A message that nobody asked for. */
  send(message: Readonly<Record<string, unknown>>): void;
  readonly endedAt: { input?: number; group?: number };
}

export interface ScriptedWorld extends McpWorld {
  /** When a program was started, by the clock. */
  readonly startedAtMs: number[];
  readonly running: ScriptedServer[];
  /** What its servers offer besides tools. */
  capabilities: Readonly<Record<string, unknown>>;
  tools: readonly Readonly<Record<string, unknown>>[];
  /** Undefined: the request stays without an answer. */
  answer: (method: string, params: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>> | undefined;
  /** Absent: programs start. */
  startError?: Error;
  /** Whether programs end when their input does. */
  endsWithInput: boolean;
}

export const oneTool = [{ name: "one", description: "The one.", inputSchema: { type: "object" } }];

export function createScriptedWorld(clock: Clock): ScriptedWorld {
  const world: ScriptedWorld = {
    startedAtMs: [],
    running: [],
    capabilities: {},
    tools: oneTool,
    endsWithInput: true,
    answer: () => ({ content: [{ type: "text", text: "done" }] }),
    fetch: () => Promise.reject(new Error("there is no network")),
    async start(_server, on, signal) {
      world.startedAtMs.push(clock.monotonicMs());
      if (world.startError !== undefined) throw world.startError;
      const over = Promise.withResolvers<{ code: number | null; signal: string | null }>();
      const server: ScriptedServer = {
        exit: (code) => over.resolve({ code, signal: null }),
        send: (message) => on.stdout(Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)),
        endedAt: {},
      };
      world.running.push(server);
      signal.addEventListener("abort", () => {
        server.endedAt.group = clock.monotonicMs();
        over.resolve({ code: null, signal: "SIGKILL" });
      });
      return {
        write(line) {
          // A client writes requests and notifications.
          const message = JSON.parse(line) as { id?: number; method: string; params: Record<string, unknown> };
          const result = message.id === undefined ? undefined : reply(message.method, message.params);
          if (result !== undefined) queueMicrotask(() => server.send({ id: message.id, ...result }));
        },
        end() {
          server.endedAt.input = clock.monotonicMs();
          if (world.endsWithInput) server.exit(0);
        },
        ended: over.promise,
      };
    },
  };

  function reply(method: string, params: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
    if (method === "server/discover") return { error: { code: -32_601, message: "Method not found" } };
    if (method === "initialize") {
      const serverInfo = { name: "scripted", version: "1" };
      const capabilities = { tools: { listChanged: true }, ...world.capabilities };
      return { result: { protocolVersion: "2025-11-25", capabilities, serverInfo } };
    }
    if (method === "tools/list") return { result: { tools: world.tools } };
    const result = world.answer(method, params);
    return result === undefined ? undefined : { result };
  }

  return world;
}
