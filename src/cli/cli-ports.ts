/** What the commands get from the outside: terminal, environment, clock, and the way to build the program below. */
import type { Clock } from "#base";
import type { HelperCredentials } from "#credentials";
import type { BuildInfo } from "#program";
import type { DetachedProcess } from "#world";
import type { Outward } from "./outward.ts";
import type { Terminal } from "./terminal.ts";

export interface CliPorts {
  /** What the program was started with, without node and script. */
  readonly args: readonly string[];
  readonly terminal: Terminal;
  /** For what is shown without having passed a session. */
  readonly outward: Outward;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The keys of models; none is in `env`. Closed by whoever made it. */
  readonly credentials: HelperCredentials;
  /** Whether keys could be taken out of what the system shows of this process; undefined when there was none. */
  readonly concealed: () => boolean | undefined;
  readonly cwd: string;
  readonly clock: Clock;
  readonly build: BuildInfo;
  /** The file that this program runs from: of a bundle one that no other build has by that name. */
  readonly programFile: string;
  /** Folder with the scenarios that ship with the program. */
  readonly scenariosDir: string;
  /** Folder with the files that `init` and `scaffold` write. */
  readonly templatesDir: string;
  /** Starts this program once more, detached and with the same environment and keys; what it prints goes to the open file. */
  readonly relaunch: (
    args: readonly string[],
    options: { readonly cwd: string; readonly output: number },
  ) => DetachedProcess;
  /**
   * For a command that runs until it is told to stop: from now on SIGTERM and SIGHUP end it with its own exit code, and it may
   * take so long.
   */
  readonly endsWhenStopped: (graceMs?: number, options?: { readonly outlivesOutput: boolean }) => void;
}
