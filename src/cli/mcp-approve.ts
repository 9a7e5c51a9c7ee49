/** `harness mcp approve NAME`: shows what of a server changed since it was approved, or all of it, and approves it again. */
import type { McpServer, PinnedFile } from "#artifacts";
import { visibleLine } from "#base";
import { changeConfiguredServers, declaredServers, loadConfig, lookAtServer, ownPin, type ServerFlags } from "#program";
import { ReasonError } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { reviewAt } from "./file-review.ts";
import { askAboutServer } from "./server-review.ts";
import { reviewTools } from "./tool-review.ts";

export interface ApproveFlags extends ServerFlags {
  /** Changed tools are approved without a question; a program never is. */
  readonly yes?: boolean;
}

/** 0 when it is approved, 1 when somebody said no or left, 2 where nobody can be asked. */
export async function mcpApproveCommand(ports: CliPorts, name: string, flags: ApproveFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const { settings } = await loadConfig(ports, flags.config);
  const own = settings.mcpServers.find((server) => server.name === name);
  if (own !== undefined) {
    const code = await approveOwn(ports, own, flags);
    return code === 0 ? reviewTools(ports, own, flags.yes === true) : code;
  }
  if (!terminal.interactive) {
    const detail = `config.toml has no MCP server '${name}'. To approve one of a project, ${IN_A_TERMINAL}`;
    throw new ReasonError("UsageInvalid", detail);
  }
  const { openTrustedProject } = await import("#program/trusted-project");
  const place = flags.cwd === undefined ? {} : { dir: flags.cwd };
  const { loaded, servers } = await openTrustedProject(ports, place, { review: reviewAt(ports) });
  const declared = loaded.project === undefined ? [] : declaredServers(loaded.project, settings, ports.env);
  const wanted = declared.find(({ server }) => server.name === name);
  if (wanted === undefined || servers === undefined || loaded.project === undefined) {
    const known = [...settings.mcpServers, ...declared.map(({ server }) => server)].map((server) => server.name);
    const there = known.length === 0 ? "there are none" : `there is ${known.join(", ")}`;
    throw new ReasonError("UsageInvalid", `no MCP server '${name}' is declared here; ${there}`);
  }
  const { root } = loaded.project;
  const review = await lookAtServer(ports, root, wanted, servers);
  const verdict = await untilInterrupted(ports, (signal) => askAboutServer(ports, root, review, servers, signal));
  if (verdict === "quit") return 1;
  terminal.err(verdict === "approved" ? `Approved ${name}.\n` : `Denied ${name}. Harness does not start it.\n`);
  return verdict === "approved" ? reviewTools(ports, wanted.server, flags.yes === true) : 1;
}

const IN_A_TERMINAL = "run this command in a terminal: somebody has to read what it starts";

/** The user's own entry is not in question, only the file that it starts. */
async function approveOwn(ports: CliPorts, { name, connection }: McpServer, flags: ServerFlags): Promise<ExitCode> {
  const { terminal } = ports;
  const pin = connection.kind === "stdio" ? await ownPin(ports, connection) : undefined;
  if (connection.kind !== "stdio" || pin === undefined) return 0;
  if (connection.sha256 === pin.sha256) {
    terminal.err(`${name} has not changed: ${visibleLine(pin.path)} has the sha256 ${pin.sha256}.\n`);
    return 0;
  }
  if (!terminal.interactive) {
    // An entry without a hash starts whatever the command names: nothing of it waits.
    if (connection.sha256 === undefined) return 0;
    throw new ReasonError("UsageInvalid", `to approve the MCP server '${name}', ${IN_A_TERMINAL}`);
  }
  const isYes = await untilInterrupted(ports, (signal) => askAboutPin(ports, name, pin, connection.sha256, signal));
  if (!isYes) return 1;
  const file = await changeConfiguredServers(ports, flags, { pin: name, sha256: pin.sha256 });
  terminal.err(`Approved ${name}: its sha256 is in ${file}.\n`);
  return 0;
}

function askAboutPin(
  { terminal }: CliPorts,
  name: string,
  { path, sha256 }: PinnedFile,
  before: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const lines = [
    `The MCP server '${name}' of your config.toml starts ${visibleLine(path)}`,
    `  sha256 ${sha256}`,
    before === undefined ? "  It was not pinned before." : `  before ${before}`,
  ];
  return terminal.ask(async (screen) => {
    screen.show(`${lines.join("\n")}\n`);
    const answer = await screen.readKey("  [a]pprove  [q]uit > ", signal);
    return answer.kind === "key" && answer.key.toLowerCase() === "a";
  });
}

async function untilInterrupted<Answer>(
  { terminal }: CliPorts,
  question: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const interrupted = new AbortController();
  const stopListening = terminal.onInterrupt(() => interrupted.abort());
  try {
    return await question(interrupted.signal);
  } finally {
    stopListening();
  }
}
