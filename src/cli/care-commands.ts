/** `harness plugins`, `doctor`, `verify` and `debug` on the command line: for somebody who wants to know why it does not work. */
import { Argument, type Command } from "commander";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { positiveInteger } from "./flags.ts";

const DEBUG_MINUTES = 60;

export function addCareCommands(program: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
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
    .description(
      "check what sessions and the daemon need here, and say what to do; exit code 1 when something is wrong",
    )
    .option("-c, --config <file>", "configuration file")
    .option("-C, --cwd <dir>", "workspace folder (default: the current one)")
    .option("--json", "print JSON")
    .action(async (flags) => {
      const { doctorCommand } = await import("./doctor.ts");
      exit(await doctorCommand(await ports.outward.through(ports, flags.json, "messages"), flags));
    });

  program
    .command("verify")
    .description("try the whole path once, offline: initialize on stdio and HTTP, tools, a turn, redaction, the daemon")
    .option("--json", "print JSON")
    .action(async (flags) => {
      const { verifyCommand } = await import("./verify.ts");
      exit(await verifyCommand(await ports.outward.through(ports, flags.json), flags));
    });

  program
    .command("debug")
    .description(
      "what goes to the model of a session and what comes back, redacted; without --raw: print what was written",
    )
    .requiredOption("--session <id>", "which one: its id, or the beginning of it for one in your log")
    .option(
      "--raw",
      "write its calls into a file of its own, from the next call on; for a session in your log or in .harness/threads here",
    )
    .option("--minutes <n>", "for how long", positiveInteger, DEBUG_MINUTES)
    .option("--off", "stop, and delete the file")
    .option("--json", "print JSON, with --raw or --off")
    .action(async (flags) => {
      const { debugCommand } = await import("./debug.ts");
      exit(await debugCommand(ports, flags));
    });
}
