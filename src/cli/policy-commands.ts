/** `harness policy …`: the table of its commands; each is loaded when it is called. */
import { type Command, InvalidArgumentError } from "commander";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { addStoreFlags, collect } from "./flags.ts";

export function addPolicyCommands(policy: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  policy.description("hold a policy against the calls that are on the record, before it is in force");
  const add = (name: string, description: string): Command =>
    addStoreFlags(policy.command(name).description(description))
      .option("--sessions <session...>", "ids, beginnings of ids, or 'all' (default: those of the current folder)")
      .option("-c, --config <file>", "the configuration file that holds on both sides (default: yours)")
      .option("--json", "print JSON");

  add("diff", "decide every recorded call again under two policies and print what differs, with rule and place")
    .argument("<old>", "a project folder, harness.md, config.toml, admin:FILE, REVISION:PATH; or 'recorded'")
    .argument("<new>", "the same, except 'recorded'")
    .option("--fail-on <change>", "exit code 1 when a call is loosened, tightened or undecided; repeatable", failOn)
    .action(async (before: string, after: string, flags) =>
      exit(await (await import("./policy-diff.ts")).policyDiffCommand(ports, before, after, flags)),
    );

  add("suggest", "print the smallest rules that would have covered what was used, as a diff with the evidence for each")
    .option(
      "--for <file>",
      "harness.md or config.toml (default: harness.md of the current folder, else your config.toml)",
    )
    .action(async (flags) => exit(await (await import("./policy-suggest.ts")).policySuggestCommand(ports, flags)));
}

function failOn(value: string, previous: readonly string[] = []): readonly string[] {
  const changes = ["loosened", "tightened", "undecided"];
  if (!changes.includes(value)) throw new InvalidArgumentError(`Expected one of ${changes.join(", ")}.`);
  return collect(value, previous);
}
