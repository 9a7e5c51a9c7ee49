/** `harness conformance` as an entry of the program's table. */
import { type Command, InvalidArgumentError } from "commander";
import type { CommandActions } from "./command-actions.ts";
import { collect, positiveInteger } from "./flags.ts";

const DEFAULT_WAIT_SECONDS = 15;

export function addConformanceCommand(program: Command, { asIs }: CommandActions): void {
  program
    .command("conformance")
    .description("test a server against the requirements of the protocol; exit code 1 if one fails")
    .option("--against <target>", "http://HOST:PORT, unix:///PATH or stdio://COMMAND")
    .option("--token-file <file>", "file with a human's token")
    .option("--other-token-file <file>", "file with the token of another human who has not done the handshake yet")
    .option("--agent-token-file <file>", "file with an agent's token")
    .option("--lan <address>", "https://HOST:PORT where other machines can reach the same server")
    .option("--lan-ca <file>", "certificate authority (PEM) of that address (default: those of the system)")
    .option("--wire <wire>", "only this wire of a server over HTTP: rest, ws or plain; repeatable", httpWire)
    .option("--only <id>", "only this requirement, or all of one area (stream); repeatable", collect)
    .option("--slow", "also run tests that take more than 30 seconds")
    .option("--wait <seconds>", "timeout for each wait", positiveInteger, DEFAULT_WAIT_SECONDS)
    .option("--list", "print the requirements and run nothing")
    .option("--print-scenario", "print the scenario for the target's model and run nothing")
    .option("--json", "print one JSON document")
    .option("--junit <file>", "write JUnit XML")
    .action(asIs(async () => (await import("./conformance.ts")).conformanceCommand));
}

/** The names are written here as well: the conformance part is loaded only when it runs. */
const HTTP_WIRES = ["rest", "ws", "plain"];

function httpWire(value: string, previous: readonly string[] = []): readonly string[] {
  if (!HTTP_WIRES.includes(value)) throw new InvalidArgumentError(`Expected one of ${HTTP_WIRES.join(", ")}.`);
  return [...previous, value];
}
