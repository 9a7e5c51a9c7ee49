/** `harness eval` as an entry of the program's table. */
import { type Command, InvalidArgumentError } from "commander";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { collect } from "./flags.ts";

const DEFAULT_JOBS = 4;
const MAX_JOBS = 64;
const MAX_REPEAT = 1000;

export function addEvalCommand(program: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  program
    .command("eval")
    .description("run eval cases and grade them; exit code 1 when one does not pass")
    .argument("[path...]", "cases, or folders with cases (default: evals/testdata)")
    .option("-c, --config <file>", "project file whose evals/testdata is run, or configuration file (.toml)")
    .option("--case <name>", "only this case; repeatable", collect)
    .option("--category <name>", "only cases of this category; repeatable", collect)
    .option("-m, --model <provider:name>", "ask this model instead of those of the cases")
    .option("--budget <usd>", "stop when model calls of all cases together have cost so much", dollars)
    .option("--dry-run", "check the cases and say how each would be run; run nothing")
    .option("--live", "ask models also in CI; without it a cassette stands for the model there")
    .option("--record", "ask models, and write the cassette of each case beside it")
    .option("--replay", "play the cassettes, also where there is a key")
    .option("--repeat <n>", "run each case so often; all runs have to pass", bounded(MAX_REPEAT), 1)
    .option("--jobs <n>", "runs side by side", bounded(MAX_JOBS), DEFAULT_JOBS)
    .option("--allow <rule>", "allow calls that match, in every case; repeatable", collect)
    .option("--deny <rule>", "deny calls that match, in every case; repeatable", collect)
    .option("--lockfile <file>", "accept exactly the project files listed there, also HARNESS_LOCKFILE; asks nobody")
    .option("--json", "print one JSON document")
    .option("--junit <file>", "write JUnit XML")
    .option("--logs <dir>", "write the log of each run there, as JSON lines")
    .action(async (paths: readonly string[], flags) => {
      const { evalCommand } = await import("./eval.ts");
      exit(await evalCommand(ports, paths, flags));
    });
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
