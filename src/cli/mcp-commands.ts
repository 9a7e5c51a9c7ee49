/** `harness mcp …` on the command line. */
import type { Command } from "commander";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { collect } from "./flags.ts";

export function addMcpCommands(program: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  const mcp = program
    .command("mcp")
    .description("list, try, add and remove MCP servers, whose tools the agent may call");

  mcp
    .command("list")
    .description("list the servers of config.toml; starts none of them")
    .option("-c, --config <file>", "configuration file")
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
      .option("--json", "print JSON")
      .action(async (name: string | undefined, flags) => {
        const { mcpTestCommand, mcpToolsCommand } = await import("./mcp.ts");
        const command = word === "test" ? mcpTestCommand : mcpToolsCommand;
        exit(await command(await ports.outward.through(ports, flags.json), name, flags));
      });
  }

  mcp
    .command("add <name> <command...>")
    .description("add a server to config.toml: harness mcp add NAME -- COMMAND ARGUMENTS")
    .option("-c, --config <file>", "configuration file")
    .option("-e, --env <name=value>", "a variable that the server gets; repeatable", collect)
    .option("--network <host>", "a host that the server reaches, or public for any public one; repeatable", collect)
    .option("--path <folder>", "a folder of the machine that the server sees; repeatable", collect)
    .action(async (name: string, command: string[], flags) => {
      const { mcpAddCommand } = await import("./mcp.ts");
      exit(await mcpAddCommand(await ports.outward.through(ports, undefined), name, command, flags));
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
