/** The commands around a project, as entries of the program's table; each is loaded when it is called. */
import { Argument, type Command, Option } from "commander";
import { durableKindNames, USER_LOG } from "#stores/kinds";
import type { CliPorts } from "./cli-ports.ts";
import type { CommandActions } from "./command-actions.ts";
import { addProfileFlags, addRunFlags, addStoreFlags, contextValue, positiveInteger } from "./flags.ts";

export function addProjectCommands(program: Command, { asIs, exit, ports, redacted }: CommandActions): void {
  /** For commands that print what files and logs hold: without the secrets in it. */
  const shown = ({ json }: { readonly json?: boolean }): Promise<CliPorts> => ports.outward.through(ports, json);

  program
    .command("scaffold")
    .description("create a new folder with a project in it")
    .argument("<name>", "the folder to create; its last part becomes the project's name")
    .action(asIs(async () => (await import("./new-project.ts")).scaffoldCommand));

  program
    .command("init")
    .description("turn the current folder into a project, with a few tools and hooks")
    .argument("[name]", "name of the project (default, also for '.': the folder's name)")
    .option("--ci", "only write a GitHub workflow that runs the project's evals")
    .action(async (name: string | undefined, { ci }: { readonly ci?: boolean }) => {
      const { initCiCommand, initCommand } = await import("./new-project.ts");
      exit(await (ci === true ? initCiCommand(ports) : initCommand(ports, name)));
    });

  program
    .command("validate")
    .description("check a project without calling a model; lists every problem and exits with 1 if it is not valid")
    .option("-c, --config <file>", "harness.md or harness.yaml (default: that of the current folder)")
    .option("-v, --verbose", "list every tool, hook, agent and artifact")
    .option("--watch", "check again whenever a file changes, until Ctrl-C")
    .option("--json", "print JSON; with --watch one line for each check")
    .action(asIs(async () => (await import("./validate.ts")).validateCommand));

  addProfileFlags(program.command("ack"))
    .description("review and accept (ack) the project files that are new or changed")
    .option("--all", "review all waiting files; those in your own configuration folder need one answer")
    .option("--yes", "with --all: do not ask; only for your own configuration folder, never for a project")
    .option("--denied", "also ask again about optional files that you denied")
    .option("--allow-project-hooks", "also the project's shell hooks (default: allow_project_hooks of config.toml)")
    .option("--nested", "also context files in folders below, which a session reads when the agent works there")
    .option("--emit-lockfile [file]", "then write a lock file for CI (default: approved.lock in the project)")
    .option("-c, --config <file>", "harness.md or harness.yaml (default: that of the folder)")
    .option("--dir <dir>", "the project (default: the current folder)")
    .action(asIs(async () => (await import("./ack.ts")).ackCommand));

  program
    .command("verify-ack")
    .description(
      "check that a project's files are unchanged since you acked them; otherwise lists the paths and exits with 1",
    )
    .option(
      "--lockfile <file>",
      "compare with this lock file (also HARNESS_LOCKFILE; default: what you acked on this machine)",
    )
    .option("-c, --config <file>", "harness.md or harness.yaml (default: that of the folder)")
    .option("--dir <dir>", "the project (default: the current folder)")
    .option("--json", "print JSON")
    .option("--allow-project-hooks", "also the project's shell hooks (default: allow_project_hooks of config.toml)")
    .option("--nested", "also context files in folders below, which a session reads when the agent works there")
    .action(asIs(async () => (await import("./ack.ts")).verifyAckCommand));

  addRunFlags(program.command("serve"))
    .description("keep one session open: each line of standard input is a prompt, answers go to standard output")
    .addOption(
      new Option("--source <name...>", "where prompts come from (default: serve.sources of the project)").choices([
        "stdin",
        "telegram",
        "meshwire",
      ]),
    )
    .option("--json", "print events as JSON lines")
    .action(asIs(async () => (await import("./serve.ts")).serveCommand));

  addRunFlags(program.command("rpc"), "jsonl")
    .description("serve JSON-RPC on standard input and output, for editors and other programs")
    .addOption(
      new Option("--identity-class <class>", "who is at the other end; only a human can answer permission requests")
        .choices(["human", "agent"])
        .default("human"),
    )
    .action(asIs(async () => (await import("./rpc.ts")).rpcCommand));

  const list = (name: string, description: string): Command =>
    addListFlags(program.command(name).description(description)).option(
      "-c, --config <file>",
      "harness.md or harness.yaml (default: that of the current folder)",
    );
  /** `tools` and `tools list` are the same. */
  const word = (): Argument => new Argument("[list]", "optional").choices(["list"]);
  list("tools", "list the project's tools and the built-in ones, and which of them the model sees")
    .addArgument(word())
    .action(async (_list: string | undefined, flags) =>
      exit(await (await import("./project-lists.ts")).toolsCommand(await shown(flags), flags)),
    );
  list("hooks", "list the hooks in the order in which they run")
    .addArgument(word())
    .option("--allow-project-hooks", "show the project's shell hooks as a run with this flag has them")
    .action(async (_list: string | undefined, flags) =>
      exit(await (await import("./project-lists.ts")).hooksCommand(await shown(flags), flags)),
    );
  list("agents", "list the agents that can receive delegated tasks")
    .addArgument(word())
    .action(async (_list: string | undefined, flags) =>
      exit(await (await import("./project-lists.ts")).agentsCommand(await shown(flags), flags)),
    );

  addListFlags(program.command("artifacts"))
    .description("list the typed artifacts: harness.md, bundles and models")
    .option("--dir <dir>", "the project (default: the current folder)")
    .addOption(
      new Option("--type <kind>", "only this type").choices(["override", "harness", "builtin", "plugin", "model"]),
    )
    .action(redacted(async () => (await import("./project-lists.ts")).artifactsCommand));

  list("inspect", "show what would run here: model, policy, tools, hooks, agents, artifacts, limits")
    .option("--dir <dir>", "the project (default: the current folder)")
    .option("--events", "also show the last events of the folder's latest session")
    .option("--failures", "also show what failed or was refused in it")
    .option("--session <id>", "show the events of this session instead")
    .addOption(new Option("--store <kind>", "which log").choices(durableKindNames).default(USER_LOG))
    .action(redacted(async () => (await import("./inspect.ts")).inspectCommand));

  addProfileFlags(
    list(
      "context",
      "show what the model would see: every block of the prompt with its source, its tokens and its condition",
    ),
  )
    .option("--dir <dir>", "the project (default: the current folder)")
    .option("--agent <name>", "show what this agent of the project would see")
    .option("--allow-project-hooks", "also the project's shell hooks (default: allow_project_hooks of config.toml)")
    .option("--budget <tokens>", "the token budget (default: context.max_tokens of the project)", positiveInteger)
    .option("--input <text>", "show which memories would join a turn that begins with this")
    .option("--diff <file>", "compare with earlier output of --json; exit code 1 if they differ")
    .option("--session <id>", "show where this session was compacted instead: what was removed, and why")
    .addOption(new Option("--store <kind>", "which log").choices(durableKindNames).default(USER_LOG))
    .action(redacted(async () => (await import("./context.ts")).contextCommand));

  addStoreFlags(program.command("explain"))
    .description("show every rule and hook that was checked for a recorded call, in order, and which of them decided")
    .argument("<call>", "id of a call (call_…) or a unique prefix")
    .option("--session <id>", "look only in this session (default: the latest 100)")
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./explain.ts")).explainCommand));
}

function addListFlags(command: Command): Command {
  return command
    .option("-v, --verbose", "show everything about each entry")
    .option("--set <key=value>", "set a value that conditions see as ctx; repeatable", contextValue)
    .option("--json", "print JSON");
}
