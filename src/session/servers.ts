/** The MCP servers of a session and of the delegates below it. Nothing of them is loaded where none is configured. */
import { join } from "node:path";
import type { Settings } from "#artifacts";
import {
  type Clock,
  createDomainList,
  type DomainList,
  defined,
  EffectError,
  messageOf,
  noServers,
  once,
  type ProcessInput,
  type ServerPort,
} from "#base";
import { type EventBus, note, type Tool } from "#engine";
import type { McpLog, McpServerState, McpServers, McpServersOptions, McpWorld } from "#mcp";
import { serverFolders } from "#stores";
import { makePrivateDirectory, realPath } from "#world";
import type { SandboxPlace, SessionSandbox } from "./sandbox.ts";

/** The longest time that a timer can wait. */
const AS_LONG_AS_THE_SESSION_MS = 2 ** 31 - 1;

export interface SessionServers {
  readonly port: ServerPort;
  tools(): readonly Tool[];
  /** Before the first request: resolves when all are connected, or have had their time. */
  ready(): Promise<void>;
  /** Empty until one was needed. */
  states(): readonly McpServerState[];
  restart(name: string): Promise<void>;
  /** Where a server that gave up, and what servers reach, is published. */
  recordTo(bus: EventBus): void;
  close(): Promise<void>;
}

/** What of MCP servers is on a cassette besides their calls. */
export type ServerTape = Pick<McpServersOptions, "listed" | "checked">;

export interface ServersOptions {
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly place: SandboxPlace;
  readonly sandboxFor: (place: SandboxPlace) => SessionSandbox;
  readonly log: McpLog;
  /** Absent where nothing is recorded. */
  readonly taped?: ServerTape;
}

const NONE: SessionServers = {
  port: noServers,
  tools: () => [],
  ready: async () => undefined,
  states: () => [],
  async restart(name) {
    throw new EffectError("ServerUnavailable", `there is no MCP server ${name} in this session`);
  },
  recordTo: () => undefined,
  close: async () => undefined,
};

export function createSessionServers(options: ServersOptions): SessionServers {
  const { settings, clock, log } = options;
  if (settings.mcpServers.length === 0) return NONE;
  let bus: EventBus | undefined;
  let made: McpServers | undefined;
  const boxes = new Map<string, SessionSandbox>();
  let isLoading = false;
  const load = once(async () => {
    isLoading = true;
    const { createMcpServers } = await import("#mcp");
    made = createMcpServers({
      servers: settings.mcpServers,
      world: { start, fetch: async () => Promise.reject(new Error("no remote server is configured")) },
      clock,
      onDown: (down) => bus && note(bus, "MCPServerDown", down),
      log,
      ...options.taped,
    });
    return made;
  });

  /** One for each server: what it reaches and where it keeps its files is its own. */
  function boxOf({ name, connection }: StdioServer): SessionSandbox {
    const known = boxes.get(name);
    if (known !== undefined) return known;
    const { place } = options;
    const folders = serverFolders(options.env);
    const state = join(folders.state, name);
    makePrivateDirectory(state);
    const box = options.sandboxFor({
      ...place,
      domains: () => reachable(connection.network, place.domains()),
      server: { state, paths: connection.paths.map(realPath), packages: realPath(folders.packages) },
    });
    if (bus !== undefined) box.recordTo(bus);
    boxes.set(name, box);
    return box;
  }

  async function start(server: StdioServer, on: Parameters<McpWorld["start"]>[1], signal: AbortSignal) {
    const { command, args, env, envVars } = server.connection;
    const box = boxOf(server);
    const hold = await box.hold();
    if (hold === "none") {
      const remedy = 'Run: harness sandbox check. Or set sandbox = "off" in your own config.toml';
      throw new EffectError("SandboxUnavailable", `there is no sandbox for the MCP server ${server.name}. ${remedy}`);
    }
    const stdin = Promise.withResolvers<ProcessInput>();
    const named = Object.fromEntries(envVars.map((name) => [name, options.env[name]]));
    const ended = box.processes
      .run(
        {
          file: command,
          args,
          env: { ...defined(named as Record<string, string>), ...env },
          timeoutMs: AS_LONG_AS_THE_SESSION_MS,
          confinement: hold === "off" ? "outside" : "workspace",
          onStdin: stdin.resolve,
          onOutput: (stream, chunk) => on[stream](chunk),
        },
        signal,
      )
      .then(
        ({ code, signal: by }) => {
          // Stopped before it began, it never had an input.
          stdin.reject(new Error("it was stopped"));
          return { code, signal: by };
        },
        (error: unknown) => {
          stdin.reject(error);
          return { code: null, signal: null, problem: messageOf(error) };
        },
      );
    const input = await stdin.promise;
    return { write: (line: string) => input.write(line), end: () => input.end(), ended };
  }

  return {
    port: { call: async (call, signal) => (await load()).port.call(call, signal) },
    tools: () => made?.tools() ?? [],
    ready: async () => (await load()).ready(),
    states: () => made?.states() ?? [],
    restart: async (name) => (await load()).restart(name),
    recordTo(next) {
      bus = next;
      for (const box of boxes.values()) box.recordTo(next);
    },
    async close() {
      // Whoever waits for it to be loaded would start servers that nobody ends.
      if (isLoading) await load();
      await made?.close();
      await Promise.all([...boxes.values()].map((box) => box.close()));
    },
  };
}

type StdioServer = Parameters<McpWorld["start"]>[0];

/** What the entry says, within what the session may reach. Undefined: any public host. */
function reachable(own: readonly string[] | "public", session: DomainList | undefined): DomainList | undefined {
  if (own === "public") return session;
  return createDomainList([...(session?.lists ?? []), own]);
}
