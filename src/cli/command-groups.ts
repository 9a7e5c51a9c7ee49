/** The headings under which `harness --help` lists the commands. */
import type { Command } from "commander";

const groups: Readonly<Record<string, readonly string[]>> = {
  "Run an agent:": ["run", "attach", "demo", "deploy", "serve", "rpc", "daemon"],
  "Sessions:": ["sessions", "undo", "redo", "cost", "explain", "context"],
  "Projects:": ["init", "scaffold", "validate", "inspect", "tools", "hooks", "agents", "artifacts", "eval", "starlark"],
  "Security:": ["ack", "verify-ack", "policy", "audit", "redact", "sandbox", "creds", "token", "plugins"],
};
const REST = "This installation:";

export function groupCommands(program: Command): void {
  // Of `help`, which is made when it is needed.
  program.commandsGroup(REST).helpCommand(true);
  for (const command of program.commands) {
    const [heading] = Object.entries(groups).find(([, names]) => names.includes(command.name())) ?? [REST];
    command.helpGroup(heading);
  }
}
