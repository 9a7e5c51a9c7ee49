/** The command line, one file per command. */
export type { CliPorts } from "./cli-ports.ts";
export { createClipboard } from "./clipboard.ts";
export { createCrash } from "./crash.ts";
export { commandFirst } from "./flags.ts";
export { createOutward, describeCrash } from "./outward.ts";
export { runCli } from "./program.ts";
export { withCommand } from "./prompt-arguments.ts";
export { createTerminal } from "./terminal.ts";
