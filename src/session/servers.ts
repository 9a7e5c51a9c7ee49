/** The MCP servers of a session and of the delegates below it. Nothing of them is loaded where none is configured. */
import type { McpServer } from "#artifacts";
import { type Clock, defined, EffectError, noServers, once, type ServerPort } from "#base";
import { type CredentialPort, type EventBus, note } from "#engine";
import type { McpLog, McpServers, McpServersOptions, McpWorld, ServerPool, ToolKeeper } from "#mcp";
import type { TurnId } from "#protocol";
import { type ProgramServers, sharedKey } from "./program-servers.ts";
import { createRemoteServers } from "./remote-servers.ts";
import type { SandboxPlace, SessionSandbox } from "./sandbox.ts";
import { createServerWorld, type ServerWorld } from "./server-world.ts";

/** As those of a set of servers; without any, there is nothing to wait for. */
export interface SessionServers
  extends Pick<McpServers, "port" | "tools" | "ready" | "begin" | "states" | "restart" | "close" | "prompts"> {
  /** What they offer to people, as it was known last; connects nothing. Rejects never. */
  load(): Promise<void>;
  /** Before each step: publishes which resources that were read have changed since. */
  tellUpdates(turn: TurnId): Promise<void>;
  /** Where a server that gave up, and what servers reach, is published. */
  recordTo(bus: EventBus): void;
}

/** What of MCP servers is on a cassette besides their calls. */
export type ServerTape = Pick<McpServersOptions, "listed" | "checked" | "changed">;

export interface ServersOptions {
  readonly servers: readonly McpServer[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly place: SandboxPlace;
  readonly sandboxFor: (place: SandboxPlace) => SessionSandbox;
  /** Of all sessions of the program. */
  readonly program: Pick<ProgramServers, "shared" | "hurry">;
  readonly log: McpLog;
  /** Adds the secrets of servers on the network. */
  readonly credentials: Pick<CredentialPort, "reach" | "route">;
  /** Also for those whose tools are known: somebody asked how they are. */
  readonly waitsForAll?: boolean;
  /** Absent where nothing is recorded. */
  readonly taped?: ServerTape;
}

const NONE: SessionServers = {
  port: noServers,
  tools: () => [],
  ready: async () => undefined,
  begin: () => undefined,
  states: () => [],
  load: async () => undefined,
  prompts: () => [],
  async restart(name) {
    throw new EffectError("ServerUnavailable", `there is no MCP server ${name} in this session`);
  },
  tellUpdates: async () => undefined,
  recordTo: () => undefined,
  close: async () => undefined,
};

export function createSessionServers(options: ServersOptions): SessionServers {
  const { servers, clock, log } = options;
  if (options.servers.length === 0) return NONE;
  let bus: EventBus | undefined;
  let made: McpServers | undefined;
  const worlds = new Map<string, ServerWorld>();
  const { credentials, place } = options;
  const { hurry } = options.program;
  const remote = createRemoteServers({ credentials, domains: place.domains, clock, bus: () => bus });
  let isLoading = false;
  let hasBegun = false;
  const load = once(async () => {
    isLoading = true;
    const [{ createMcpServers }, { pool, keeper }] = await Promise.all([import("#mcp"), options.program.shared()]);
    made = createMcpServers({
      servers,
      world: {
        start: (server, ...rest) => worldOf(server.name).start(server, ...rest),
        check: (server) => worldOf(server.name).check(server),
        fetch: (url, init, server) => remote.fetch(url, init, server),
      },
      clock,
      root: place.root,
      hurry,
      ...defined({ lease: leaseFrom(pool, keeper), waitsForAll: options.waitsForAll }),
      onDown: (down) => bus && note(bus, "MCPServerDown", down),
      onWaiting: (changed) => bus && note(bus, "MCPToolsChanged", { ...changed, tools: [...changed.tools] }),
      keeper,
      onRefused: (problem) => bus && note(bus, "Error", { ...problem, terminal: false }),
      log,
      ...options.taped,
    });
    return made;
  });

  /** One for each server that this session has to itself. */
  function worldOf(name: string): ServerWorld {
    const known = worlds.get(name);
    if (known !== undefined) return known;
    const world = createServerWorld(options);
    if (bus !== undefined) world.recordTo(bus);
    worlds.set(name, world);
    return world;
  }

  /** What is recorded is not shared: what one session did would be on the cassette of another. */
  function leaseFrom(pool: ServerPool, keeper: ToolKeeper): McpServersOptions["lease"] {
    if (options.taped !== undefined) return undefined;
    return (server, listener) => {
      const key = sharedKey(server, place, options.env);
      if (key === undefined) return undefined;
      // As it is now: the process outlives this session.
      const denied = place.deniedPrograms();
      return pool.lease(key, server, listener, () => {
        const shared = { ...place, deniedPrograms: () => denied };
        const parts = { clock, log, hurry, keeper, root: place.root };
        return { ...parts, world: { fetch: noFetch, ...createServerWorld({ ...options, place: shared }) } };
      });
    };
  }

  return {
    port: {
      call: async (call, signal) => (await load()).port.call(call, signal),
      resources: async (server, timeoutMs, signal) => (await load()).port.resources(server, timeoutMs, signal),
      read: async (read, signal) => (await load()).port.read(read, signal),
      prompt: async (request, signal) => (await load()).port.prompt(request, signal),
      complete: async (completion, signal) => (await load()).port.complete(completion, signal),
    },
    tools: () => made?.tools() ?? [],
    ready: async () => (await load()).ready(),
    begin() {
      if (hasBegun) return;
      hasBegun = made !== undefined;
      made?.begin();
    },
    states: () => made?.states() ?? [],
    load: async () => void (await load()),
    prompts: () => made?.prompts() ?? [],
    restart: async (name) => (await load()).restart(name),
    async tellUpdates(turn) {
      for (const { server, uri } of (await made?.updates()) ?? []) {
        await bus?.publish("ResourceUpdated", { turn, server, uri });
      }
    },
    recordTo(next) {
      bus = next;
      for (const world of worlds.values()) world.recordTo(next);
    },
    async close() {
      // Whoever waits for it to be loaded would start servers that nobody ends.
      if (isLoading) await load();
      await made?.close();
      await remote.close();
      await Promise.all([...worlds.values()].map((world) => world.close()));
    },
  };
}

const noFetch: McpWorld["fetch"] = () => Promise.reject(new Error("a program is not on the network"));

/** What a delegate calls: the servers of its root, and those that its agent alone has, which begin and end with it. */
export function delegateServers(
  shared: SessionServers,
  named: readonly McpServer[],
  own: SessionServers,
): SessionServers {
  const names = new Set(named.map(({ name }) => name));
  const serving = (server: string): ServerPort => (names.has(server) ? own : shared).port;
  return {
    ...own,
    port: {
      call: (call, signal) => serving(call.server).call(call, signal),
      resources: (server, timeoutMs, signal) => serving(server).resources(server, timeoutMs, signal),
      read: (read, signal) => serving(read.server).read(read, signal),
      prompt: (request, signal) => serving(request.server).prompt(request, signal),
      complete: (completion, signal) => serving(completion.server).complete(completion, signal),
    },
    ready: async () => void (await Promise.all([shared.ready(), own.ready()])),
  };
}
