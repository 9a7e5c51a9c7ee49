/** `harness mcp …` on the command line. */
import type { Command } from "commander";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { collect } from "./flags.ts";

export function addMcpCommands(program: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  const mcp = program
    .command("mcp")
    .description("list, try, add and remove MCP servers, whose tools the agent may call");

  addLookingCommands(mcp, ports, exit);

  mcp
    .command("add <name> [command...]")
    .description("add a server to config.toml: harness mcp add NAME -- COMMAND ARGUMENTS, or NAME --url URL")
    .option("-c, --config <file>", "configuration file")
    .option("-e, --env <name=value>", "an environment variable for the server; repeatable", collect)
    .option(
      "--network <host>",
      "a host that the server may reach, or public for every public host; repeatable",
      collect,
    )
    .option(
      "--writable <folder>",
      "a folder of the workspace that the server may change, . for all; repeatable",
      collect,
    )
    .option("--path <folder>", "a folder of this machine that the server may read; repeatable", collect)
    .option("--url <address>", "the address of a server on the network, instead of a command")
    .option("--transport <kind>", "http (default) or sse, for --url")
    .option("--header <name: value>", "a header to send with every request, for --url; repeatable", collect)
    .option("--bearer-token-env-var <name>", "the environment variable that holds the server's token, for --url")
    .action(async (name: string, command: string[], flags) => {
      const { mcpAddCommand } = await import("./mcp.ts");
      exit(await mcpAddCommand(await ports.outward.through(ports, undefined), name, command, flags));
    });

  addEntryCommands(mcp, ports, exit);

  mcp
    .command("approve <name>")
    .description("show what a server starts and what changed, and approve it; exit code 1 if you do not")
    .option("-c, --config <file>", "configuration file")
    .option("-C, --cwd <dir>", "workspace folder (default: the current one)")
    .option("-y, --yes", "approve changed tools without asking; never a program")
    .action(async (name: string, flags) => {
      const { mcpApproveCommand } = await import("./mcp-approve.ts");
      exit(await mcpApproveCommand(await ports.outward.through(ports, undefined), name, flags));
    });

  addEndingCommands(mcp, ports, exit);
  addLoginCommands(mcp, ports, exit);
}

function addLookingCommands(mcp: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  mcp
    .command("list")
    .description("list the servers of config.toml and of the project; starts none of them")
    .option("-c, --config <file>", "configuration file")
    .option("-C, --cwd <dir>", "workspace folder (default: the current one)")
    .option("--profile <name>", "also the servers of this profile")
    .option("--json", "print JSON")
    .action(async (flags) => {
      const { mcpListCommand } = await import("./mcp.ts");
      exit(await mcpListCommand(await ports.outward.through(ports, flags.json), flags));
    });

  for (const [word, description] of [
    ["test", "start the servers as a session in this folder would; exit code 1 if one does not answer"],
    ["tools", "start the servers and list their tools; exit code 1 if one does not answer"],
  ] as const) {
    mcp
      .command(`${word} [name]`)
      .description(description)
      .option("-c, --config <file>", "configuration file")
      .option("-C, --cwd <dir>", "workspace folder (default: the current one)")
      .option("--profile <name>", "also the servers of this profile")
      .option("--json", "print JSON")
      .action(async (name: string | undefined, flags) => {
        const { mcpTestCommand, mcpToolsCommand } = await import("./mcp.ts");
        const command = word === "test" ? mcpTestCommand : mcpToolsCommand;
        exit(await command(await ports.outward.through(ports, flags.json), name, flags));
      });
  }
}

function addEndingCommands(mcp: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  mcp
    .command("restart <name>")
    .description("end a server in each open session of the daemon and connect it again; exit code 1 if none has it")
    .option("--connect <address>", "unix:PATH, HOST:PORT or URL (default: unix:$XDG_DATA_HOME/harness/control.sock)")
    .option(
      "--token-file <file>",
      "file with the daemon's token, unless HARNESS_TOKEN is set (default: $XDG_STATE_HOME/harness/control.token)",
    )
    .option("--json", "print JSON")
    .action(async (name: string, flags) => {
      const { mcpRestartCommand } = await import("./mcp-restart.ts");
      exit(await mcpRestartCommand(await ports.outward.through(ports, flags.json), name, flags));
    });

  mcp
    .command("remove <name>")
    .description("remove a server from config.toml")
    .option("-c, --config <file>", "configuration file")
    .action(async (name: string, flags) => {
      const { mcpRemoveCommand } = await import("./mcp.ts");
      exit(await mcpRemoveCommand(await ports.outward.through(ports, undefined), name, flags));
    });
}

function addLoginCommands(mcp: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  mcp
    .command("login <name>")
    .description("log in at a server on the network, in a browser; the tokens are stored encrypted")
    .option("-c, --config <file>", "configuration file")
    .option("--no-browser", "print the address instead of opening a browser")
    .action(async (name: string, flags) => {
      const { mcpLoginCommand } = await import("./mcp-login.ts");
      exit(await mcpLoginCommand(await ports.outward.through(ports, undefined), name, flags));
    });

  mcp
    .command("logout <name>")
    .description("delete the stored tokens of a server")
    .option("-c, --config <file>", "configuration file")
    .action(async (name: string) => {
      const { mcpLogoutCommand } = await import("./mcp-login.ts");
      exit(await mcpLogoutCommand(await ports.outward.through(ports, undefined), name));
    });
}

/** About one entry that is there. */
function addEntryCommands(mcp: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  mcp
    .command("get <name>")
    .description("show one server and what is known of its tools; starts nothing")
    .option("-c, --config <file>", "configuration file")
    .option("-C, --cwd <dir>", "workspace folder (default: the current one)")
    .option("--profile <name>", "also the servers of this profile")
    .option("--json", "print JSON")
    .action(async (name: string, flags) => {
      const { mcpGetCommand } = await import("./mcp.ts");
      exit(await mcpGetCommand(await ports.outward.through(ports, flags.json), name, flags));
    });

  for (const word of ["enable", "disable"] as const) {
    mcp
      .command(`${word} <name>`)
      .description(
        word === "enable" ? "let sessions start a server again" : "keep a server in config.toml without starting it",
      )
      .option("-c, --config <file>", "configuration file")
      .action(async (name: string, flags) => {
        const { mcpTurnCommand } = await import("./mcp.ts");
        const through = await ports.outward.through(ports, undefined);
        exit(await mcpTurnCommand(through, name, word === "enable", flags));
      });
  }
}
