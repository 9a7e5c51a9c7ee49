/** `harness plugins`, `doctor`, `verify` and `debug` on the command line: for somebody who wants to know why it does not work. */
import { Argument, type Command } from "commander";
import type { CommandActions } from "./command-actions.ts";
import { positiveInteger } from "./flags.ts";

const DEBUG_MINUTES = 60;

export function addCareCommands(program: Command, { asIs, exit, ports, redacted }: CommandActions): void {
  program
    .command("plugins")
    .description(
      "list the plugins of config.toml and compare their files with their hashes; exit code 1 when one differs",
    )
    .addArgument(new Argument("[list]", "may be left out").choices(["list"]))
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print JSON")
    .action(async (_list: string | undefined, flags) => {
      const { pluginsCommand } = await import("./plugins.ts");
      exit(await pluginsCommand(await ports.outward.through(ports, flags.json), flags));
    });

  program
    .command("doctor")
    .description("check the installation and say how to fix what is wrong; exit code 1 if there is an error")
    .option("-c, --config <file>", "configuration file")
    .option("-C, --cwd <dir>", "workspace folder (default: the current one)")
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./doctor.ts")).doctorCommand, "messages"));

  program
    .command("verify")
    .description(
      "test the whole path once, offline: handshakes on stdio and HTTP, tools, a turn, redaction, the daemon",
    )
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./verify.ts")).verifyCommand));

  program
    .command("debug")
    .description(
      "record what Harness sends to a session's model and what comes back, redacted; without --raw, print the recording",
    )
    .requiredOption("--session <id>", "the session's id, or a unique prefix if it is in your log")
    .option(
      "--raw",
      "start recording with the next model call; only for a session in your log or in .harness/threads of this folder",
    )
    .option("--minutes <n>", "how long to record, in minutes", positiveInteger, DEBUG_MINUTES)
    .option("--off", "stop recording and delete the file")
    .option("--json", "print JSON, with --raw or --off")
    .action(asIs(async () => (await import("./debug.ts")).debugCommand));
}
