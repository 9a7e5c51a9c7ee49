/** What a session can do to the world: its folder, its processes, the web. Only the gate hands these out. */
import {
  createProcesses,
  createPublicWeb,
  createWorkspaceFiles,
  EffectError,
  type EffectPorts,
  type ProcessPort,
} from "#base";
import { ReasonError } from "#protocol";
import type { SessionDomains } from "./session-domains.ts";
import type { SessionSandbox } from "./session-sandbox.ts";

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

export function effectPorts({ workspace, env, domains, ownPaths, sandboxed, running }: PortParts): {
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
