/** The corpora of shell commands, as checked values: `test/corpora/*.jsonl`, one row to a line. */
import { readFileSync } from "node:fs";

export interface EverydayCommand {
  readonly class: string;
  readonly command: string;
  /** `quiet`: it only reads the workspace, or nothing at all. `ask`: it changes, runs or reaches something. */
  readonly expect: "quiet" | "ask";
  /** `exit`: its output names the clock, processes, mounts, the user or the host, so that only exit codes are compared. */
  readonly compare?: "exit";
}

export interface HostileCommand {
  readonly class: string;
  readonly command: string;
  readonly cwd?: string;
  /** What is in force: `allow Bash`, `deny Bash(rm *)`. */
  readonly rules: readonly string[];
  readonly expect: "ask" | "deny";
}

export function everydayCommands(): EverydayCommand[] {
  return readRows("shell-everyday", (row) => isText(row.command) && /^(?:quiet|ask)$/.test(String(row.expect)));
}

export function hostileCommands(): HostileCommand[] {
  return readRows(
    "shell-bypasses",
    (row) => isText(row.command) && Array.isArray(row.rules) && /^(?:ask|deny)$/.test(String(row.expect)),
  );
}

function readRows<Row>(name: string, isRow: (row: Record<string, unknown>) => boolean): Row[] {
  const text = readFileSync(new URL(`../corpora/${name}.jsonl`, import.meta.url), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line, index) => {
      // Checked on the next line.
      const row = JSON.parse(line) as Record<string, unknown>;
      if (!isText(row.class) || !isRow(row)) throw new Error(`${name}.jsonl:${index + 1} is no row of this corpus`);
      return row as Row;
    });
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
