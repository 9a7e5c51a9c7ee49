/** `harness mcp restart NAME`: ends a server in each open session of the daemon and connects it again. */
import { visibleLine, visibleLines } from "#base";
import { type DaemonFlags, daemonPlace, reachDaemon } from "#daemon";
import { ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

export interface McpRestartFlags extends DaemonFlags {
  readonly json?: boolean;
}

interface Restarted {
  readonly session: string;
  /** What the session says of the server afterwards. */
  readonly text: string;
}

/** 0 when it was restarted somewhere, 1 when no open session has it or no daemon runs. */
export async function mcpRestartCommand(ports: CliPorts, name: string, flags: McpRestartFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const left = new AbortController();
  const stopListening = terminal.onInterrupt(() => left.abort());
  try {
    const restarted = await restartEverywhere(ports, name, flags, left.signal);
    if (flags.json) terminal.out(`${JSON.stringify({ name, sessions: restarted })}\n`);
    else for (const { session, text } of restarted) terminal.out(`${session}\n${visibleLines(text)}\n`);
    if (restarted.length > 0) return 0;
    terminal.err(`No open session of the daemon has an MCP server '${visibleLine(name).slice(0, 100)}'.\n`);
    return 1;
  } finally {
    stopListening();
  }
}

async function restartEverywhere(
  ports: CliPorts,
  name: string,
  flags: DaemonFlags,
  signal: AbortSignal,
): Promise<readonly Restarted[]> {
  const client = await reachDaemon(ports, daemonPlace(ports, flags), signal).catch((error: unknown) => {
    if (!(error instanceof ReasonError) || error.reason !== "ServerUnreachable") throw error;
    const advice =
      "Without a daemon there is nothing to restart: each harness run starts its own servers and ends them.";
    throw ReasonError.withMessage("ServerUnreachable", `${error.message} ${advice}`, { cause: error });
  });
  try {
    const sessions = await client.sessions();
    const open = sessions.filter(({ activity }) => activity !== undefined && activity !== "ending");
    // Side by side: sessions that share a server restart it once.
    const all = await Promise.all(
      open.map(async ({ id }): Promise<readonly Restarted[]> => {
        const session = client.session(id);
        const words = await session.slashCommands();
        if (!words.some((word) => word.namespace === "mcp" && word.name === name)) return [];
        const args = { server: name };
        const { result } = await session.submit({ kind: "RunSlashCommand", namespace: "mcp", name: "restart", args });
        return [{ session: id, text: result.text ?? "" }];
      }),
    );
    return all.flat();
  } finally {
    await client.close();
  }
}
