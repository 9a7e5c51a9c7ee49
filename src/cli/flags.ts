/** Flags that several commands share, parsed once and the same everywhere. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { isDomainEntry } from "#base";
import type { ContextValues, RunFlags } from "#program";
import { durableKindNames, storeKindNames, USER_LOG } from "#stores/kinds";

const CONTEXT_KEY_CHARS = 100;
const CONTEXT_TEXT_CHARS = 10_000;
const CONTEXT_VALUES = 100;

/** What decides how a session runs. */
export function addRunFlags(command: Command, defaultStore: RunFlags["store"] = USER_LOG): Command {
  return addProfileFlags(command)
    .option("-m, --model <provider:name>", "model to use (also HARNESS_MODEL); scripted:<file.yaml> plays a scenario")
    .option(
      "-c, --config <file>",
      "project file (.md, .yaml; default: harness.md in the workspace) or configuration file (.toml; default: $XDG_CONFIG_HOME/harness/config.toml)",
    )
    .option("-C, --cwd <dir>", "workspace folder (default: the current one)")
    .option("--no-project", "ignore the project's files, harness.md and .harness")
    .option(
      "--lockfile <file>",
      "accept exactly the project files in this lock file, without asking (also HARNESS_LOCKFILE)",
    )
    .option("--allow <rule>", "allow calls that match, for example 'Bash(npm test)'; repeatable", collect)
    .option("--deny <rule>", "deny calls that match; beats every allow rule; repeatable", collect)
    .option(
      "--allowed-domain <host>",
      "add a host to network.allowed_domains of the project; all other hosts are refused; repeatable",
      domain,
    )
    .option("--allow-project-hooks", "let the shell hooks of the project run, once each file was acked")
    .option("--set <key=value>", "set a value that conditions and scripts see as ctx; repeatable", contextValue)
    .option("--strict-permissions", "ask about every call that no rule allows, also read-only ones")
    .option("--auto-approve", "approve every permission request (deny rules still apply)")
    .option(
      "--max-steps <n>",
      "most model calls per turn (default: 100, or max_steps of the configuration)",
      positiveInteger,
    )
    .addOption(sandboxOption())
    .addOption(
      new Option("--store <kind>", "where to store the session log").choices(storeKindNames).default(defaultStore),
    )
    .addOption(
      new Option("--undo <state>", "save what calls change for harness undo; always off with --store memory")
        .choices(["on", "off"])
        .default("on"),
    );
}

/** Which profile a command runs with, or looks at. */
export function addProfileFlags(command: Command): Command {
  return command
    .option("--profile <name|file>", "profile to use: default, framework, one of your own, or a TOML file")
    .option("--framework", "use the profile framework, for work on Harness itself");
}

const LOG_FLAGS = new Map([
  ["--log-level", true],
  ["--log-format", true],
  ["--log-to-stderr", false],
]);

/** For all commands, before or after their name. */
export function addLogFlags(program: Command): Command {
  return program
    .option("--log-level <levels>", "what to log: debug, or engine=debug,auth=warn (also HARNESS_LOG_LEVEL)")
    .option("--log-format <format>", "format of printed log lines: text (default) or json (also HARNESS_LOG_FORMAT)")
    .option("--log-to-stderr", "also print the log to standard error")
    .configureHelp({
      showGlobalOptions: true,
      visibleGlobalOptions: ({ parent }) =>
        parent === null ? [] : program.options.filter(({ long }) => LOG_FLAGS.has(long ?? "")),
    });
}

/** The arguments with the command first: flags of the log that stand before it go behind what belongs to it. */
export function commandFirst(args: readonly string[]): readonly string[] {
  let count = 0;
  for (let word = args[count]; word !== undefined; word = args[count]) {
    const [name = "", value] = word.split("=", 2);
    const takesValue = LOG_FLAGS.get(name);
    if (takesValue === undefined) break;
    count += takesValue && value === undefined ? 2 : 1;
  }
  const rest = args.slice(count);
  const end = rest.includes("--") ? rest.indexOf("--") : rest.length;
  return [...rest.slice(0, end), ...args.slice(0, count), ...rest.slice(end)];
}

/** What goes with one turn. */
export function addTurnFlags(command: Command): Command {
  return command
    .option("--list-tools", "print the tools that the model would see, with their source; calls no model")
    .option("--stream", "print the answer as it arrives (run always does)");
}

/** How a conversation is shown. */
export function addInterfaceFlags(command: Command): Command {
  return command
    .option("--plain", "in a conversation, use the line interface, for screen readers and simple terminals")
    .option("--quiet-cost", "in a conversation, show no cost in the status line");
}

/** Which log a command reads. */
export function addStoreFlags(command: Command): Command {
  return command
    .addOption(new Option("--store <kind>", "which log").choices(durableKindNames).default(USER_LOG))
    .option("--root <dir>", "workspace whose .harness/threads holds the jsonl log (default: the current folder)");
}

export function sandboxOption(): Option {
  const text =
    "run commands in the operating system's sandbox: if there is one (auto), or refuse them without one (required)";
  return new Option("--sandbox <mode>", text).choices(["auto", "required", "off"]);
}

export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

export function positiveInteger(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError("Expected a positive whole number.");
  return number;
}

export function positiveNumber(value: string): number {
  const number = Number(value);
  if (!Number.isFinite(number) || number <= 0) throw new InvalidArgumentError("Expected a positive number.");
  return number;
}

/** The id of an event, or 0. */
export function eventId(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(number))
    throw new InvalidArgumentError("Expected the id of an event.");
  return number;
}

/** As in `network.allowed_domains`: a host, `*.host`, or `*`. */
export function domain(value: string, previous: readonly string[] = []): readonly string[] {
  if (!isDomainEntry(value)) {
    throw new InvalidArgumentError(
      "Expected a host such as api.example.com or *.example.com, without scheme, port or path.",
    );
  }
  return [...previous, value];
}

/** `key=value`; a value that is a JSON number, true, false or null is one, anything else is text. */
export function contextValue(text: string, previous: ContextValues = {}): ContextValues {
  const [, key, value] = /^([^=]+)=([\s\S]*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new InvalidArgumentError("Expected key=value.");
  if (key.length > CONTEXT_KEY_CHARS || value.length > CONTEXT_TEXT_CHARS) {
    const limits = `${CONTEXT_KEY_CHARS} characters, a value ${CONTEXT_TEXT_CHARS}`;
    throw new InvalidArgumentError(`A key may have ${limits}.`);
  }
  const values = { ...previous, [key]: scalar(value) };
  if (Object.keys(values).length > CONTEXT_VALUES) throw new InvalidArgumentError(`At most ${CONTEXT_VALUES} values.`);
  return values;
}

function scalar(text: string): string | number | boolean | null {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || typeof value === "boolean" || typeof value === "string") return value;
    return typeof value === "number" && Number.isFinite(value) ? value : text;
  } catch {
    // Not JSON: the text as it is written.
    return text;
  }
}
