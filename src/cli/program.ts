/** The command line: one table of commands; each is loaded only when it is called. */
import { Command, CommanderError, Option } from "commander";
import { defined, paint } from "#base";
import { ReasonError } from "#protocol";
import { addCareCommands } from "./care-commands.ts";
import type { CliPorts } from "./cli-ports.ts";
import { type CommandActions, createCommandActions } from "./command-actions.ts";
import { groupCommands } from "./command-groups.ts";
import { addConformanceCommand } from "./conformance-command.ts";
import { addCredsCommands } from "./creds-commands.ts";
import { addDaemonCommands } from "./daemon-commands.ts";
import { errorLine, reasonOf, withReason } from "./error-line.ts";
import { addEvalCommand } from "./eval-command.ts";
import { type ExitCode, exitCodeOfError } from "./exit-code.ts";
import {
  addInterfaceFlags,
  addLogFlags,
  addRunFlags,
  addStoreFlags,
  addTurnFlags,
  collect,
  domain,
  eventId,
  positiveInteger,
  sandboxOption,
} from "./flags.ts";
import type { InterfaceFlags } from "./interface-choice.ts";
import { addMcpCommands } from "./mcp-commands.ts";
import { addMemoryCommands } from "./memory-commands.ts";
import { createOutward } from "./outward.ts";
import { addPolicyCommands } from "./policy-commands.ts";
import { addProjectCommands } from "./project-commands.ts";
import { ALONE_FLAGS, withCommand } from "./prompt-arguments.ts";
import { addScheduleCommands } from "./schedule-commands.ts";
import { addSkillCommands } from "./skill-commands.ts";
import { addTokenCommands } from "./token-commands.ts";

/** What commander puts before a complaint. */
const PARSER_PREFIX = /^error: /;

/** Runs the command that the arguments (without node and script) name and returns the exit code. Never throws. */
export async function runCli(
  given: readonly string[],
  world: Omit<CliPorts, "args" | "outward"> & Partial<Pick<CliPorts, "outward">>,
): Promise<ExitCode> {
  const argv = withCommand(given);
  const all: CliPorts = { ...world, args: argv, outward: world.outward ?? createOutward(world) };
  const isAlone = argv.every((flag) => ALONE_FLAGS.has(flag));
  const ports =
    isAlone && all.terminal.canDraw && !argv.includes("--plain")
      ? await (await import("./early-start.ts")).startedEarly(all)
      : all;
  const { terminal, outward } = ports;
  // Standard output of a protocol carries nothing else.
  const tellsJson = argv.includes("--json") && argv[0] !== "rpc";
  let exitCode: ExitCode = 0;
  const actions = createCommandActions(ports, (code) => {
    exitCode = code;
  });
  /** What the parser of the arguments says; it quotes them. */
  let complaint = "";
  const program = buildProgram(actions, (text) => {
    complaint += text;
  });
  try {
    if (argv[0] === "sessions" || (argv[0] === "help" && argv[1] === "sessions")) {
      const { addSessionsCommands } = await import("./sessions.ts");
      addSessionsCommands(program, actions);
    }
    if (isAlone) {
      if (terminal.interactive) {
        const look = { plain: argv.includes("--plain"), quietCost: argv.includes("--quiet-cost") };
        const { attachAlone } = await import("./attach.ts");
        const attached = argv.includes("--no-daemon") ? undefined : await attachAlone(ports, look);
        if (attached !== undefined) return attached;
        await program.parseAsync(["run", ...argv.filter((flag) => flag !== "--no-daemon")], { from: "user" });
      } else {
        terminal.err(program.helpInformation());
        return 1;
      }
    } else {
      await program.parseAsync([...argv], { from: "user" });
    }
    return exitCode;
  } catch (thrown) {
    if (thrown instanceof CommanderError) {
      if (thrown.exitCode === 0) return 0;
      terminal.err((await outward.orNothing(complaint)) || "✗ UsageInvalid\n");
      if (tellsJson) {
        const message = thrown.message.replace(PARSER_PREFIX, "");
        terminal.out(`${errorLine("UsageInvalid", await outward.orNothing(message))}\n`);
      }
      return 2;
    }
    const error = withReason(thrown);
    terminal.err(`${paint(terminal, "red", await outward.describe(error))}\n`);
    if (tellsJson) terminal.out(`${errorLine(reasonOf(error), await outward.messageOf(error))}\n`);
    return exitCodeOfError(error);
  } finally {
    ports.early?.release();
  }
}

function buildProgram(actions: CommandActions, complain: (text: string) => void): Command {
  const { ports, exit, asIs, redacted } = actions;
  const { terminal } = ports;
  const program = addLogFlags(new Command("harness"))
    .description("Runs coding and operations agents. Every effect passes one permission gate and is recorded.")
    .version(ports.build.version)
    .option("--no-daemon", "without a command: run the conversation in this process and start no daemon")
    .option("--plain", "without a command: the line interface, for screen readers and simple terminals")
    .option("--quiet-cost", "without a command: show no cost in the status line")
    .addHelpText(
      "after",
      `
On a terminal, harness without a command starts a conversation. It runs in the daemon, which is started if necessary, or in this
process (--no-daemon). harness "fix the tests" is short for harness run "fix the tests", and harness with flags of run, for example
harness --continue or harness --model ollama:qwen3, for harness run with them.
Exit codes: 0 an answer, 1 no answer (an error, a limit, a refusal), 2 configuration or usage, 130 cancelled.`,
    )
    .hook("preAction", (_command, action) => {
      const { daemon, plain, quietCost, ...forAll } = program.opts<{ daemon: boolean } & InterfaceFlags>();
      for (const [name, value] of Object.entries(forAll)) action.setOptionValue(name, value);
      for (const [name, value] of Object.entries(defined({ plain, quietCost }))) {
        if (!["run", "attach"].includes(action.name())) {
          throw new ReasonError("UsageInvalid", "--plain and --quiet-cost are for harness alone, run and attach");
        }
        action.setOptionValue(name, value);
      }
      if (daemon) return;
      throw new ReasonError("UsageInvalid", `--no-daemon is for harness alone, not for ${action.name()}`);
    })
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: complain,
      outputError: (text, write) => write(text.replace(PARSER_PREFIX, "✗ UsageInvalid: ")),
    })
    .showHelpAfterError("(add --help for usage)")
    .showSuggestionAfterError();

  addInterfaceFlags(addTurnFlags(addRunFlags(program.command("run"))))
    .description("run one prompt, or a conversation on a terminal")
    .argument("[prompt]", "what to do; without it, or with '-', standard input is read if it is not a terminal")
    .option("--image <file>", "send an image with the prompt (PNG, JPEG, GIF, WebP); repeatable", collect)
    .option("--file <file>", "send a text file with the prompt, from any folder; repeatable", collect)
    .option("-p, --print", "print only the final answer and ask no questions")
    .option(
      "--resume [session]",
      "resume an earlier session in its folder, by its id or a unique prefix (default: the newest session of this folder)",
    )
    .addOption(new Option("--continue", "resume the newest session of this folder").conflicts("resume"))
    .option(
      "--record <file>",
      "record everything that comes from outside, without secrets, to a cassette that --replay plays",
    )
    .option(
      "--replay <file>",
      "run a recorded session again, without network and programs; uses the recorded prompts unless you give one",
    )
    .option("--json", "print events as JSON lines")
    .option(
      "--output-schema <file>",
      "JSON Schema that the final answer must match; a wrong answer is retried at most twice",
    )
    .action(asIs(async () => (await import("./run.ts")).runCommand));
  // The command that is asked for most needs none of the others, and they take a few milliseconds to describe.
  if (ports.args[0] === "run") return program;

  addTurnFlags(addRunFlags(program.command("deploy")))
    .description(
      "answer one prompt, for scripts and CI: prints only the final answer and never falls back to the offline model",
    )
    .option("--input <prompt>", "the prompt (default: all of standard input)")
    .option("--dry-run", "check the configuration and print the plan without calling the model")
    .option("--json", "print events as JSON lines instead of the answer")
    .option("--output-schema <file>", "JSON Schema that the answer must match; a wrong answer is retried at most twice")
    .action(asIs(async () => (await import("./deploy.ts")).deployCommand));

  addInterfaceFlags(program.command("attach"))
    .description("join a session of a running daemon; others can be attached to it as well")
    .argument(
      "[session]",
      "its id or a unique prefix (default: choose the folder's last session, a new one or one from a list)",
    )
    .option("--connect <address>", "unix:PATH, HOST:PORT or URL (default: unix:$XDG_DATA_HOME/harness/control.sock)")
    .option(
      "--token-file <file>",
      "file with the daemon's token, unless HARNESS_TOKEN is set (default: $XDG_STATE_HOME/harness/control.token)",
    )
    .option("--new", "start a new session in this folder")
    .option("--last", "join the last session of this folder without asking")
    .option("-C, --cwd <dir>", "the folder (default: the current one)")
    .option("-m, --model <provider:name>", "model for a new session")
    .option("--profile <name>", "profile for a new session")
    .option("--json", "print events as JSON lines and ask no questions")
    .option("--since <event>", "with --json: start after this event; 0 prints all (default: only new events)", eventId)
    .action(asIs(async () => (await import("./attach.ts")).attachCommand));

  program
    .command("demo")
    .description("watch the offline model fix a bug in a scratch folder, then continue the conversation on a terminal")
    .option("--json", "print events as JSON lines")
    .action(asIs(async () => (await import("./demo.ts")).demoCommand));

  program
    .command("models")
    .description("list providers and whether their keys are set, or the models of one provider")
    .argument("[provider]", "list the models of this provider")
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./models.ts")).modelsCommand));

  program
    .command("cost")
    .description("show what sessions have used and cost, by session (or turn), model and provider")
    .option("--session <id>", "one session, turn by turn")
    .option("--limit <n>", "how many sessions", Number, 20)
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./cost.ts")).costCommand));

  addCareCommands(program, actions);
  addMcpCommands(program, actions);
  addProjectCommands(program, actions);
  addSkillCommands(program, actions);
  addMemoryCommands(program, actions);
  addEvalCommand(program, actions);
  addDaemonCommands(program, actions);
  addScheduleCommands(program, actions);
  addConformanceCommand(program, actions);

  // Its commands are added when it is called: see `runCli`.
  program.command("sessions").description("list, read, compare, branch, export and import sessions");

  program
    .command("starlark")
    .description("run a Starlark file, or try the language on a terminal")
    .argument("[file]", "the program; without it, or with '-', standard input is read if it is not a terminal")
    .option("--recursion", "allow functions to call themselves")
    .option("--while", "allow while loops")
    .option("--top-level-control", "allow if, for and while outside functions")
    .option("--global-reassign", "allow a global variable to be reassigned")
    .option("--max-steps <n>", "stop the program after this many steps", positiveInteger)
    .option("--timeout-ms <n>", "stop the program after this many milliseconds", positiveInteger)
    .action(asIs(async () => (await import("./starlark.ts")).starlarkCommand));

  program
    .command("redact")
    .description("copy standard input to standard output without its secrets: harness redact < FILE")
    .option("--explain", "print only line, column and kind of each secret, never its value")
    .option("--check", "print only the number of secrets of each kind; exit code 1 if there is one")
    .option("--json", "print JSON, with --explain or --check")
    .option("--pattern <kind=regex>", "also redact matches of this pattern (RE2 syntax); repeatable", collect)
    .action(asIs(async () => (await import("./redact.ts")).redactCommand));

  for (const action of ["undo", "redo"] as const) {
    program
      .command(action)
      .description(
        action === "undo"
          ? "revert what the agent changed in this folder in its last turn, or in the named call or turn"
          : "apply again what undo reverted last, or the named call or turn",
      )
      .argument("[target]", "a call (call_…) or a turn (turn_…)")
      .option("-C, --cwd <dir>", "workspace folder (default: the current one)")
      .option("--session <id>", "only changes of this session (default: the one that changed this folder last)")
      .option("--dry-run", "only print what would happen")
      .option("--skip-conflicts", "skip files that changed since, and restore the rest")
      .option("--json", "print JSON")
      .action(async (target: string | undefined, flags) => {
        const { undoCommand } = await import("./undo.ts");
        exit(await undoCommand(await ports.outward.through(ports, flags.json), action, target, flags));
      });
  }

  addAuditCommands(program.command("audit"), actions);
  addCredsCommands(program.command("creds"), actions);

  addPolicyCommands(program.command("policy"), actions);

  addTokenCommands(program.command("token"), actions);

  program
    .command("sandbox")
    .description("check how Harness confines the commands of an agent on this machine")
    .command("check")
    .description("test the sandbox and print what a command in this folder could read, write and not see")
    .option("-c, --config <file>", "configuration file")
    .option("-C, --cwd <dir>", "workspace folder (default: the current one)")
    .addOption(sandboxOption())
    .option("--allowed-domain <host>", "add a host to network.allowed_domains; repeatable", domain)
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./sandbox.ts")).sandboxCheckCommand));

  program
    .command("version")
    .description("print version, commit and build date")
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./version.ts")).versionCommand));

  groupCommands(program);
  return program;
}

function addAuditCommands(audit: Command, { asIs, redacted }: CommandActions): void {
  audit.description("check that nobody altered a session log, and list the hosts in it");

  addStoreFlags(audit.command("verify"))
    .description(
      "check a session or an exported file; exit code 1 and every finding if it was altered, 3 if it is not the newest version seen here",
    )
    .argument("[file|session]", "a session, by its id or a unique prefix, or an exported JSONL file")
    .option("--all", "check every session of the log, and name those that it has lost")
    .option("--anchor <file>", "compare with the anchors in this file; repeatable", collect)
    .option("--git-note", "compare with the anchors in the git notes of the working folder")
    .option("-C, --cwd <dir>", "the folder with the git notes (default: that of the session)")
    .option("--key <public-key>", "trust this key and no other; repeatable (default: the key of this machine)", collect)
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./audit-verify.ts")).auditVerifyCommand));

  addStoreFlags(audit.command("anchor"))
    .description("write a signed hash of a session to a place outside Harness")
    .argument("<session>", "its id or a unique prefix")
    .option("--file <file>", "append it to this file")
    .option("--git-note", "add it to a git note on HEAD of the working folder")
    .option("-C, --cwd <dir>", "the folder for the git note (default: that of the session)")
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./audit.ts")).auditAnchorCommand));

  addStoreFlags(audit.command("accept"))
    .description("accept the current log of a session as the newest one, after you restored an older copy")
    .argument("<session>", "its id or a unique prefix; the whole id if the log has lost it")
    .option("--yes", "do not ask")
    .action(asIs(async () => (await import("./audit-accept.ts")).auditAcceptCommand));

  audit
    .command("key")
    .description("print the public key that signs the logs of this machine")
    .option("--json", "print JSON")
    .action(asIs(async () => (await import("./audit.ts")).auditKeyCommand));

  addStoreFlags(audit.command("network"))
    .description("list the hosts that were reached or refused, with counts")
    .option("--session <id>", "only this session (default: the latest of the current folder)")
    .option("--all", "all sessions in the log")
    .option("--json", "print JSON")
    .action(redacted(async () => (await import("./audit-network.ts")).auditNetworkCommand));
}
