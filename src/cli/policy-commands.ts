/** `harness policy …`: the table of its commands; each is loaded when it is called. */
import { type Command, InvalidArgumentError } from "commander";
import type { CommandActions } from "./command-actions.ts";
import { addStoreFlags, collect } from "./flags.ts";

export function addPolicyCommands(policy: Command, { asIs }: CommandActions): void {
  policy.description("test a policy against the calls in the log before you use it");
  const add = (name: string, description: string): Command =>
    addStoreFlags(policy.command(name).description(description))
      .option(
        "--sessions <session...>",
        "ids, unique prefixes of ids, or 'all' (default: the sessions of the current folder)",
      )
      .option("-c, --config <file>", "the configuration file for both sides (default: yours)")
      .option("--json", "print JSON");

  add("diff", "decide every recorded call under two policies and print those that differ, with the rule and its source")
    .argument("<old>", "a project folder, harness.md, config.toml, admin:FILE, REVISION:PATH; or 'recorded'")
    .argument("<new>", "the same, except 'recorded'")
    .option("--fail-on <change>", "exit code 1 if a call is loosened, tightened or undecided; repeatable", failOn)
    .action(asIs(async () => (await import("./policy-diff.ts")).policyDiffCommand));

  add("suggest", "print the smallest allow rules that would have covered the calls that ran, as a diff")
    .option(
      "--for <file>",
      "the file to add rules to (default: harness.md of the current folder, else your config.toml)",
    )
    .action(asIs(async () => (await import("./policy-suggest.ts")).policySuggestCommand));
}

function failOn(value: string, previous: readonly string[] = []): readonly string[] {
  const changes = ["loosened", "tightened", "undecided"];
  if (!changes.includes(value)) throw new InvalidArgumentError(`Expected one of ${changes.join(", ")}.`);
  return collect(value, previous);
}
