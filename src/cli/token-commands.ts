/** The commands below `harness token`, as entries of the program's table. */
import { type Command, Option } from "commander";
import type { CommandActions } from "./command-actions.ts";
import { collect } from "./flags.ts";

export function addTokenCommands(token: Command, { asIs }: CommandActions): void {
  token.description("manage capability tokens, which let other programs use a session for a limited time");

  token
    .command("mint")
    .description("create a token; you confirm it with a code on the terminal, or HARNESS_TOKEN allows it")
    .option("--session <id>", "a session that it may attach to; repeatable", collect)
    .option("--all-sessions", "all sessions, also later ones; only a person can create such a token")
    .option("--commands <names>", "commands that it may send, separated by commas; repeatable", names)
    .addOption(
      new Option("--identity-class <class>", "who uses it; only a human can answer permission requests")
        .choices(["human", "agent"])
        .default("agent"),
    )
    .option("--ttl <time>", "how long it lasts, for example 15m, 24h or 7d; at most 90d", "24h")
    .option("--can-mint", "let it create further tokens, with at most its own rights")
    .option(
      "--file [path]",
      "write it to a new file with mode 0400 (default: ci-token.json in the configuration folder)",
    )
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./token.ts")).tokenMintCommand));

  token
    .command("list")
    .description("list the tokens that were created on this machine")
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./token.ts")).tokenListCommand));

  token
    .command("revoke")
    .description("revoke a token and every token that was created with it")
    .argument("<jti>", "its id, tok_…")
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./token.ts")).tokenRevokeCommand));

  token
    .command("check")
    .description("show the rights of the token in HARNESS_TOKEN or in a file; exit code 2 if it is unusable")
    .option("--file <path>", "the token file (default: HARNESS_TOKEN, then ci-token.json in the configuration folder)")
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./token.ts")).tokenCheckCommand));
}

function names(value: string, previous: readonly string[] = []): readonly string[] {
  const added = value.split(",").map((name) => name.trim());
  return [...previous, ...added.filter((name) => name !== "")];
}
