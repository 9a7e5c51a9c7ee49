/** Tools of an MCP server that have changed since they were approved: what changed, and the question whether that is all right. */
import type { McpServer } from "#artifacts";
import { counted, paint, visibleLine } from "#base";
import { waitingTools } from "#program";
import type { CliPorts } from "./cli-ports.ts";
import { isConfirmed } from "./confirmation.ts";
import type { ExitCode } from "./exit-code.ts";

const CONTEXT_LINES = 3;

/** 0 when nothing waits or it is approved now, 1 when somebody said no. Throws UsageInvalid where nobody can be asked. */
export async function reviewTools(ports: CliPorts, server: McpServer, isYes: boolean): Promise<ExitCode> {
  const { terminal } = ports;
  const { name } = server;
  const waiting = await waitingTools(ports, server, (text) => terminal.err(`${visibleLine(text)}\n`));
  if (waiting === undefined) {
    terminal.err(`Harness has not seen the tools of ${name} yet. Try it: harness mcp test ${name}\n`);
    return 0;
  }
  const { changes, approve } = waiting;
  if (changes.length === 0) {
    terminal.err(`No tool of ${name} waits for approval.\n`);
    return 0;
  }
  for (const { tool, before, now } of changes) {
    const what = before === undefined ? "is new" : "has changed";
    terminal.out(
      `${paint(terminal, "bold", `mcp.${name}.${visibleLine(tool)}`)} ${what}. In the words of the server:\n`,
    );
    for (const line of await changedLines(before ?? "", now)) {
      const colour = line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : "dim";
      terminal.out(`  ${paint(terminal, colour, visibleLine(line))}\n`);
    }
  }
  const question = `Approve ${counted(changes.length, "tool")} of ${name}? The model reads these texts. [y/N] `;
  if (!isYes && !(await isConfirmed(terminal, question, "somebody has to read what changed"))) return 1;
  approve();
  terminal.err(
    `Approved ${counted(changes.length, "tool")} of ${name}. Sessions offer them from their next turn on.\n`,
  );
  return 0;
}

async function changedLines(before: string, now: string): Promise<readonly string[]> {
  const { structuredPatch } = await import("diff");
  const { hunks } = structuredPatch("approved", "now", before, now, "", "", { context: CONTEXT_LINES });
  return hunks.flatMap(({ lines }) => lines);
}
