/** `harness memory` and its subcommands, as entries of the program's table; each is loaded when it is called. */
import { type Command, Option } from "commander";
import { memoryScopes, memoryTiers, memoryTypes, ownScopes } from "#base";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import type { MemoryFlags } from "./memory.ts";

export function addMemoryCommands(program: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  const memory = program.command("memory").description("list, show, write and forget what agents remember");
  const add = (name: string, about: string, scopes: readonly string[]): Command =>
    memory
      .command(name)
      .description(about)
      .option("--dir <dir>", "the project (default: the current folder)")
      .addOption(new Option("--scope <scope>", "whose memories").choices(scopes))
      .option("--json", "print JSON");
  /** Through a terminal that lets no secret out. */
  type Run = (commands: typeof import("./memory.ts"), shown: CliPorts, flags: MemoryFlags) => Promise<ExitCode>;
  async function run(flags: MemoryFlags, work: Run): Promise<void> {
    const shown = await ports.outward.through(ports, flags.json);
    exit(await work(await import("./memory.ts"), shown, flags));
  }

  add("list", "list the memories that a session here has, and files that are left out", memoryScopes).action(
    (flags: MemoryFlags) => run(flags, (commands, shown) => commands.listMemories(shown, flags)),
  );
  add("show", "print a memory", memoryScopes)
    .argument("<name>", "its name")
    .action((name: string, flags: MemoryFlags) =>
      run(flags, (commands, shown) => commands.showMemory(shown, name, flags)),
    );
  add("search", "show the memories that fit a text best, as the agent finds them", memoryScopes)
    .argument("<words...>", "the text")
    .action((words: string[], flags: MemoryFlags) =>
      run(flags, (commands, shown) => commands.searchMemories(shown, words.join(" "), flags)),
    );
  withContent(add("add", "write a memory", ownScopes))
    .argument("<name>", "lower-case letters, digits and hyphens")
    .action((name: string, flags: MemoryFlags) =>
      run(flags, (commands, shown) => commands.addMemory(shown, name, flags)),
    );
  withContent(add("edit", "change the parts of a memory that are given", ownScopes))
    .argument("<name>", "its name")
    .action((name: string, flags: MemoryFlags) =>
      run(flags, (commands, shown) => commands.editMemory(shown, name, flags)),
    );
  add("forget", "remove a memory", ownScopes)
    .option("--for-good", "with the records of its earlier versions, so that undo cannot bring it back")
    .argument("<name>", "its name")
    .action((name: string, flags: MemoryFlags) =>
      run(flags, (commands, shown) => commands.forgetMemory(shown, name, flags)),
    );
  add("undo", "take back the last change of a memory, by whomever it was made", ownScopes).action(
    (flags: MemoryFlags) => run(flags, (commands, shown) => commands.undoMemory(shown, flags)),
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
