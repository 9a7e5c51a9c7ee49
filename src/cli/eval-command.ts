/** `harness eval` as an entry of the program's table. */
import { type Command, InvalidArgumentError } from "commander";
import type { CommandActions } from "./command-actions.ts";
import { collect } from "./flags.ts";

const DEFAULT_JOBS = 4;
const MAX_JOBS = 64;
const MAX_REPEAT = 1000;

export function addEvalCommand(program: Command, { asIs }: CommandActions): void {
  program
    .command("eval")
    .description("run eval cases and grade them; exit code 1 if one does not pass")
    .argument("[path...]", "cases, or folders with cases (default: evals/testdata)")
    .option("-c, --config <file>", "project file whose evals/testdata to run, or configuration file (.toml)")
    .option("--case <name>", "only this case; repeatable", collect)
    .option("--category <name>", "only cases of this category; repeatable", collect)
    .option("-m, --model <provider:name>", "call this model instead of those of the cases")
    .option("--budget <usd>", "stop once the model calls of all cases together have cost this much", dollars)
    .option("--dry-run", "check the cases and print how each would run; run nothing")
    .option("--live", "call models also in CI, where a cassette (recording) otherwise replaces them")
    .option("--record", "call models and write a cassette (recording) beside each case")
    .option("--replay", "play the cassettes, even if there is a key")
    .option("--repeat <n>", "how often to run each case; all runs must pass", bounded(MAX_REPEAT), 1)
    .option("--jobs <n>", "how many runs in parallel", bounded(MAX_JOBS), DEFAULT_JOBS)
    .option("--allow <rule>", "allow calls that match, in every case; repeatable", collect)
    .option("--deny <rule>", "deny calls that match, in every case; repeatable", collect)
    .option(
      "--lockfile <file>",
      "accept exactly the project files in this lock file, without asking (also HARNESS_LOCKFILE)",
    )
    .option("--json", "print one JSON document")
    .option("--junit <file>", "write JUnit XML")
    .option("--logs <dir>", "write the events of each run to this folder, as JSON lines")
    .action(asIs(async () => (await import("./eval.ts")).evalCommand));
}

function dollars(value: string): number {
  const number = Number(value);
  if (!Number.isFinite(number) || number <= 0)
    throw new InvalidArgumentError("Expected a number of US dollars above 0.");
  return number;
}

function bounded(max: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (Number.isInteger(number) && number >= 1 && number <= max) return number;
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${max}.`);
  };
}
