/** Where an MCP server of a session runs: its sandbox, its own files, its environment, and what it reaches. */
import { join } from "node:path";
import { createDomainList, type DomainList, defined, EffectError, messageOf, type ProcessInput } from "#base";
import type { EventBus } from "#engine";
import type { McpWorld, ServerProcess } from "#mcp";
import { serverFolders } from "#stores";
import { makePrivateDirectory, realPath } from "#world";
import type { SandboxPlace, SessionSandbox } from "./sandbox.ts";
import { approvedFiles, approvedProgram } from "./server-program.ts";

/** The longest time that a timer can wait. */
const AS_LONG_AS_THE_SESSION_MS = 2 ** 31 - 1;

type StdioServer = Parameters<McpWorld["start"]>[0];

export interface ServerWorldOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly place: SandboxPlace;
  readonly sandboxFor: (place: SandboxPlace) => SessionSandbox;
}

export interface ServerWorld {
  readonly start: McpWorld["start"];
  readonly check: NonNullable<McpWorld["check"]>;
  /** What the server reaches is published here. */
  recordTo(bus: EventBus): void;
  close(): Promise<void>;
}

/** Of one server: what it reaches and where it keeps its files is its own. */
export function createServerWorld(options: ServerWorldOptions): ServerWorld {
  let bus: EventBus | undefined;
  let made: SessionSandbox | undefined;

  function boxOf({ name, folder = name, connection, pin }: StdioServer): SessionSandbox {
    if (made !== undefined) return made;
    const { place } = options;
    const folders = serverFolders(options.env);
    const state = join(folders.state, folder);
    makePrivateDirectory(state);
    made = options.sandboxFor({
      ...place,
      domains: () => reachable(connection.network, place.domains()),
      server: {
        ...{ state, paths: connection.paths.map(realPath), packages: realPath(folders.packages) },
        files: pin === undefined ? [] : approvedFiles(pin, programPlace()),
      },
    });
    if (bus !== undefined) made.recordTo(bus);
    return made;
  }

  function programPlace() {
    const { packages, files } = serverFolders(options.env);
    return { root: options.place.root, env: options.env, packages, copies: files };
  }

  async function start(
    server: StdioServer,
    on: Parameters<McpWorld["start"]>[1],
    signal: AbortSignal,
  ): Promise<ServerProcess> {
    const { args, env, unconfined } = server.connection;
    const file = await approvedProgram(server, programPlace());
    const box = boxOf(server);
    const hold = unconfined === true ? "off" : await box.hold();
    if (hold === "none") {
      const remedy = 'Run: harness sandbox check. Or set sandbox = "off" in your own config.toml';
      throw new EffectError("SandboxUnavailable", `there is no sandbox for the MCP server ${server.name}. ${remedy}`);
    }
    const stdin = Promise.withResolvers<ProcessInput>();
    const processes = unconfined === true ? options.place.outside : box.processes;
    const ended = processes
      .run(
        {
          file,
          args,
          env: { ...namedVariables(server, options.env), ...env },
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
    start,
    check: async (server) => void (await approvedProgram(server, programPlace())),
    recordTo(next) {
      bus = next;
      made?.recordTo(next);
    },
    close: async () => made?.close(),
  };
}

/** The variables of the user's environment that its entry names. */
export function namedVariables(
  { connection: { envVars } }: StdioServer,
  env: ServerWorldOptions["env"],
): Record<string, string> {
  return defined(Object.fromEntries(envVars.map((name) => [name, env[name]])) as Record<string, string>);
}

/** What the entry says, within what the session may reach. Undefined: any public host. */
function reachable(own: readonly string[] | "public", session: DomainList | undefined): DomainList | undefined {
  if (own === "public") return session;
  return createDomainList([...(session?.lists ?? []), own]);
}
