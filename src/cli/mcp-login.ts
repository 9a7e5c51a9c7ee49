/** `harness mcp login` and `logout`: a login at an MCP server on the network. The tokens stay with the credential helper. */
import { visibleLine } from "#base";
import { loginAtServer, openBrowser, type ServerFlags } from "#program";
import { ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

export interface McpLoginFlags extends ServerFlags {
  /** False with `--no-browser`. */
  readonly browser: boolean;
}

const CANCELLED: ExitCode = 130;

export async function mcpLoginCommand(ports: CliPorts, name: string, flags: McpLoginFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const stop = new AbortController();
  const stopListening = terminal.onInterrupt(() => stop.abort());
  try {
    const { issuer, scope } = await loginAtServer(ports, flags, name, {
      signal: stop.signal,
      onAddress(url) {
        terminal.err(`Open this address in a browser and allow the access:\n\n  ${visibleLine(url)}\n\n`);
        terminal.err("Waiting for the browser, for 5 minutes at most. Ctrl-C stops.\n");
        if (flags.browser && terminal.interactive) void openBrowser(ports, url);
      },
    });
    const rights = scope === undefined ? "" : `, with the rights ${visibleLine(scope)}`;
    terminal.err(`Logged in at ${name} through ${visibleLine(issuer)}${rights}. Try it: harness mcp test ${name}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof ReasonError) || error.reason !== "Cancelled") throw error;
    terminal.err("Cancelled. Nothing was stored.\n");
    return CANCELLED;
  } finally {
    stopListening();
  }
}

export async function mcpLogoutCommand(ports: CliPorts, name: string): Promise<ExitCode> {
  if (!(await ports.credentials.logout(name))) {
    throw new ReasonError("UsageInvalid", `no login is stored for the MCP server '${name}'`);
  }
  ports.terminal.err(`Deleted the tokens of ${name}. The server may accept them until they expire.\n`);
  return 0;
}
