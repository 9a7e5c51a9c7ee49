/** What the commands get from the outside besides what every program gets: a terminal, and how they end. */
import type { ProgramPorts } from "#program";
import type { EarlyScreen } from "#tui";
import type { ClipboardImage } from "./clipboard.ts";
import type { Crash } from "./crash.ts";
import type { Outward } from "./outward.ts";
import type { Terminal } from "./terminal.ts";

export interface CliPorts extends ProgramPorts {
  readonly terminal: Terminal;
  /** The terminal was taken before the program had loaded. */
  readonly early?: EarlyScreen;
  readonly outward: Outward;
  readonly crash: Crash;
  readonly clipboard: ClipboardImage;
  /** Whether keys could be taken out of what the system shows of this process; undefined when there was none. */
  readonly concealed: () => boolean | undefined;
  /** Folder with the files that `init` and `scaffold` write. */
  readonly templatesDir: string;
}
