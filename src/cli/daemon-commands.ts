/** The `harness daemon` commands on the command line. */
import type { Command } from "commander";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { addRunFlags, collect } from "./flags.ts";

export function addDaemonCommands(program: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  const daemon = program
    .command("daemon")
    .description("the engine as a service, for scripts, editors and other agents");
  addRunFlags(daemon.command("run"))
    .description("serve REST with server-sent events and web sockets in the foreground, until SIGTERM or Ctrl-C")
    .option(
      "--listen <address>",
      "HOST:PORT of loopback, or unix:PATH; repeatable (default: unix:$XDG_DATA_HOME/harness/control.sock)",
      collect,
    )
    .option("--allow-origin <origin>", "pages of this origin may use the server; repeatable (default: none)", collect)
    .option(
      "--token-file <file>",
      "where the token of this run is written (default: $XDG_STATE_HOME/harness/control.token)",
    )
    .action(async (flags) => exit(await (await import("./daemon.ts")).daemonRunCommand(ports, flags)));
}
