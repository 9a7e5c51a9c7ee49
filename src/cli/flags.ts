/** Flags that several commands share, parsed once and the same everywhere. */
import { type Command, InvalidArgumentError, Option } from "commander";

export interface RunFlags {
  readonly model?: string;
  readonly config?: string;
  readonly cwd?: string;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly strictPermissions?: boolean;
  readonly autoApprove?: boolean;
  readonly maxSteps?: number;
  readonly store: "sqlite" | "jsonl" | "memory";
  readonly undo?: "on" | "off";
}

/** What decides how a session runs. */
export function addRunFlags(command: Command): Command {
  return command
    .option("-m, --model <provider:name>", "model to use, also HARNESS_MODEL; scripted:<file.yaml> plays a scenario")
    .option("-c, --config <file>", "configuration file (default: $XDG_CONFIG_HOME/harness/config.toml)")
    .option("-C, --cwd <dir>", "workspace folder (default: the current one)")
    .option("--allow <rule>", "allow calls that match, for example 'Bash(npm test)'; repeatable", collect)
    .option("--deny <rule>", "deny calls that match; repeatable; beats every allow", collect)
    .option("--strict-permissions", "ask for every call that no rule allows, also read-only ones")
    .option("--auto-approve", "answer every permission request with yes (deny rules still hold)")
    .option("--max-steps <n>", "model calls per turn (default: 20, or as configured)", positiveInteger)
    .addOption(
      new Option("--store <kind>", "where the session log goes")
        .choices(["sqlite", "jsonl", "memory"])
        .default("sqlite"),
    )
    .addOption(
      new Option("--undo <state>", "keep what calls change, for harness undo; off with --store memory")
        .choices(["on", "off"])
        .default("on"),
    );
}

export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}

export function positiveInteger(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError("Expected a positive whole number.");
  return number;
}
