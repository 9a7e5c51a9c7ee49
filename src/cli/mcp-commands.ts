/** `harness mcp …` on the command line. */
import type { Command } from "commander";
import type { CommandActions } from "./command-actions.ts";
import { collect } from "./flags.ts";

export function addMcpCommands(program: Command, actions: CommandActions): void {
  const mcp = program
    .command("mcp")
    .description("list, try, add and remove MCP servers, whose tools the agent may call");

  addLookingCommands(mcp, actions);

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
    .action(actions.redacted(async () => (await import("./mcp.ts")).mcpAddCommand));

  addEntryCommands(mcp, actions);

  mcp
    .command("approve <name>")
    .description("show what a server starts and what changed, and approve it; exit code 1 if you do not")
    .option("-c, --config <file>", "configuration file")
    .option("-C, --cwd <dir>", "workspace folder (default: the current one)")
    .option("-y, --yes", "approve changed tools without asking; never a program")
    .action(actions.redacted(async () => (await import("./mcp-approve.ts")).mcpApproveCommand));

  addEndingCommands(mcp, actions);
  addLoginCommands(mcp, actions);
}

function addLookingCommands(mcp: Command, { exit, ports, redacted }: CommandActions): void {
  mcp
    .command("list")
    .description("list the servers of config.toml and of the project; starts none of them")
    .option("-c, --config <file>", "configuration file")
    .option("-C, --cwd <dir>", "workspace folder (default: the current one)")
    .option("--profile <name>", "also the servers of this profile")
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./mcp.ts")).mcpListCommand));

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

function addEndingCommands(mcp: Command, { redacted }: CommandActions): void {
  mcp
    .command("restart <name>")
    .description("end a server in each open session of the daemon and connect it again; exit code 1 if none has it")
    .option("--connect <address>", "unix:PATH, HOST:PORT or URL (default: unix:$XDG_DATA_HOME/harness/control.sock)")
    .option(
      "--token-file <file>",
      "file with the daemon's token, unless HARNESS_TOKEN is set (default: $XDG_STATE_HOME/harness/control.token)",
    )
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./mcp-restart.ts")).mcpRestartCommand));

  mcp
    .command("remove <name>")
    .description("remove a server from config.toml")
    .option("-c, --config <file>", "configuration file")
    .action(redacted(async () => (await import("./mcp.ts")).mcpRemoveCommand));
}

function addLoginCommands(mcp: Command, { redacted }: CommandActions): void {
  mcp
    .command("login <name>")
    .description("log in at a server on the network, in a browser; the tokens are stored encrypted")
    .option("-c, --config <file>", "configuration file")
    .option("--no-browser", "print the address instead of opening a browser")
    .action(redacted(async () => (await import("./mcp-login.ts")).mcpLoginCommand));

  mcp
    .command("logout <name>")
    .description("delete the stored tokens of a server")
    .option("-c, --config <file>", "configuration file")
    .action(redacted(async () => (await import("./mcp-login.ts")).mcpLogoutCommand));
}

/** About one entry that is there. */
function addEntryCommands(mcp: Command, { exit, ports, redacted }: CommandActions): void {
  mcp
    .command("get <name>")
    .description("show one server and what is known of its tools; starts nothing")
    .option("-c, --config <file>", "configuration file")
    .option("-C, --cwd <dir>", "workspace folder (default: the current one)")
    .option("--profile <name>", "also the servers of this profile")
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./mcp.ts")).mcpGetCommand));

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
