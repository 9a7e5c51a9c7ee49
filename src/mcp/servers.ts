/** The MCP servers of a session: connected in parallel, supervised, and offered as tools. */
import type { McpServer } from "#artifacts";
import { type Clock, EffectError, type ServerPort, serverToolName } from "#base";
import type { Tool } from "#engine";
import { discoveryTools, isLazy, type LazyServer } from "./discovery.ts";
import type { McpLog, McpWorld } from "./mcp-world.ts";
import { createSchemaCheck, type SchemaCheck } from "./schema-check.ts";
import { callServer, checkedAnswer, errorAnswer } from "./server-call.ts";
import { isEnabled, serverTool } from "./server-tools.ts";
import { type McpServerState, type SupervisedServer, superviseServer } from "./supervised-server.ts";
import type { ListedTool } from "./tool-list.ts";

/** Without a dot, so that `mcp.<server>.<tool>` names one pair only. */
const SERVER_NAME = /^[A-Za-z0-9_-]{1,64}$/;

export interface McpServersOptions {
  readonly servers: readonly McpServer[];
  readonly world: McpWorld;
  readonly clock: Clock;
  onDown(event: { readonly name: string; readonly reason: string; readonly attempts: number }): void;
  readonly log: McpLog;
  /**
   * On a cassette: asked before each turn for what the servers list, which then holds for the turn. `live` starts them and says what
   * they list now.
   */
  readonly listed?: (live: () => Promise<ServerLists>) => Promise<ServerLists>;
  /** On a cassette: asked for what is wrong with the arguments of a call. How long a check takes differs from run to run. */
  readonly checked?: (args: unknown, live: SchemaProblems) => ReturnType<SchemaProblems>;
}

type SchemaProblems = () => Promise<readonly string[]>;

/** What each server lists, by its name. */
export type ServerLists = Readonly<Record<string, readonly ListedTool[]>>;

export interface McpServers {
  /**
   * Before each turn. The first time it begins connecting in parallel. Resolves when every eager server is connected, has failed or has used up its
   * `startupTimeoutMs`. Never rejects.
   */
  ready(): Promise<void>;
  /** What is offered now; the same objects while nothing has changed. Tools of a server that is down stay listed. */
  tools(): readonly Tool[];
  /** Calls the servers themselves: below the gate. */
  readonly port: ServerPort;
  states(): readonly McpServerState[];
  /** Rejects when there is no such server. */
  restart(name: string): Promise<void>;
  /** Ends all servers: closes their input, and after a grace of 0.8 s their process groups. */
  close(): Promise<void>;
}

/** Throws for a name that cannot be part of a tool's name, and for one that comes twice. */
export function createMcpServers(options: McpServersOptions): McpServers {
  const { servers, clock } = options;
  const byName = new Map<string, SupervisedServer>();
  const schemas = createSchemaCheck(clock, options.log);
  const { checked = (_args, live) => live() } = options;
  const argumentCheck: Pick<SchemaCheck, "check"> = {
    check: (schema, args) => checked(args, () => schemas.check(schema, args)),
  };
  /** Deferred tools whose schemas the model has asked for. */
  const described = new Set<string>();
  const made = new WeakMap<ListedTool, Tool>();
  let offered: readonly Tool[] | undefined;
  for (const server of servers) {
    if (!SERVER_NAME.test(server.name)) throw new Error(`'${server.name}' is not a name for an MCP server`);
    if (byName.has(server.name)) throw new Error(`two MCP servers have the name '${server.name}'`);
    const onTools = () => {
      offered = undefined;
    };
    byName.set(server.name, superviseServer({ ...options, server, onTools }));
  }
  const all = [...byName.values()];
  let started: Promise<void> | undefined;
  let lists: ServerLists | undefined;

  function start(): Promise<void> {
    started ??= Promise.all(all.map(startOne)).then(() => undefined);
    return started;
  }

  async function startOne(supervised: SupervisedServer): Promise<void> {
    const { discovery, startupTimeoutMs } = supervised.server;
    const first = supervised.start();
    if (discovery === "lazy") return;
    const woken = new AbortController();
    await Promise.race([first, clock.sleep(startupTimeoutMs, woken.signal)]);
    woken.abort();
  }

  function find(name: string): SupervisedServer {
    const found = byName.get(name);
    if (found === undefined) throw new EffectError("ServerUnavailable", `there is no MCP server named '${name}'`);
    return found;
  }

  function offer(): readonly Tool[] {
    const lazy: LazyServer[] = [];
    const tools = all.flatMap(({ server, tools: listed }) => {
      const enabled = (lists?.[server.name] ?? listed()).filter(({ name }) => isEnabled(server, name));
      const isDeferred = isLazy(server, enabled.length);
      const shown = enabled.map((tool) => {
        const isHidden = isDeferred && !described.has(serverToolName(server.name, tool.name));
        const known = made.get(tool);
        if (known !== undefined && (known.deferred ?? false) === isHidden) return known;
        const fresh = serverTool(server, tool, argumentCheck, isHidden);
        made.set(tool, fresh);
        return fresh;
      });
      if (isDeferred) lazy.push({ name: server.name, tools: shown });
      return shown;
    });
    return [...discoveryTools(lazy, describe), ...tools];
  }

  function describe(names: readonly string[]): void {
    for (const name of names) described.add(name);
    offered = undefined;
  }

  return {
    async ready() {
      if (options.listed === undefined) return start();
      lists = await options.listed(async () => {
        await start();
        return Object.fromEntries(all.map(({ server, tools }) => [server.name, tools()]));
      });
      offered = undefined;
    },
    tools() {
      offered ??= offer();
      return offered;
    },
    port: {
      async call(call, signal) {
        const supervised = find(call.server);
        const tool = supervised.tools().find(({ name }) => name === call.tool);
        if (tool === undefined || !isEnabled(supervised.server, tool.name)) {
          return errorAnswer(`The MCP server '${call.server}' has no tool '${call.tool}'.`);
        }
        const answer = await callServer(supervised, tool, call, clock, signal);
        return checkedAnswer(answer, tool, schemas);
      },
    },
    states: () => all.map((supervised) => supervised.state()),
    restart: async (name) => find(name).restart(),
    async close() {
      schemas.close();
      await Promise.all(all.map((supervised) => supervised.stop()));
    },
  };
}
