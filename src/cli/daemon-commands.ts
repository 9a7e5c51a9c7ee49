/** The `harness daemon` commands on the command line. */
import { type Command, Option } from "commander";
import type { CommandActions } from "./command-actions.ts";
import { addRunFlags, collect } from "./flags.ts";

export function addDaemonCommands(program: Command, { asIs, exit, ports, redacted }: CommandActions): void {
  const daemon = program
    .command("daemon")
    .description("run the engine as a service, for scripts, editors and other agents")
    .addHelpText(
      "after",
      `
Examples:
  harness daemon start                        one daemon in the background, on a socket that only you can open
  harness daemon start -m anthropic:claude-sonnet-5-5 --listen 127.0.0.1:8350
  harness daemon status --json                pid, version, addresses and the state of each subsystem
  harness daemon restart                      with its previous flags, after running turns had time to end
  harness daemon run --log-to-stderr          in the foreground, under a supervisor or to watch it`,
    );

  addServeFlags(daemon.command("run"))
    .description("serve REST with server-sent events and web sockets in the foreground, until SIGTERM or Ctrl-C")
    .option(
      "--background",
      "run as daemon start does: exit when idle, and read a folder's project when a session opens there",
    )
    .action(asIs(async () => (await import("#daemon/run")).daemonRunCommand));

  for (const [verb, description] of [
    ["start", "start the daemon in the background unless it runs; replaces one that was killed or hangs"],
    ["restart", "stop the daemon and start it again, with the given flags or its previous ones"],
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
    .description("stop the daemon after running turns had a few seconds to end; exit code 0 also if none runs")
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./daemon-control.ts")).daemonStopCommand));

  daemon
    .command("status")
    .description("show whether the daemon runs and the state of each subsystem; exit code 1 if none answers")
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./daemon-control.ts")).daemonStatusCommand));
}

function addServeFlags(command: Command): Command {
  return addRunFlags(command)
    .option(
      "--listen <address>",
      "listen on HOST:PORT or unix:PATH; repeatable (default: unix:$XDG_DATA_HOME/harness/control.sock, which start and restart always add)",
      collect,
    )
    .option(
      "--allow-origin <origin>",
      "let web pages of this origin use the server; repeatable (default: none)",
      collect,
    )
    .option("--token-file <file>", "where to write the owner's token (default: $XDG_STATE_HOME/harness/control.token)")
    .option(
      "--auth-token-file <file>",
      "use this existing token, mode 0400, and create none unless --token-file is given",
    )
    .addOption(
      new Option(
        "--auth-channel <channel>",
        "also show the codes that confirm new tokens as desktop notifications",
      ).choices(["notify"]),
    )
    .option("--tls-cert <file>", "TLS certificate (PEM), required for an address that other machines can reach")
    .option("--tls-key <file>", "private key (PEM) of the certificate");
}

/** What was written after `daemon start`, without what only this command takes. */
function givenFlags(args: readonly string[]): readonly string[] {
  const at = args.findIndex((word) => word === "start" || word === "restart");
  return args.slice(at + 1).filter((word) => word !== "--json");
}
