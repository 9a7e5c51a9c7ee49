/** What happens once the command line is parsed: the command's module is loaded, and what the command returns is the exit code. */
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";

/** A command takes what was parsed: its arguments in their order, then its flags. */
type LoadCommand = () => Promise<(ports: CliPorts, ...parsed: never[]) => ExitCode | Promise<ExitCode>>;
type Action = (...given: unknown[]) => Promise<void>;

export interface CommandActions {
  readonly ports: CliPorts;
  exit(code: ExitCode): void;
  /** The command sees to it itself that it writes no secret. */
  asIs(load: LoadCommand): Action;
  /** What the command writes passes the redactor: see `Outward.through`. */
  redacted(load: LoadCommand, shows?: "messages"): Action;
}

export function createCommandActions(ports: CliPorts, exit: (code: ExitCode) => void): CommandActions {
  const run = async (load: LoadCommand, to: CliPorts, given: unknown[]): Promise<void> => {
    const command = await load();
    // The parser knows no types; it adds itself at the end.
    exit(await command(to, ...(given.slice(0, -1) as never[])));
  };
  return {
    ports,
    exit,
    asIs:
      (load) =>
      (...given) =>
        run(load, ports, given),
    redacted:
      (load, shows) =>
      async (...given) => {
        const flags = given.at(-2) as { readonly json?: boolean };
        await run(load, await ports.outward.through(ports, flags.json, shows), given);
      },
  };
}
