/** The commands around a project, as entries of the program's table; each is loaded when it is called. */
import { Argument, type Command, Option } from "commander";
import { durableKindNames, USER_LOG } from "#stores/kinds";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { addRunFlags, addStoreFlags, contextValue, positiveInteger } from "./flags.ts";

export function addProjectCommands(program: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  /** For commands that print what files and logs hold: without the secrets in it. */
  const shown = ({ json }: { readonly json?: boolean }): Promise<CliPorts> => ports.outward.through(ports, json);

  program
    .command("scaffold")
    .description("make a new project in a new folder")
    .argument("<name>", "the folder to make; its last part is the name of the project")
    .action(async (name: string) => exit(await (await import("./new-project.ts")).scaffoldCommand(ports, name)));

  program
    .command("init")
    .description("make the current folder a project, with tools and hooks to begin with")
    .argument("[name]", "name of the project (default, and '.': that of the folder)")
    .option("--ci", "write a GitHub workflow that runs the evals instead, and nothing else")
    .action(async (name: string | undefined, { ci }: { readonly ci?: boolean }) => {
      const { initCiCommand, initCommand } = await import("./new-project.ts");
      exit(await (ci === true ? initCiCommand(ports) : initCommand(ports, name)));
    });

  program
    .command("validate")
    .description("check a project without asking a model; exit code 1 and every problem when it is not valid")
    .option("-c, --config <file>", "harness.md or harness.yaml (default: that of the current folder)")
    .option("-v, --verbose", "list every tool, hook, agent and artifact")
    .option("--watch", "check again whenever a file changes, until Ctrl-C")
    .option("--json", "print JSON, with --watch a line for each check")
    .action(async (flags) => exit(await (await import("./validate.ts")).validateCommand(ports, flags)));

  program
    .command("ack")
    .description("review the files of a project that nobody has agreed to yet, or that changed since")
    .option("--all", "everything that waits; in a folder of your own with one answer")
    .option("--yes", "with --all: do not ask; only for folders of your own, never for a project")
    .option("--emit-lockfile [file]", "then write a lock file for CI (default: approved.lock in the project)")
    .option("-c, --config <file>", "harness.md or harness.yaml (default: that of the folder)")
    .option("--dir <dir>", "the project (default: the current folder)")
    .action(async (flags) => exit(await (await import("./ack.ts")).ackCommand(ports, flags)));

  program
    .command("verify-ack")
    .description("check that the files of a project are as they were acked; exit code 1 and the paths when not")
    .option("--lockfile <file>", "as this lock file says, also HARNESS_LOCKFILE (default: what you acked here)")
    .option("-c, --config <file>", "harness.md or harness.yaml (default: that of the folder)")
    .option("--dir <dir>", "the project (default: the current folder)")
    .option("--json", "print JSON")
    .action(async (flags) => exit(await (await import("./ack.ts")).verifyAckCommand(ports, flags)));

  addRunFlags(program.command("serve"))
    .description("a session that keeps running: each line of standard input is a prompt, answers go to standard output")
    .addOption(
      new Option("--source <name...>", "where prompts come from (default: serve.sources of the project)").choices([
        "stdin",
        "telegram",
        "meshwire",
      ]),
    )
    .option("--json", "print canonical events as JSON lines")
    .action(async (flags) => exit(await (await import("./serve.ts")).serveCommand(ports, flags)));

  addRunFlags(program.command("rpc"), "jsonl")
    .description("JSON-RPC on standard input and output, for editors and other programs: threads, turns, approvals")
    .addOption(
      new Option("--identity-class <class>", "who is at the other end; only a human answers permission requests")
        .choices(["human", "agent"])
        .default("human"),
    )
    .action(async (flags) => exit(await (await import("./rpc.ts")).rpcCommand(ports, flags)));

  const list = (name: string, description: string): Command =>
    addListFlags(program.command(name).description(description)).option(
      "-c, --config <file>",
      "harness.md or harness.yaml (default: that of the current folder)",
    );
  /** `tools` and `tools list` are the same. */
  const word = (): Argument => new Argument("[list]", "may be left out").choices(["list"]);
  list("tools", "list the tools of the project and the built-in ones, and which of them the model is shown")
    .addArgument(word())
    .action(async (_list: string | undefined, flags) =>
      exit(await (await import("./project-lists.ts")).toolsCommand(await shown(flags), flags)),
    );
  list("hooks", "list the hooks in the order in which they are asked")
    .addArgument(word())
    .action(async (_list: string | undefined, flags) =>
      exit(await (await import("./project-lists.ts")).hooksCommand(await shown(flags), flags)),
    );
  list("agents", "list the agents that can be delegated to")
    .addArgument(word())
    .action(async (_list: string | undefined, flags) =>
      exit(await (await import("./project-lists.ts")).agentsCommand(await shown(flags), flags)),
    );

  addListFlags(program.command("artifacts"))
    .description("list the typed artifacts: harness.md, bundles and models")
    .option("--dir <dir>", "the project (default: the current folder)")
    .addOption(new Option("--type <kind>", "only these").choices(["override", "harness", "builtin", "plugin", "model"]))
    .action(async (flags) =>
      exit(await (await import("./project-lists.ts")).artifactsCommand(await shown(flags), flags)),
    );

  list("inspect", "what would run here: model, policy, tools, hooks, agents, artifacts, limits")
    .option("--dir <dir>", "the project (default: the current folder)")
    .option("--events", "also the last events of the latest session of the folder")
    .option("--failures", "also what failed or was refused in it")
    .option("--session <id>", "of this session instead")
    .addOption(new Option("--store <kind>", "which log").choices(durableKindNames).default(USER_LOG))
    .action(async (flags) => exit(await (await import("./inspect.ts")).inspectCommand(await shown(flags), flags)));

  list("context", "what the model would see: every block of the prompt with its source, its tokens and why it is there")
    .option("--dir <dir>", "the project (default: the current folder)")
    .option("--agent <name>", "what this agent of the project would see")
    .option("--budget <tokens>", "the budget (default: context.max_tokens of the project)", positiveInteger)
    .option("--diff <file>", "compare with what --json has written before; exit code 1 when it is not the same")
    .action(async (flags) => exit(await (await import("./context.ts")).contextCommand(await shown(flags), flags)));

  addStoreFlags(program.command("explain"))
    .description("every rule and hook that was consulted about a recorded call, in order, and which of them decided")
    .argument("<call>", "id of a call (call_…), or the beginning of one")
    .option("--session <id>", "look in this session (default: in the latest ones)")
    .option("--json", "print JSON")
    .action(async (call: string, flags) =>
      exit(await (await import("./explain.ts")).explainCommand(await shown(flags), call, flags)),
    );
}

function addListFlags(command: Command): Command {
  return command
    .option("-v, --verbose", "everything about each of them")
    .option("--set <key=value>", "a value that conditions see as ctx; repeatable", contextValue)
    .option("--json", "print JSON");
}
