/** `harness mcp`: the MCP servers of `config.toml`, listed, tried, added and removed. */
import { isServerAddress, isWorkspaceFolder, type McpServer, type ServerChange } from "#artifacts";
import { counted, defined, visibleLine } from "#base";
import {
  changeConfiguredServers,
  checkServerChange,
  configuredServers,
  installPackage,
  openConfiguredServers,
  ownPin,
  packageOf,
  removePackage,
  type ServerFlags,
  waitingTools,
} from "#program";
import { ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { formatTable } from "./table.ts";

export interface McpFlags extends ServerFlags {
  readonly json?: boolean;
}

export async function mcpListCommand(ports: CliPorts, flags: McpFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const servers = await configuredServers(ports, flags);
  if (flags.json) terminal.out(`${JSON.stringify(servers)}\n`);
  else if (servers.length === 0) terminal.out("No MCP server is in use. To add one: harness mcp add NAME -- COMMAND\n");
  else terminal.out(formatTable(["name", "network", "command"], servers.map(row), terminal.columns));
  return 0;
}

function row({ name, connection }: McpServer): string[] {
  if (connection.kind !== "stdio") return [name, new URL(connection.url).host, visibleLine(connection.url)];
  const { network, command, args } = connection;
  const reached = network === "public" ? "public hosts" : network.length === 0 ? "none" : network.join(", ");
  return [name, reached, visibleLine([command, ...args].join(" "))];
}

/** Starts them as a session here would. 1 when one of them does not answer. */
export async function mcpTestCommand(ports: CliPorts, name: string | undefined, flags: McpFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const { states } = await tried(ports, name, flags);
  if (flags.json) terminal.out(`${JSON.stringify(states)}\n`);
  else {
    for (const { name: server, state, tools, protocolVersion, lastError } of states) {
      const detail =
        state === "ready" ? `${counted(tools, "tool")}, MCP ${protocolVersion}` : visibleLine(lastError ?? state);
      terminal.out(`${state === "ready" ? "✓" : "✗"} ${server}: ${detail}\n`);
    }
  }
  return states.every(({ state }) => state === "ready") ? 0 : 1;
}

/** The tools as the model is offered them. */
export async function mcpToolsCommand(ports: CliPorts, name: string | undefined, flags: McpFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const { states, tools } = await tried(ports, name, flags);
  if (flags.json) terminal.out(`${JSON.stringify(tools)}\n`);
  else {
    const rows = tools.map((tool) => [tool.name, tool.class, visibleLine(tool.description.split("\n")[0] ?? "")]);
    terminal.out(formatTable(["tool", "class", "description"], rows, terminal.columns));
  }
  return states.every(({ state }) => state === "ready") ? 0 : 1;
}

async function tried(ports: CliPorts, name: string | undefined, flags: McpFlags) {
  const wanted = await configuredServers(ports, flags, name);
  if (wanted.length === 0) throw new ReasonError("UsageInvalid", "config.toml has no enabled MCP server");
  const servers = await openConfiguredServers(
    ports,
    flags,
    // Whoever asks waits for all of them.
    wanted.map((server) => ({ ...server, discovery: "eager", startupTimeoutMs: TRY_MS })),
    (text) => ports.terminal.err(`${visibleLine(text)}\n`),
  );
  try {
    await servers.ready();
    return {
      states: servers.states(),
      tools: servers.tools().map(({ name: tool, class: toolClass, description, parameters }) => {
        return { name: tool, class: toolClass, description, parameters };
      }),
    };
  } finally {
    await servers.close();
  }
}

const TRY_MS = 30_000;

export interface McpAddFlags extends McpFlags {
  readonly env?: readonly string[];
  readonly network?: readonly string[];
  readonly path?: readonly string[];
  readonly writable?: readonly string[];
  readonly url?: string;
  readonly transport?: string;
  readonly header?: readonly string[];
  readonly bearerTokenEnvVar?: string;
}

export async function mcpAddCommand(
  ports: CliPorts,
  name: string,
  [command, ...args]: readonly string[],
  flags: McpAddFlags,
): Promise<ExitCode> {
  if (flags.url !== undefined) return addRemote(ports, name, flags.url, command, flags);
  if (command === undefined) {
    throw new ReasonError(
      "UsageInvalid",
      "name the program or the address of the server: harness mcp add NAME -- COMMAND, or --url URL",
    );
  }
  const entry = {
    add: name,
    command,
    args,
    env: Object.fromEntries((flags.env ?? []).map(variable)),
    ...networkOf(flags.network),
    paths: flags.path ?? [],
    writable: writableOf(flags.writable),
  };
  const wanted = packageOf([command, ...args]);
  if (wanted === undefined) return added(ports, flags, entry);
  await checkServerChange(ports, flags, entry);
  ports.terminal.err(`Installing ${visibleLine(wanted.request.spec)} …\n`);
  const installed = await installPackage(ports, name, wanted);
  const version = `${installed.name}@${installed.version}`;
  ports.terminal.err(`Installed ${visibleLine(version)}. Harness starts this version from now on.\n`);
  const started = { command: installed.command, args: installed.args, paths: [...entry.paths, ...installed.paths] };
  return added(ports, flags, { ...entry, ...started });
}

/** With the hash of its program, so that another one does not start unseen. */
async function added(
  ports: CliPorts,
  flags: McpAddFlags,
  entry: Extract<ServerChange, { command: string }>,
): Promise<ExitCode> {
  const pin = await ownPin(ports, entry);
  const change = { ...entry, ...defined({ sha256: pin?.sha256 }) };
  return told(ports, entry.add, await changeConfiguredServers(ports, flags, change));
}

async function addRemote(
  ports: CliPorts,
  name: string,
  url: string,
  command: string | undefined,
  flags: McpAddFlags,
): Promise<ExitCode> {
  const { transport, header = [], bearerTokenEnvVar } = flags;
  const isProgram = command !== undefined || flags.env !== undefined || flags.network !== undefined;
  if (isProgram || flags.path !== undefined || flags.writable !== undefined) {
    throw new ReasonError("UsageInvalid", "--url takes no command, --env, --network, --path or --writable");
  }
  if (!isServerAddress(url)) {
    throw new ReasonError("UsageInvalid", `--url takes an http or https address without a login, not '${url}'`);
  }
  if (transport !== undefined && transport !== "http" && transport !== "sse") {
    throw new ReasonError("UsageInvalid", `--transport is http or sse, not '${transport}'`);
  }
  const change = {
    add: name,
    url,
    headers: Object.fromEntries(header.map(headerOf)),
    ...(transport !== undefined && { transport: transport as "http" | "sse" }), // checked above
    ...defined({ bearerVariable: bearerTokenEnvVar }),
  };
  return told(ports, name, await changeConfiguredServers(ports, flags, change));
}

function headerOf(text: string): [string, string] {
  const at = text.indexOf(":");
  if (at < 1) throw new ReasonError("UsageInvalid", `--header takes 'Name: value', not '${text}'`);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

function told(ports: CliPorts, name: string, file: string): ExitCode {
  ports.terminal.err(`Added ${name} to ${file}. Try it: harness mcp test ${name}\n`);
  return 0;
}

function variable(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new ReasonError("UsageInvalid", `--env takes NAME=VALUE, not '${text}'`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function networkOf(hosts: readonly string[] | undefined): { readonly network?: readonly string[] | "public" } {
  if (hosts === undefined) return {};
  return { network: hosts.includes("public") ? "public" : hosts };
}

function writableOf(folders: readonly string[] = []): readonly string[] {
  const wrong = folders.find((folder) => !isWorkspaceFolder(folder));
  if (wrong === undefined) return folders;
  const detail = `--writable takes a folder relative to the workspace, or . for all of it, not '${wrong}'`;
  throw new ReasonError("UsageInvalid", detail);
}

/** One entry with all that is known of it; starts nothing. */
export async function mcpGetCommand(ports: CliPorts, name: string, flags: McpFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const [server] = await configuredServers(ports, flags, name);
  const known = await waitingTools(ports, server!, (text) => terminal.err(`${visibleLine(text)}\n`));
  const facts = { ...server, tools: known?.tools ?? [], waiting: known?.changes.map(({ tool }) => tool) ?? [] };
  if (flags.json) terminal.out(`${JSON.stringify(facts)}\n`);
  else {
    const { connection, ...others } = facts;
    const fields = Object.entries({ ...connection, ...others }).filter(([key]) => key !== "name");
    const rows = fields.map(([key, value]) => [
      key,
      visibleLine(typeof value === "string" ? value : JSON.stringify(value)),
    ]);
    terminal.out(formatTable([name, ""], rows, terminal.columns));
  }
  return 0;
}

/** Sessions that run keep it until they end. */
export async function mcpTurnCommand(
  ports: CliPorts,
  name: string,
  enabled: boolean,
  flags: McpFlags,
): Promise<ExitCode> {
  const file = await changeConfiguredServers(ports, flags, { turn: name, enabled });
  ports.terminal.err(`${enabled ? "Enabled" : "Disabled"} ${name} in ${file}, from the next session on.\n`);
  return 0;
}

export async function mcpRemoveCommand(ports: CliPorts, name: string, flags: McpFlags): Promise<ExitCode> {
  const file = await changeConfiguredServers(ports, flags, { remove: name });
  removePackage(ports, name);
  ports.terminal.err(`Removed ${name} from ${file}.\n`);
  return 0;
}
