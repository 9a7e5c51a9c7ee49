/** `harness conformance` as an entry of the program's table. */
import { type Command, InvalidArgumentError } from "commander";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { collect, positiveInteger } from "./flags.ts";

const DEFAULT_WAIT_SECONDS = 15;

export function addConformanceCommand(program: Command, ports: CliPorts, exit: (code: ExitCode) => void): void {
  program
    .command("conformance")
    .description("hold a server of the protocol to its requirements; exit code 1 when one does not hold")
    .option("--against <target>", "http://HOST:PORT, unix:///PATH or stdio://COMMAND")
    .option("--token-file <file>", "the token of a human")
    .option("--other-token-file <file>", "one of another human, which has not shaken hands yet")
    .option("--agent-token-file <file>", "one of an agent")
    .option("--lan <address>", "https://HOST:PORT where other machines can reach the same server")
    .option("--lan-ca <file>", "PEM of who vouches for its certificate")
    .option("--wire <wire>", "only this wire of a server over HTTP: rest, ws or plain; repeatable", httpWire)
    .option("--only <id>", "only this requirement, or all of one area (stream); repeatable", collect)
    .option("--slow", "also what takes more than 30 seconds")
    .option("--wait <seconds>", "how long anything may take", positiveInteger, DEFAULT_WAIT_SECONDS)
    .option("--list", "print the requirements and run nothing")
    .option("--print-scenario", "print what the model of the target has to play, and run nothing")
    .option("--json", "print one JSON document")
    .option("--junit <file>", "write JUnit XML")
    .action(async (flags) => {
      const { conformanceCommand } = await import("./conformance.ts");
      exit(await conformanceCommand(ports, flags));
    });
}

/** The names are written here as well: the conformance part is loaded only when it runs. */
const HTTP_WIRES = ["rest", "ws", "plain"];

function httpWire(value: string, previous: readonly string[] = []): readonly string[] {
  if (!HTTP_WIRES.includes(value)) throw new InvalidArgumentError(`Expected one of ${HTTP_WIRES.join(", ")}.`);
  return [...previous, value];
}
