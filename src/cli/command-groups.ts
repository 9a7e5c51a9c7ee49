/** The headings under which `harness --help` lists the commands, both in this order. */
import type { Command } from "commander";

const groups: Readonly<Record<string, readonly string[]>> = {
  "Run an agent:": ["run", "attach", "demo", "deploy", "serve", "rpc", "daemon", "schedule"],
  "Sessions:": ["sessions", "undo", "redo", "cost", "explain", "context", "memory"],
  "Projects:": [
    "init",
    "scaffold",
    "validate",
    "inspect",
    "tools",
    "hooks",
    "agents",
    "skills",
    "artifacts",
    "eval",
    "starlark",
  ],
  "Security:": ["ack", "verify-ack", "policy", "audit", "redact", "sandbox", "creds", "token", "plugins"],
  "This installation:": ["models", "mcp", "doctor", "verify", "debug", "conformance", "version"],
};

export function groupCommands(program: Command): void {
  const order = Object.values(groups).flat();
  // The list is Commander's own: it prints groups and commands in the order in which they were added.
  const commands = program.commands as Command[];
  commands.sort((a, b) => order.indexOf(a.name()) - order.indexOf(b.name()));
  for (const [heading, names] of Object.entries(groups)) {
    for (const command of commands) if (names.includes(command.name())) command.helpGroup(heading);
  }
  program.commandsGroup("This installation:").helpCommand(true);
}
