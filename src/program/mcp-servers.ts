/** MCP servers outside a session: their entries in `config.toml` and in a project, and a try at starting them. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  changeServers,
  domainLists,
  type McpServer,
  type PinnedFile,
  type ServerChange,
  type Settings,
  writtenServers,
} from "#artifacts";
import { createDomainList, EffectError, ifThere, visibleLine } from "#base";
import { ReasonError } from "#protocol";
import {
  checkProgram,
  createProgramServers,
  createSessionServers,
  prepareSandbox,
  type SessionServers,
  serverProgram,
} from "#session";
import { ownFolders, serverFolders } from "#stores";
import { createProcesses, makePrivateDirectory, realPath, withFileLock, writePrivateFile } from "#world";
import type { ProgramPorts } from "./ports.ts";
import { loadUserSettings } from "./profiles.ts";
import type { UsedServers } from "./project-servers.ts";
import { mayHaveProject } from "./projects.ts";
import { configFile } from "./user-config-file.ts";

export interface ServerFlags {
  readonly config?: string;
  /** Of the user, or a file: its servers are there as well. */
  readonly profile?: string;
  readonly cwd?: string;
}

/**
 * Of the entries that are enabled, and those of the project in the folder that were approved. Throws UsageInvalid for a name that none
 * of them has.
 */
export async function configuredServers(
  ports: ProgramPorts,
  flags: ServerFlags,
  name?: string,
): Promise<readonly McpServer[]> {
  const { servers, notices } = await knownServers(ports, flags);
  if (name === undefined) {
    for (const notice of notices) ports.terminal.err(`${notice}\n`);
    return servers;
  }
  const found = servers.filter((server) => server.name === name);
  if (found.length > 0) return found;
  const notice = notices.find((one) => one.startsWith(`The MCP server '${name}' `));
  if (notice !== undefined) throw new ReasonError("UsageInvalid", notice);
  const known = servers.map((server) => server.name).join(", ");
  const where = flags.profile === undefined ? "config.toml has" : "config.toml and the profile have";
  throw new ReasonError("UsageInvalid", `${where} no MCP server '${name}'${known === "" ? "" : `; there is ${known}`}`);
}

/** The same with sentences for a person about those that are left out. */
export async function knownServers(
  ports: ProgramPorts,
  flags: ServerFlags,
): Promise<{ readonly servers: readonly McpServer[]; readonly notices: readonly string[] }> {
  const { settings } = await loadUserSettings(ports, flags);
  const { mcpServers, agentServers, notices } = await withProject(ports, settings, flags);
  const servers = [...mcpServers, ...Object.values(agentServers).flat()];
  return { servers, notices: [...notices, ...disabledNotices(configFile(ports, flags.config), servers)] };
}

/** What the configuration file has a table for, and nothing else declares. */
function disabledNotices(file: string, servers: readonly McpServer[]): readonly string[] {
  const used = new Set(servers.map(({ name }) => name));
  const disabled = [...writtenServers(ifThere(() => readFileSync(file, "utf8")) ?? "")].filter(
    (name) => !used.has(name),
  );
  return disabled.map((name) => {
    return `The MCP server '${visibleLine(name)}' of config.toml is disabled. To enable it: harness mcp enable ${visibleLine(name)}.`;
  });
}

/** Why its program would not start as it was approved; undefined where it would, or nothing was approved. */
export async function programProblem(
  { env, cwd }: Pick<ProgramPorts, "env" | "cwd">,
  flags: ServerFlags,
  server: McpServer,
): Promise<string | undefined> {
  const { connection } = server;
  if (connection.kind !== "stdio") return undefined;
  const place = { root: realPath(join(cwd, flags.cwd ?? ".")), env, packages: serverFolders(env).packages };
  try {
    await checkProgram({ ...server, connection }, place);
    return undefined;
  } catch (error) {
    if (error instanceof ReasonError || error instanceof EffectError) return error.message;
    throw error;
  }
}

async function withProject(ports: ProgramPorts, settings: Settings, { cwd }: ServerFlags): Promise<UsedServers> {
  const place = cwd === undefined ? {} : { dir: cwd };
  const none = { mcpServers: settings.mcpServers, agentServers: {}, notices: [], unused: [] };
  if (!mayHaveProject(ports, place)) return none;
  const [{ openTrustedProject }, { usedServers }] = await Promise.all([
    import("./trusted-project.ts"),
    import("./project-servers.ts"),
  ]);
  try {
    const { loaded, answers } = await openTrustedProject(ports, place, {});
    return loaded.project === undefined ? none : usedServers(loaded.project, settings, ports.env, answers);
  } catch (error) {
    if (!(error instanceof ReasonError) || error.reason !== "NonInteractiveAckRefused") throw error;
    return {
      ...none,
      notices: ["The project in this folder waits for your ack: its MCP servers are not used. Run: harness ack"],
    };
  }
}

/** What pins the program of the user's own entry; undefined where its file is another one in each folder, or is not there. */
export async function ownPin(
  { env }: Pick<ProgramPorts, "env">,
  { command, args }: { readonly command: string; readonly args: readonly string[] },
): Promise<PinnedFile | undefined> {
  const connection = { kind: "stdio", command, args, env: {}, envVars: [], network: [], paths: [] } as const;
  try {
    // A relative path leads elsewhere in each folder: from here it leads nowhere.
    const { main, path, isInterpreted } = await serverProgram(connection, {
      ...{ root: NOWHERE, env, packages: serverFolders(env).packages },
    });
    return isInterpreted && main.path === path ? undefined : main;
  } catch (error) {
    if (error instanceof EffectError) return undefined;
    throw error;
  }
}

const NOWHERE = "/dev/null/nowhere";

/** Started as a session in this folder would start them. Whoever opens them closes them. */
export async function openConfiguredServers(
  ports: ProgramPorts,
  flags: ServerFlags,
  servers: readonly McpServer[],
  log: (text: string) => void,
): Promise<SessionServers> {
  const { env, clock, cwd } = ports;
  const { settings } = await loadUserSettings(ports, flags);
  const root = join(cwd, flags.cwd ?? ".");
  const lists = domainLists(settings, undefined).map(({ entries }) => entries);
  const domains = lists.length === 0 ? undefined : createDomainList(lists);
  const processes = createProcesses({ root, env });
  const program = createProgramServers(env, (_level, text) => log(text));
  const opened = createSessionServers({
    servers,
    env,
    clock,
    place: { root, outside: processes, domains: () => domains, deniedPrograms: () => [], settings },
    sandboxFor: prepareSandbox({ env, clock, ownPaths: ownFolders(env) }),
    log: (_level, text) => log(text),
    credentials: ports.credentials,
    program,
    waitsForAll: true,
  });
  return {
    ...opened,
    async close() {
      program.beginToEnd();
      await opened.close();
      await program.close();
    },
  };
}

/** Rejects as `changeConfiguredServers` would; changes nothing. */
export async function checkServerChange(
  ports: ProgramPorts,
  { config }: ServerFlags,
  change: ServerChange,
): Promise<void> {
  const file = configFile(ports, config);
  await changeServers(file, ifThere(() => readFileSync(file, "utf8")) ?? "", change);
}

/** Rejects with ConfigInvalid where the file cannot be changed without changing something else. Resolves with the file. */
export async function changeConfiguredServers(
  ports: ProgramPorts,
  { config }: ServerFlags,
  change: ServerChange,
): Promise<string> {
  const file = configFile(ports, config);
  makePrivateDirectory(dirname(file));
  const changed = await withFileLock(file, ports.clock, async () => {
    const text = ifThere(() => readFileSync(file, "utf8")) ?? "";
    writePrivateFile(file, await changeServers(file, text, change), { durable: true });
  });
  if (changed === undefined) throw new ReasonError("StoreFailed", `another process has locked ${file}`);
  return file;
}
