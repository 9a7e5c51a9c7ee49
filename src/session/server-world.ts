/** Where an MCP server of a session runs: its sandbox, its own files, its environment, and what it reaches. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { createDomainList, type DomainList, defined, EffectError, messageOf, type ProcessInput } from "#base";
import type { EventBus } from "#engine";
import type { McpWorld, ServerProcess } from "#mcp";
import { serverFolders } from "#stores";
import { makePrivateDirectory, realPath, realPathIfThere } from "#world";
import type { SandboxPlace, SessionSandbox } from "./sandbox.ts";
import { type ApprovedProgram, approvedFiles, approvedProgram } from "./server-program.ts";

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
  let reading: SessionSandbox | undefined;
  /** Of calls that may change the workspace now. Each finds the workspace as it is at its beginning. */
  const writing = new Set<SessionSandbox>();

  function openBox(
    { name, folder = name, connection }: StdioServer,
    program: ApprovedProgram,
    mayWrite: boolean,
  ): SessionSandbox {
    const { place } = options;
    const folders = serverFolders(options.env);
    const state = join(folders.state, folder);
    makePrivateDirectory(state);
    const made = options.sandboxFor({
      ...place,
      domains: () => reachable(connection.network, place.domains()),
      server: {
        ...{ state, paths: connection.paths.map(realPath), packages: realPath(folders.packages) },
        files: approvedFiles(program, programPlace()),
        ...(mayWrite && { writable: writableFolders(name, connection, place.root) }),
      },
    });
    if (bus !== undefined) made.recordTo(bus);
    return made;
  }

  function boxFor(server: StdioServer, program: ApprovedProgram, mayWrite: boolean): SessionSandbox {
    if (!mayWrite) {
      reading ??= openBox(server, program, false);
      return reading;
    }
    const made = openBox(server, program, true);
    writing.add(made);
    return made;
  }

  async function leave(box: SessionSandbox): Promise<void> {
    if (writing.delete(box)) await box.close();
  }

  function programPlace() {
    const { packages, files } = serverFolders(options.env);
    return { root: options.place.root, env: options.env, packages, copies: files };
  }

  const boxes = (): readonly SessionSandbox[] => [...(reading === undefined ? [] : [reading]), ...writing];

  async function start(
    server: StdioServer,
    on: Parameters<McpWorld["start"]>[1],
    signal: AbortSignal,
    mayWrite?: true,
  ): Promise<ServerProcess> {
    const program = await approvedProgram(server, programPlace());
    const box = boxFor(server, program, mayWrite === true);
    try {
      return await startIn(box, program.path, server, on, signal);
    } catch (error) {
      await leave(box);
      throw error;
    }
  }

  async function startIn(
    box: SessionSandbox,
    file: string,
    server: StdioServer,
    on: Parameters<McpWorld["start"]>[1],
    signal: AbortSignal,
  ): Promise<ServerProcess> {
    const { args, env, unconfined } = server.connection;
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
        ({ code, signal: by, note }) => {
          // Stopped before it began, it never had an input.
          stdin.reject(new Error("it was stopped"));
          return { code, signal: by, ...defined({ note }) };
        },
        (error: unknown) => {
          stdin.reject(error);
          return { code: null, signal: null, problem: messageOf(error) };
        },
      )
      .then(async (end) => {
        await leave(box);
        return end;
      });
    const input = await stdin.promise;
    return { write: (line: string) => input.write(line), end: () => input.end(), ended };
  }

  return {
    start,
    check: async (server) => void (await approvedProgram(server, programPlace())),
    recordTo(next) {
      bus = next;
      for (const box of boxes()) box.recordTo(next);
    },
    async close() {
      await Promise.all(boxes().map((box) => box.close()));
    },
  };
}

/** The variables of the user's environment that its entry names. */
export function namedVariables(
  { connection: { envVars } }: StdioServer,
  env: ServerWorldOptions["env"],
): Record<string, string> {
  return defined(Object.fromEntries(envVars.map((name) => [name, env[name]])) as Record<string, string>);
}

/** Absolute and real. Throws an EffectError for one that is not a folder of the workspace. */
function writableFolders(name: string, { writable = [] }: StdioServer["connection"], root: string): readonly string[] {
  return writable.map((folder) => {
    const path = join(root, folder);
    const isFolder = realPathIfThere(path) === path && statSync(path).isDirectory();
    if (isFolder) return path;
    const detail = `'writable' of the MCP server ${name} names ${folder}, which is not a folder of the workspace, or leads elsewhere`;
    throw new EffectError("SandboxUnavailable", detail);
  });
}

/** What the entry says, within what the session may reach. Undefined: any public host. */
function reachable(own: readonly string[] | "public", session: DomainList | undefined): DomainList | undefined {
  if (own === "public") return session;
  return createDomainList([...(session?.lists ?? []), own]);
}
