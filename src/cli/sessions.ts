/** `harness sessions …`: the table of its commands; each is loaded when it is called. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandActions } from "./command-actions.ts";
import { addStoreFlags } from "./flags.ts";

const SESSION = "id of a session or a unique prefix";

/** Adds the commands to the `sessions` group of `program`. */
export function addSessionsCommands(program: Command, { asIs, exit, ports, redacted }: CommandActions): void {
  const group = program.commands.find((command) => command.name() === "sessions");
  if (group === undefined) throw new Error("the program has no sessions group");
  const add = (name: string, description: string): Command =>
    addStoreFlags(group.command(name).description(description));

  add("list", "list sessions with their titles, newest first, those of this folder before the others")
    .option("--limit <n>", "how many to list", positiveInteger, 20)
    .option("--here", "only sessions of the current folder")
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./sessions-read.ts")).listSessions));

  add("show", "print a session as a transcript")
    .argument("<session>", SESSION)
    .option("--turn <n>", "print only this turn", positiveInteger)
    .option("--json", "print facts about the session and its turns as JSON")
    .action(redacted(async () => (await import("./sessions-read.ts")).showSession));

  add("replay", "step through the events of a session; runs nothing again")
    .argument("<session>", SESSION)
    .option("--turn <n>", "start at this turn", positiveInteger)
    .option("--json", "print events as JSON lines")
    .action(redacted(async () => (await import("./sessions-replay.ts")).replaySession));

  add("diff", "show the first turn in which two sessions differ")
    .argument("<a>", SESSION)
    .argument("<b>", SESSION)
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./sessions-diff.ts")).diffSessions));

  add("branch", "create a new session that starts as a copy of this one up to the end of a turn")
    .argument("<session>", SESSION)
    .option("--at <event>", "id of the TurnEnded event to cut after (default: the last)", positiveInteger)
    .addOption(new Option("--turn <n>", "cut after this turn").argParser(positiveInteger).conflicts("at"))
    .option("--new", "create another branch even if there is one at this place")
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./sessions-write.ts")).branchCommand));

  add("export", "write a session as JSON lines or as a Markdown transcript")
    .argument("<session>", SESSION)
    .addOption(new Option("--format <kind>", "output format").choices(["jsonl", "markdown"]).default("jsonl"))
    .option("-o, --output <file>", "a new file (default: standard output)")
    .action(asIs(async () => (await import("./sessions-port.ts")).exportCommand));

  add("import", "import a session from exported JSON lines")
    .argument("<file>", "the file; '-' reads standard input")
    .option("--new-id", "import the session under new ids")
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./sessions-port.ts")).importCommand));

  for (const [name, description] of [
    ["pin", "keep a session's content from expiring"],
    ["unpin", "let a session's content expire again"],
  ] as const) {
    add(name, description)
      .argument("<session>", SESSION)
      .action(async (id, flags) => {
        const { pinSession } = await import("./sessions-write.ts");
        exit(await pinSession(ports, id, { ...flags, pinned: name === "pin" }));
      });
  }

  add("delete", "delete a session and all its events permanently")
    .argument("<session>", SESSION)
    .option("--yes", "do not ask")
    .action(asIs(async () => (await import("./sessions-write.ts")).deleteSession));

  group
    .command("doctor")
    .description("check the encrypted log and say how to fix what is wrong")
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./sessions-care.ts")).doctorCommand));

  group
    .command("rekey")
    .description("encrypt the log with a new key file; no session may be open")
    .action(asIs(async () => (await import("./sessions-care.ts")).rekeyCommand));

  group
    .command("expire")
    .description("delete content older than its time to live, and list what expires next")
    .option("-c, --config <file>", "configuration file")
    .option("--dry-run", "only list what expires next")
    .option("--json", "print JSON")
    .action(async (flags) => {
      const { loadSettings } = await import("#program/open");
      const { settings } = await loadSettings(ports, flags);
      const { expireCommand } = await import("./sessions-care.ts");
      exit(
        await expireCommand(await ports.outward.through(ports, flags.json), { ...flags, settings: settings.retention }),
      );
    });
}

function positiveInteger(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 1) throw new InvalidArgumentError("Expected a positive whole number.");
  return number;
}
