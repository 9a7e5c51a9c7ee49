/** The commands below `harness schedule`, as entries of the program's table. */
import { type Command, Option } from "commander";
import type { CommandActions } from "./command-actions.ts";
import { positiveInteger, positiveNumber } from "./flags.ts";

export function addScheduleCommands(program: Command, { asIs, redacted }: CommandActions): void {
  const schedule = program
    .command("schedule")
    .description("send prompts at set times; the daemon runs each in a session of its own")
    .addHelpText(
      "after",
      `
Examples:
  harness schedule add triage --cron "0 6 * * 1-5" --timezone Europe/Berlin --max-cost-usd 0.50 "Triage new issues."
  harness schedule add status --every 6h --plan "Which tests are slow?"
  harness schedule list                       next ticks, and those that ran, were missed or got lost
  harness schedule run triage                 once, now`,
    );

  schedule
    .command("add")
    .description("add a schedule in this folder, and start the daemon unless it runs")
    .argument("<name>", "its name: lower-case letters, digits, - and _")
    .argument("[prompt]", "what to do; without it, or with '-', standard input is read")
    .addOption(
      new Option("--cron <expression>", "five fields: minute, hour, day, month, day of the week").conflicts("every"),
    )
    .option("--every <time>", "an interval from now on, for example 30m, 6h or 1d; at least 1m")
    .option(
      "--timezone <name>",
      "time zone of the cron expression, such as Europe/Berlin (default: that of the system)",
    )
    .option("-C, --cwd <dir>", "the folder that it works in (default: the current one)")
    .option("-m, --model <provider:name>", "model of its sessions (default: as configured)")
    .option("--profile <name>", "profile of its sessions")
    .option("--plan", "its sessions are in plan mode: they read and change nothing")
    .option("--max-cost-usd <amount>", "what one run may cost, with all of its delegates", positiveNumber)
    .option("--max-steps <n>", "how many steps one run may take", positiveInteger)
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./schedule.ts")).scheduleAddCommand));

  schedule
    .command("list")
    .description("list the schedules, their next ticks and what became of the last ones")
    .argument("[name]", "all ticks on the record of this schedule")
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./schedule.ts")).scheduleListCommand));

  schedule
    .command("remove")
    .description("remove a schedule; a run that works goes on, and the sessions of earlier runs stay")
    .argument("<name>", "its name")
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./schedule.ts")).scheduleRemoveCommand));

  schedule
    .command("run")
    .description("run a schedule once, now, and wait for the end; exit code 1 unless it was done")
    .argument("<name>", "its name")
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./schedule.ts")).scheduleRunCommand));
}
