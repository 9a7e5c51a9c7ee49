/** What a session can do to the world: its folder, its processes, the web. Only the gate hands these out. */
import { hostname } from "node:os";
import type { Project } from "#artifacts";
import { EffectError, type EffectPorts, type ProcessPort, type ProgramFacts } from "#base";
import { ReasonError, type SessionId } from "#protocol";
import { createProcesses, createProgramFacts, createPublicWeb, createSystemRandom, createWorkspaceFiles } from "#world";
import type { SessionDependencies } from "./dependencies.ts";
import { createSessionDomains, type SessionDomains } from "./domains.ts";
import type { Machine } from "./project.ts";
import type { SessionSandbox } from "./sandbox.ts";
import type { TapedSession } from "./tape.ts";

export interface SessionWorld {
  readonly ports: EffectPorts;
  readonly sandbox: SessionSandbox;
  /** What starts processes for the whole tree. */
  readonly processes: ProcessPort;
  readonly domains: SessionDomains;
  readonly machine: Machine;
  readonly programs: ProgramFacts;
  /** Absent unless the program is recorded or replayed. */
  readonly taped: TapedSession | undefined;
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
}

/** Rejects with ConfigInvalid or SandboxUnavailable before anything has begun. */
export async function openWorld(parts: WorldParts): Promise<SessionWorld> {
  const { id, folder, dependencies, project, running, deniedPrograms } = parts;
  const { settings, env, ownPaths } = dependencies;
  const taped = dependencies.taped?.session(id);
  const domains = createSessionDomains(settings, project);
  domains(); // a wrong entry is told before anything begins
  const sandboxed = (root: string, outside: ProcessPort): SessionSandbox =>
    dependencies.sandboxFor({ root, outside, domains, deniedPrograms, settings });
  const made = effectPorts({ workspace: folder, env, domains, ownPaths, sandboxed, running });
  const sandbox = taped?.sandbox(made.sandbox) ?? made.sandbox;
  const observed = dependencies.observePorts?.(made.ports) ?? made.ports;
  const ports = taped?.ports(observed, domains) ?? observed;
  await sandbox.ensure();
  const facts = createProgramFacts({ root: ports.files.root, env });
  return {
    ports,
    sandbox,
    processes: made.outside,
    domains,
    machine: taped?.machine ?? thisMachine(),
    programs: taped?.programs(facts) ?? facts,
    taped,
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
  readonly ports: EffectPorts;
  readonly sandbox: SessionSandbox;
  readonly outside: ProcessPort;
} {
  try {
    const files = createWorkspaceFiles(workspace, ownPaths);
    const outside = running ?? createProcesses({ root: files.root, env });
    const sandbox = sandboxed(files.root, outside);
    return { ports: { files, processes: sandbox.processes, web: createPublicWeb({ domains }) }, sandbox, outside };
  } catch (error) {
    if (!(error instanceof EffectError)) throw error;
    const detail = `the workspace ${workspace} cannot be used: ${error.message}`;
    throw new ReasonError("ConfigInvalid", { detail }, { cause: error });
  }
}

function thisMachine(): Machine {
  return {
    platform: process.platform,
    hostname: hostname(),
    random: createSystemRandom(),
    variable: (_name, read) => read(),
    secret: (_name, read) => read(),
  };
}
