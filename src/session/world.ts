/** What a session can do to the world: its folder, its processes, the web. Only the gate hands these out. */
import { resolve } from "node:path";
import type { McpServer, Project } from "#artifacts";
import {
  defined,
  EffectError,
  type EffectPorts,
  type FilePort,
  type MemoryPort,
  type ProcessPort,
  type ProgramFacts,
  type WebPort,
} from "#base";
import { ReasonError, type SessionId } from "#protocol";
import { createProcesses, createProgramFacts, createPublicWeb, createWorkspaceFiles } from "#world";
import type { SessionDependencies } from "./dependencies.ts";
import { createSessionDomains, type SessionDomains } from "./domains.ts";
import { hookFolders } from "./hook-folders.ts";
import type { Machine } from "./project.ts";
import type { SessionSandbox } from "./sandbox.ts";
import { createSessionServers, delegateServers, type SessionServers } from "./servers.ts";
import type { SessionTape } from "./tape.ts";

export interface SessionWorld {
  readonly ports: EffectPorts;
  readonly sandbox: SessionSandbox;
  /** What starts processes for the whole tree. */
  readonly processes: ProcessPort;
  readonly domains: SessionDomains;
  readonly machine: Machine;
  readonly programs: ProgramFacts;
  readonly tape: SessionTape;
  readonly servers: SessionServers;
}

export interface WorldParts {
  readonly id: SessionId;
  /** Where the workspace is here. */
  readonly folder: string;
  readonly dependencies: SessionDependencies;
  /** As it is now; asked whenever a host is judged. */
  readonly project: () => Project | undefined;
  /** Programs that a rule denies as a whole. Asked before each command. */
  readonly deniedPrograms: () => readonly string[];
  /** What starts processes for the whole tree, once its root has made it. */
  readonly running: ProcessPort | undefined;
  /** Of the whole tree, once its root has made them. */
  readonly servers: SessionServers | undefined;
  /** Of the whole tree. */
  readonly memory: MemoryPort;
  /** The agent that a delegate is: it may have servers of its own. */
  readonly agent: string | undefined;
}

/** Rejects with ConfigInvalid or SandboxUnavailable before anything has begun. */
export async function openWorld(parts: WorldParts): Promise<SessionWorld> {
  const { id, folder, dependencies, project, running, deniedPrograms } = parts;
  const { settings, env, ownPaths } = dependencies;
  const tape = dependencies.tape.session(id);
  const domains = createSessionDomains(settings, project);
  domains(); // a wrong entry is told before anything begins
  const sandboxPaths = [...settings.sandboxPaths, ...hookFolders(settings.hooks, env)];
  const sandboxed = (root: string, outside: ProcessPort): SessionSandbox =>
    dependencies.sandboxFor({ root, outside, domains, deniedPrograms, settings: { ...settings, sandboxPaths } });
  const made = effectPorts({ workspace: folder, env, domains, ownPaths, sandboxed, running });
  const { root } = made.files;
  const started = (of: readonly McpServer[]): SessionServers =>
    createSessionServers({
      ...{ servers: of, env, clock: dependencies.clock, sandboxFor: dependencies.sandboxFor },
      place: { root, outside: made.outside, domains, deniedPrograms, settings },
      program: dependencies.programServers,
      log: dependencies.serverLog,
      credentials: dependencies.credentials,
      ...defined({ taped: tape.servers }),
    });
  const own = parts.agent === undefined ? [] : (settings.agentServers?.[parts.agent] ?? []);
  const servers =
    parts.servers === undefined ? started(settings.mcpServers) : delegateServers(parts.servers, own, started(own));
  const sandbox = tape.sandbox(made.sandbox);
  const given = {
    files: made.files,
    processes: made.sandbox.processes,
    web: made.web,
    servers: servers.port,
    memory: parts.memory,
  };
  const observed = dependencies.observePorts?.(given) ?? given;
  const ports = tape.ports(observed, domains);
  await sandbox.ensure();
  const facts = createProgramFacts({ root: ports.files.root, env });
  return {
    ports,
    sandbox,
    processes: made.outside,
    domains,
    machine: tape.machine,
    programs: tape.programs(facts),
    tape,
    servers,
  };
}

interface PortParts {
  readonly workspace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly domains: SessionDomains;
  /** Files of the program itself, which may lie in the workspace. */
  readonly ownPaths: readonly string[];
  readonly sandboxed: (root: string, outside: ProcessPort) => SessionSandbox;
  /** What starts processes for the whole tree, once its root has made it. */
  readonly running: ProcessPort | undefined;
}

function effectPorts({ workspace, env, domains, ownPaths, sandboxed, running }: PortParts): {
  readonly files: FilePort;
  readonly web: WebPort;
  readonly sandbox: SessionSandbox;
  readonly outside: ProcessPort;
} {
  try {
    const files = createWorkspaceFiles(workspace, ownPaths);
    const outside = running ?? createProcesses({ root: files.root, env });
    const sandbox = sandboxed(files.root, outside);
    return { files: withoutHeld(files, sandbox), web: createPublicWeb({ domains }), sandbox, outside };
  } catch (error) {
    if (!(error instanceof EffectError)) throw error;
    const detail = `the workspace ${workspace} cannot be used: ${error.message}`;
    throw new ReasonError("ConfigInvalid", detail, { cause: error });
  }
}

/** Names that a running command must not take are no folders of the workspace. */
function withoutHeld(files: FilePort, { isHeld }: Pick<SessionSandbox, "isHeld">): FilePort {
  return {
    ...files,
    list: async (path) => (await files.list(path)).filter(({ name }) => !isHeld(resolve(files.root, path, name))),
  };
}
