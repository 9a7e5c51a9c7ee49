/** The MCP servers of a session: connected in parallel, supervised, and offered as tools. */
import type { McpServer } from "#artifacts";
import { type Clock, EffectError, type ServerPort, type ServerPrompt, serverToolName } from "#base";
import type { Tool } from "#engine";
import { discoveryTools, isLazy, type LazyServer } from "./discovery.ts";
import { promptTools } from "./prompt-tools.ts";
import { resourceTools } from "./resource-tools.ts";
import { samplingTools } from "./sampling.ts";
import { createSchemaCheck, type SchemaCheck } from "./schema-check.ts";
import { callServer, checkedAnswer, completeValue, getPrompt, listResources, readResource } from "./server-call.ts";
import type { ServerListener } from "./server-pool.ts";
import { isEnabled, serverTool, withheldTool } from "./server-tools.ts";
import {
  type McpServerState,
  type ServerOffer,
  type SupervisedServer,
  type SupervisorParts,
  superviseServer,
} from "./supervised-server.ts";
import type { ListedTool } from "./tool-list.ts";
import { createUpdatedResources, type UpdatedResource, type UpdatedResources } from "./updated-resources.ts";

/** Names of changed tools in one notice. */
const MAX_NAMED = 50;
/** Without a dot, so that `mcp.<server>.<tool>` names one pair only. */
const SERVER_NAME = /^[A-Za-z0-9_-]{1,64}$/;

export interface McpServersOptions
  extends Pick<SupervisorParts, "world" | "clock" | "log" | "onDown" | "onRefused" | "root" | "keeper" | "hurry"> {
  readonly servers: readonly McpServer[];
  /** Tools of a server have changed, and are not offered until somebody approves them. */
  onWaiting(event: { readonly name: string; readonly tools: readonly string[] }): void;
  /** Also for those whose tools are known: somebody asked how they are. */
  readonly waitsForAll?: boolean;
  /** A reference to a server that other sessions use as well; undefined for one that this set has to itself. */
  readonly lease?: (server: McpServer, listener: ServerListener) => SupervisedServer | undefined;
  /**
   * On a cassette: asked before each turn for what the servers list, which then holds for the turn. `live` starts them and says what
   * they list now.
   */
  readonly listed?: (live: () => Promise<ServerLists>) => Promise<ServerLists>;
  /** On a cassette: asked for what is wrong with the arguments of a call. How long a check takes differs from run to run. */
  readonly checked?: (args: unknown, live: SchemaProblems) => ReturnType<SchemaProblems>;
  /** On a cassette: asked for the resources that have changed. */
  readonly changed?: (live: () => Promise<readonly UpdatedResource[]>) => Promise<readonly UpdatedResource[]>;
}

type SchemaProblems = () => Promise<readonly string[]>;

/** What each server offers, by its name. */
export type ServerLists = Readonly<Record<string, ServerOffer>>;

export interface McpServers {
  /**
   * Before each turn. The first time it begins to connect the servers whose tools are not known, in parallel. Resolves when every eager
   * one of them is connected, has failed or has used up its `startupTimeoutMs`. Never rejects.
   */
  ready(): Promise<void>;
  /** The first request is out: connects the others, whose tools were known. */
  begin(): void;
  /** What is offered now; the same objects while nothing has changed. Tools of a server that is down stay listed. */
  tools(): readonly Tool[];
  /** The prompts of each server that has any, in the order of the servers. */
  prompts(): readonly { readonly server: string; readonly prompts: readonly ServerPrompt[] }[];
  /** Resources that were read and have changed since, each once. */
  updates(): Promise<readonly UpdatedResource[]>;
  /** Calls the servers themselves: below the gate. */
  readonly port: ServerPort;
  states(): readonly McpServerState[];
  /** Rejects when there is no such server. */
  restart(name: string): Promise<void>;
  /** Gives shared servers back and ends the others: closes their input, and after a grace their process groups. */
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
  const toldWaiting = new Map<string, string>();
  let offered: readonly Tool[] | undefined;
  const updated = createUpdatedResources();
  for (const server of servers) {
    if (!SERVER_NAME.test(server.name)) throw new Error(`'${server.name}' is not a valid name for an MCP server`);
    if (byName.has(server.name)) throw new Error(`two MCP servers have the name '${server.name}'`);
    const listener: ServerListener = {
      onDown: options.onDown,
      onRefused: (problem) => options.onRefused?.(problem),
      onTools() {
        offered = undefined;
        tellWaiting();
      },
      onResourceUpdated: (uri) => updated.add(server.name, uri),
    };
    byName.set(server.name, options.lease?.(server, listener) ?? superviseServer({ ...options, server, ...listener }));
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
    if (supervised.isKnown() && options.listed === undefined && options.waitsForAll !== true) {
      const problem = await supervised.check();
      if (problem !== undefined) options.onRefused?.({ reason: problem.reason, message: problem.message });
      return;
    }
    const first = supervised.start();
    if (discovery === "lazy") return;
    const woken = new AbortController();
    await Promise.race([first, clock.sleep(startupTimeoutMs, woken.signal)]);
    woken.abort();
  }

  /** Once for each set of names. */
  function tellWaiting(): void {
    for (const [name, { waiting }] of byName) {
      const tools = waiting().map((tool) => tool.name);
      const isNews = tools.length > 0 && tools.join() !== toldWaiting.get(name);
      toldWaiting.set(name, tools.join());
      if (isNews) options.onWaiting({ name, tools: tools.slice(0, MAX_NAMED) });
    }
  }

  function find(name: string): SupervisedServer {
    const found = byName.get(name);
    if (found === undefined) throw new EffectError("ServerUnavailable", `there is no MCP server named '${name}'`);
    return found;
  }

  function offer(): readonly Tool[] {
    const lazy: LazyServer[] = [];
    const offerOf = (supervised: SupervisedServer) => lists?.[supervised.server.name] ?? supervised.offer();
    const withResources = all.filter((supervised) => offerOf(supervised).hasResources);
    const tools = all.flatMap((supervised) => {
      const { server, waiting } = supervised;
      const enabled = offerOf(supervised).tools.filter(({ name }) => isEnabled(server, name));
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
      // On a cassette are the tools that were offered, and no others.
      const withheld = lists === undefined ? waiting().filter(({ name }) => isEnabled(server, name)) : [];
      return [...shown, ...withheld.map((tool) => withheldTool(server, tool))];
    });
    const reading = resourceTools(withResources.map(({ server }) => server));
    const withPrompts = all.filter((supervised) => offerOf(supervised).prompts !== undefined);
    const prompting = promptTools(withPrompts.map(({ server }) => server));
    const sampling = samplingTools(servers.filter((server) => server.sampling));
    return [...discoveryTools(lazy, describe), ...reading, ...prompting, ...sampling, ...tools];
  }

  function describe(names: readonly string[]): void {
    for (const name of names) described.add(name);
    offered = undefined;
  }

  return {
    async ready() {
      for (const supervised of all) supervised.lookAgain();
      tellWaiting();
      if (options.listed === undefined) return start();
      lists = await options.listed(async () => {
        await start();
        return Object.fromEntries(all.map(({ server, offer }) => [server.name, offer()]));
      });
      offered = undefined;
    },
    begin() {
      // On a cassette they are connected before the turn, and in a replay not at all.
      if (options.listed !== undefined) return;
      for (const supervised of all) void supervised.start();
    },
    tools() {
      offered ??= offer();
      return offered;
    },
    port: serverPort({ find, updated, schemas, clock }),
    prompts: () =>
      all.flatMap((supervised) => {
        const { prompts = [] } = supervised.offer();
        return prompts.length === 0 ? [] : [{ server: supervised.server.name, prompts }];
      }),
    async updates() {
      if (!updated.isWatching()) return [];
      return options.changed === undefined ? updated.take() : options.changed(async () => updated.take());
    },
    states: () => all.map((supervised) => supervised.state()),
    restart: async (name) => find(name).restart(),
    async close() {
      schemas.close();
      await Promise.all(all.map((supervised) => supervised.stop()));
    },
  };
}

function serverPort({
  find,
  updated,
  schemas,
  clock,
}: {
  readonly find: (name: string) => SupervisedServer;
  readonly updated: UpdatedResources;
  readonly schemas: SchemaCheck;
  readonly clock: Clock;
}): ServerPort {
  return {
    async call(call, signal) {
      const { answer, outputSchema } = await callServer(find(call.server), call, clock, signal);
      return checkedAnswer(answer, outputSchema, schemas);
    },
    resources: (server, timeoutMs, signal) => listResources(find(server), timeoutMs, clock, signal),
    async read(read, signal) {
      updated.watch(read.server, read.uri);
      return readResource(find(read.server), read, clock, signal);
    },
    prompt: async (request, signal) => getPrompt(find(request.server), request, clock, signal),
    async complete(completion, signal) {
      const server = find(completion.server);
      if (server.state().state !== "ready") return [];
      try {
        return await completeValue(server, completion, clock, signal);
      } catch (error) {
        if (error instanceof EffectError) return []; // slow, gone or cancelled: nothing is offered
        throw error;
      }
    },
  };
}
