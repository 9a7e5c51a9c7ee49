/** `harness memory` and its subcommands, as entries of the program's table; each is loaded when it is called. */
import { type Command, Option } from "commander";
import { memoryScopes, memoryTiers, memoryTypes, ownScopes } from "#base";
import type { CommandActions } from "./command-actions.ts";

export function addMemoryCommands(program: Command, { redacted }: CommandActions): void {
  const memory = program.command("memory").description("list, show, write and forget what agents remember");
  const add = (name: string, about: string, scopes: readonly string[]): Command =>
    memory
      .command(name)
      .description(about)
      .option("--dir <dir>", "the project (default: the current folder)")
      .addOption(new Option("--scope <scope>", "whose memories").choices(scopes))
      .option("--json", "print JSON");

  add("list", "list the memories that a session here has, and files that are left out", memoryScopes).action(
    redacted(async () => (await import("./memory.ts")).listMemories),
  );
  add("show", "print a memory", memoryScopes)
    .argument("<name>", "its name")
    .action(redacted(async () => (await import("./memory.ts")).showMemory));
  add("search", "show the memories that fit a text best, as the agent finds them", memoryScopes)
    .argument("<words...>", "the text")
    .action(redacted(async () => (await import("./memory.ts")).searchMemories));
  withContent(add("add", "write a memory", ownScopes))
    .argument("<name>", "lower-case letters, digits and hyphens")
    .action(redacted(async () => (await import("./memory.ts")).addMemory));
  withContent(add("edit", "change the parts of a memory that are given", ownScopes))
    .argument("<name>", "its name")
    .action(redacted(async () => (await import("./memory.ts")).editMemory));
  add("forget", "remove a memory", ownScopes)
    .option("--for-good", "with the records of its earlier versions, so that undo cannot bring it back")
    .argument("<name>", "its name")
    .action(redacted(async () => (await import("./memory.ts")).forgetMemory));
  add("undo", "take back the last change of a memory, by whomever it was made", ownScopes).action(
    redacted(async () => (await import("./memory.ts")).undoMemory),
  );
}

function withContent(command: Command): Command {
  return command
    .option("--description <text>", "what the memory says, on one line")
    .option("--tags <list>", "words that lead to it, separated by commas")
    .option("--keywords <list>", "other words and short phrases for the same thing, separated by commas")
    .option("--body <text>", "the text; - reads standard input")
    .addOption(new Option("--type <type>", "what it is about (default: user)").choices(memoryTypes))
    .addOption(new Option("--tier <tier>", "core: in every prompt (default: long-term)").choices(memoryTiers));
}
