/** MCP servers of the user's configuration outside a session: their entries in `config.toml`, and a try at starting them. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { changeServers, domainLists, type McpServer, type ServerChange } from "#artifacts";
import { createDomainList, ifThere } from "#base";
import { ReasonError } from "#protocol";
import { createSessionServers, prepareSandbox, type SessionServers } from "#session";
import { ownFolders } from "#stores";
import { createProcesses, makePrivateDirectory, withFileLock, writePrivateFile } from "#world";
import type { ProgramPorts } from "./ports.ts";
import { configFile, loadConfig } from "./user-config-file.ts";

export interface ServerFlags {
  readonly config?: string;
  readonly cwd?: string;
}

/** Of the entries that are enabled. Throws UsageInvalid for a name that none of them has. */
export async function configuredServers(
  ports: Pick<ProgramPorts, "env" | "cwd">,
  { config }: ServerFlags,
  name?: string,
): Promise<readonly McpServer[]> {
  const { mcpServers } = (await loadConfig(ports, config)).settings;
  if (name === undefined) return mcpServers;
  const found = mcpServers.filter((server) => server.name === name);
  if (found.length > 0) return found;
  const known = mcpServers.map((server) => server.name).join(", ");
  const detail = `config.toml has no enabled MCP server '${name}'${known === "" ? "" : `; there is ${known}`}`;
  throw new ReasonError("UsageInvalid", { detail });
}

/** Started as a session in this folder would start them. Whoever opens them closes them. */
export async function openConfiguredServers(
  ports: ProgramPorts,
  flags: ServerFlags,
  servers: readonly McpServer[],
  log: (text: string) => void,
): Promise<SessionServers> {
  const { env, clock, cwd } = ports;
  const { settings } = await loadConfig(ports, flags.config);
  const root = join(cwd, flags.cwd ?? ".");
  const lists = domainLists(settings, undefined).map(({ entries }) => entries);
  const domains = lists.length === 0 ? undefined : createDomainList(lists);
  const processes = createProcesses({ root, env });
  return createSessionServers({
    settings: { ...settings, mcpServers: servers },
    env,
    clock,
    place: { root, outside: processes, domains: () => domains, deniedPrograms: () => [], settings },
    sandboxFor: prepareSandbox({ env, clock, ownPaths: ownFolders(env) }),
    log: (_level, text) => log(text),
  });
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
  if (changed === undefined) throw new ReasonError("StoreFailed", { detail: `another process has locked ${file}` });
  return file;
}
