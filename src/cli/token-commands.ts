/** The commands below `harness token`, as entries of the program's table. */
import { type Command, Option } from "commander";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { collect } from "./flags.ts";

export function addTokenCommands(token: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  token.description("capability tokens: who may drive which session from outside, and for how long");

  token
    .command("mint")
    .description("make a token; asks for a code on the terminal, or takes no more than HARNESS_TOKEN may give")
    .option("--session <id>", "a session that it may attach to; repeatable", collect)
    .option("--all-sessions", "every session, also later ones; cannot be passed on")
    .option("--commands <names>", "commands that it may send, with commas between; repeatable", names)
    .addOption(
      new Option("--identity-class <class>", "only a human answers permission requests")
        .choices(["human", "agent"])
        .default("agent"),
    )
    .option("--ttl <time>", "how long it lasts, for example 15m, 24h or 7d; at most 90d", "24h")
    .option("--can-mint", "it may make further tokens, for no more than it may do itself")
    .option(
      "--file [path]",
      "write it into a new file with mode 0400 (default: ci-token.json in the configuration folder)",
    )
    .option("--json", "print JSON")
    .action(async (flags) => exit(await (await import("./token.ts")).tokenMintCommand(ports, flags)));

  token
    .command("list")
    .description("the tokens that were made on this machine")
    .option("--json", "print JSON")
    .action(async (flags) => exit(await (await import("./token.ts")).tokenListCommand(ports, flags)));

  token
    .command("revoke")
    .description("a token, and all that were made with it, are refused from now on")
    .argument("<jti>", "its id, tok_…")
    .option("--json", "print JSON")
    .action(async (jti: string, flags) =>
      exit(await (await import("./token.ts")).tokenRevokeCommand(ports, jti, flags)),
    );

  token
    .command("check")
    .description("what the token in HARNESS_TOKEN, or in a file, may do; exit code 2 when it cannot be used")
    .option("--file <path>", "the token file (default: HARNESS_TOKEN, then ci-token.json in the configuration folder)")
    .option("--json", "print JSON")
    .action(async (flags) => exit(await (await import("./token.ts")).tokenCheckCommand(ports, flags)));
}

function names(value: string, previous: readonly string[] = []): readonly string[] {
  const added = value.split(",").map((name) => name.trim());
  return [...previous, ...added.filter((name) => name !== "")];
}
