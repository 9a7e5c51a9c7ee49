/** `harness undo` and `harness redo`: take back what an agent has changed in this folder, or make it again. */

import { defined, paint, visibleLine } from "#base";
import { restoreFolder, type UndoReport, type UndoTarget } from "#program";
import { CallId, ReasonError, SessionId, TurnId } from "#protocol";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { namedFolder } from "./named-folder.ts";
import type { Terminal } from "./terminal.ts";

/** So many paths of one kind are printed; `--json` has all. */
const MAX_LINES = 100;

export interface UndoFlags {
  readonly cwd?: string;
  readonly session?: string;
  readonly dryRun?: boolean;
  readonly skipConflicts?: boolean;
  readonly json?: boolean;
}

export async function undoCommand(
  ports: CliPorts,
  action: "undo" | "redo",
  named: string | undefined,
  flags: UndoFlags,
): Promise<ExitCode> {
  const { terminal } = ports;
  const session = parseSession(flags.session);
  const report = await restoreFolder(ports, {
    action,
    folder: namedFolder(ports.cwd, flags.cwd),
    target: parseTarget(named),
    skipConflicts: flags.skipConflicts === true,
    dryRun: flags.dryRun === true,
    ...defined({ session }),
  });
  if (flags.json) terminal.out(`${JSON.stringify(report)}\n`);
  else renderReport(terminal, report);
  return report.outcome === "done" || report.outcome === "planned" ? 0 : 1;
}

export function parseTarget(named: string | undefined): UndoTarget {
  if (named === undefined) return "last";
  if (CallId.is(named)) return { call: named };
  if (TurnId.is(named)) return { turn: named };
  throw new ReasonError("UsageInvalid", `'${named}' is neither a call (call_…) nor a turn (turn_…)`);
}

function parseSession(given: string | undefined): SessionId | undefined {
  if (given === undefined || SessionId.is(given)) return given;
  throw new ReasonError("SessionNotFound", { session: given });
}

/** What was done goes to standard output, what was not and why to standard error. */
export function renderReport(terminal: Terminal, report: UndoReport): void {
  const { outcome, action, restored, conflicts, failed, kept, uncovered, leftOut, interrupted } = report;
  const what = `${report.turns.join(", ")} of ${report.session}`;
  const heads = {
    done: `${action === "undo" ? "Undid" : "Redid"} ${what}:`,
    partial: `${action === "undo" ? "Undid" : "Redid"} a part of ${what}:`,
    planned: `Would ${action} ${what}:`,
    refused: `Nothing was changed: ${what} cannot be ${action === "undo" ? "undone" : "redone"} as a whole.`,
  } as const;
  (outcome === "refused" ? terminal.err : terminal.out)(`${visibleLine(heads[outcome])}\n`);
  if (outcome !== "refused") {
    list(
      terminal.out,
      restored.map(({ path, what: done }) => `  ${path}  ${done}`),
    );
    const nothing = outcome === "partial" ? "nothing could be" : "everything is already as it should be";
    if (restored.length === 0) terminal.out(`  (${nothing})\n`);
  }
  const lines = (title: string, paths: readonly { readonly path: string; readonly why: string }[]): void => {
    if (paths.length === 0) return;
    terminal.err(`${paint(terminal, "yellow", title)}\n`);
    list(
      terminal.err,
      paths.map(({ path, why }) => `  ${path === "" ? "." : path}  ${why}`),
    );
  };
  lines(`In conflict with a later change, left as ${conflicts.length === 1 ? "it is" : "they are"}:`, conflicts);
  lines("Failed:", failed);
  lines("Directories that stay:", kept);
  lines("Changed, but not covered by undo:", uncovered);
  lines("Not saved when the calls ran:", leftOut);
  lines(
    "Interrupted while running (what they changed is unknown):",
    interrupted.map(({ call, tool }) => ({ path: call, why: tool })),
  );
  if (outcome === "refused") terminal.err(`Add --skip-conflicts to ${action} the rest.\n`);
}

function list(write: (text: string) => void, lines: readonly string[]): void {
  for (const line of lines.slice(0, MAX_LINES)) write(`${visibleLine(line)}\n`);
  if (lines.length > MAX_LINES) write(`  … and ${lines.length - MAX_LINES} more\n`);
}
