/** `harness mcp`: the MCP servers of `config.toml`, listed, tried, added and removed. */
import type { McpServer } from "#artifacts";
import { visibleLine } from "#base";
import {
  changeConfiguredServers,
  checkServerChange,
  configuredServers,
  installPackage,
  npxPackage,
  openConfiguredServers,
  removePackage,
  type ServerFlags,
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
  else if (servers.length === 0) terminal.out("No MCP servers: add one with harness mcp add NAME -- COMMAND\n");
  else terminal.out(formatTable(["name", "network", "command"], servers.map(row), terminal.columns));
  return 0;
}

function row({ name, connection }: McpServer): string[] {
  if (connection.kind !== "stdio") return [name, "", connection.url];
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
      const detail = state === "ready" ? `${tools} tools, MCP ${protocolVersion}` : visibleLine(lastError ?? state);
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
  if (wanted.length === 0) throw new ReasonError("UsageInvalid", { detail: "config.toml has no MCP servers" });
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
}

export async function mcpAddCommand(
  ports: CliPorts,
  name: string,
  [command, ...args]: readonly string[],
  flags: McpAddFlags,
): Promise<ExitCode> {
  if (command === undefined) {
    throw new ReasonError("UsageInvalid", {
      detail: "name the program of the server: harness mcp add NAME -- COMMAND",
    });
  }
  const entry = {
    add: name,
    command,
    args,
    env: Object.fromEntries((flags.env ?? []).map(variable)),
    ...networkOf(flags.network),
    paths: flags.path ?? [],
  };
  const wanted = npxPackage([command, ...args]);
  if (wanted === undefined) return told(ports, name, await changeConfiguredServers(ports, flags, entry));
  await checkServerChange(ports, flags, entry);
  ports.terminal.err(`Installing ${visibleLine(wanted.spec)} …\n`);
  const { installed, paths, ...started } = await installPackage(ports, name, wanted);
  ports.terminal.err(`Installed ${visibleLine(installed)}. Harness starts this version from now on.\n`);
  const change = { ...entry, ...started, paths: [...entry.paths, ...paths] };
  return told(ports, name, await changeConfiguredServers(ports, flags, change));
}

function told(ports: CliPorts, name: string, file: string): ExitCode {
  ports.terminal.err(`Added ${name} to ${file}. Try it: harness mcp test ${name}\n`);
  return 0;
}

function variable(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new ReasonError("UsageInvalid", { detail: `--env takes NAME=VALUE, not '${text}'` });
  return [text.slice(0, at), text.slice(at + 1)];
}

function networkOf(hosts: readonly string[] | undefined): { readonly network?: readonly string[] | "public" } {
  if (hosts === undefined) return {};
  return { network: hosts.includes("public") ? "public" : hosts };
}

export async function mcpRemoveCommand(ports: CliPorts, name: string, flags: McpFlags): Promise<ExitCode> {
  const file = await changeConfiguredServers(ports, flags, { remove: name });
  removePackage(ports, name);
  ports.terminal.err(`Removed ${name} from ${file}.\n`);
  return 0;
}
