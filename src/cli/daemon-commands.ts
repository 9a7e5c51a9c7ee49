/** The `harness daemon` commands on the command line. */
import { type Command, Option } from "commander";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { addRunFlags, collect } from "./flags.ts";

export function addDaemonCommands(program: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  const daemon = program
    .command("daemon")
    .description("the engine as a service, for scripts, editors and other agents")
    .addHelpText(
      "after",
      `
Examples:
  harness daemon start                        one daemon in the background, on a socket that only you can open
  harness daemon start -m anthropic:claude-sonnet-5-5 --listen 127.0.0.1:8350
  harness daemon status --json                pid, version, addresses and the state of each part
  harness daemon restart                      with the flags it had; running turns may end first
  harness daemon run --log-to-stderr          in the foreground, for a supervisor or to look at`,
    );

  addServeFlags(daemon.command("run"))
    .description("serve REST with server-sent events and web sockets in the foreground, until SIGTERM or Ctrl-C")
    .option("--background", "as daemon start runs it: it ends when nobody needs it, and the folder is no project yet")
    .action(async (flags) => exit(await (await import("#daemon/run")).daemonRunCommand(ports, flags)));

  for (const [verb, description] of [
    ["start", "start one in the background unless it runs; what is left of killed and hung ones is cleared away"],
    ["restart", "stop it and start it again, with the flags given or those it had"],
  ] as const) {
    addServeFlags(daemon.command(verb))
      .description(description)
      .option("--json", "print JSON")
      .action(async (flags) => {
        const { daemonRestartCommand, daemonStartCommand } = await import("./daemon-control.ts");
        const command = verb === "start" ? daemonStartCommand : daemonRestartCommand;
        exit(await command(await ports.outward.through(ports, flags.json), flags, givenFlags(ports.args)));
      });
  }

  daemon
    .command("stop")
    .description("let running turns end for some seconds, then end it; 0 also when none runs")
    .option("--json", "print JSON")
    .action(async (flags) => {
      const { daemonStopCommand } = await import("./daemon-control.ts");
      exit(await daemonStopCommand(ports, flags));
    });

  daemon
    .command("status")
    .description("whether one runs and how it is; exit code 1 when none answers")
    .option("--json", "print JSON")
    .action(async (flags) => {
      const { daemonStatusCommand } = await import("./daemon-control.ts");
      exit(await daemonStatusCommand(await ports.outward.through(ports, flags.json), flags));
    });
}

function addServeFlags(command: Command): Command {
  return addRunFlags(command)
    .option(
      "--listen <address>",
      "HOST:PORT, or unix:PATH; repeatable (default: unix:$XDG_DATA_HOME/harness/control.sock, which start and restart always add)",
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
    .option("--tls-key <file>", "its key (PEM)");
}

/** What was written after `daemon start`, without what only this command takes. */
function givenFlags(args: readonly string[]): readonly string[] {
  const at = args.findIndex((word) => word === "start" || word === "restart");
  return args.slice(at + 1).filter((word) => word !== "--json");
}
