/** The `harness daemon` commands on the command line. */
import { type Command, Option } from "commander";
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
      "HOST:PORT, or unix:PATH; repeatable (default: unix:$XDG_DATA_HOME/harness/control.sock)",
      collect,
    )
    .option("--allow-origin <origin>", "pages of this origin may use the server; repeatable (default: none)", collect)
    .option(
      "--token-file <file>",
      "where the token of this run is written (default: $XDG_STATE_HOME/harness/control.token)",
    )
    .option(
      "--auth-token-file <file>",
      "a token made beforehand, mode 0400; then none is written unless --token-file says where",
    )
    .addOption(
      new Option("--auth-channel <channel>", "also show codes for new tokens as notifications of the desktop").choices([
        "notify",
      ]),
    )
    .option("--tls-cert <file>", "certificate (PEM) for an address that other machines can reach")
    .option("--tls-key <file>", "its key (PEM)")
    .action(async (flags) => exit(await (await import("./daemon.ts")).daemonRunCommand(ports, flags)));
}
