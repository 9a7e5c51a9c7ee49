/** Runs the ripgrep that ships with the package, through the process port, and collects its records up to a bound. */
import type { EffectPorts } from "#base";
import { ToolError } from "#engine";

const TIMEOUT_MS = 20_000;
const MAX_ERROR_CHARS = 2_000;
/** A record that never ends is cut here; ripgrep's own column limit keeps real ones far below. */
const MAX_RECORD_BYTES = 64 * 1024;

/** Same files for both tools: hidden ones too, ignore files honoured also outside a git repository, never `.git`. */
const COMMON_ARGS = ["--no-config", "--hidden", "--no-require-git", "--no-messages", "--color=never"];

export interface RipgrepRun {
  readonly args: readonly string[];
  /** What to search, relative to `cwd`; all of it by default. */
  readonly target?: string;
  readonly cwd: string;
  readonly separator: "\0" | "\n";
  /** Takes one record; returning false ends the run early. */
  readonly onRecord: (record: string) => boolean;
}

/** Resolves when ripgrep ended or was stopped; a bad pattern and a timeout are `ToolError`s, no match is neither. */
export async function runRipgrep(
  ports: Pick<EffectPorts, "files" | "processes">,
  run: RipgrepRun,
  signal: AbortSignal,
): Promise<void> {
  const { rgPath } = await import("@vscode/ripgrep");
  const enough = new AbortController();
  let pending = Buffer.alloc(0);
  let errors = "";
  let records = 0;
  const take = (record: Buffer) => {
    records++;
    if (!enough.signal.aborted && !run.onRecord(record.toString("utf8"))) enough.abort();
  };
  const exit = await ports.processes.run(
    {
      file: rgPath,
      // The last glob that matches wins, so ours comes after the caller's.
      args: [
        ...COMMON_ARGS,
        ...run.args,
        "--glob=!.git",
        ...hiddenGlobs(ports, run.cwd),
        ...(run.target === undefined ? [] : ["--", run.target]),
      ],
      cwd: run.cwd,
      ownProgram: true,
      timeoutMs: TIMEOUT_MS,
      onOutput(stream, chunk) {
        if (enough.signal.aborted) return;
        if (stream === "stderr") {
          errors = (errors + chunk.toString("utf8")).slice(0, MAX_ERROR_CHARS);
          return;
        }
        pending = Buffer.concat([pending, chunk]);
        for (let end = pending.indexOf(run.separator); end !== -1; end = pending.indexOf(run.separator)) {
          take(pending.subarray(0, end));
          pending = pending.subarray(end + 1);
        }
        pending = pending.subarray(0, MAX_RECORD_BYTES);
      },
    },
    AbortSignal.any([signal, enough.signal]),
  );
  if (enough.signal.aborted) return;
  if (pending.length > 0) take(pending);
  if (signal.aborted) throw new ToolError("The search was cancelled.", "Cancelled");
  if (exit.ended === "timeout") {
    throw new ToolError(
      `The search took longer than ${TIMEOUT_MS / 1000} s; narrow it with path or glob.`,
      "ToolTimeout",
    );
  }
  // Exit code 2 with matches means that single files could not be read.
  if (exit.code !== 0 && exit.code !== 1 && records === 0) {
    throw new ToolError(errors.trim() || `ripgrep ended with ${exit.signal ?? `code ${exit.code}`}.`);
  }
}

/** Relative to where it runs, as ripgrep wants them; what is written there stands for itself, in whichever case. */
function hiddenGlobs({ files }: Pick<EffectPorts, "files">, cwd: string): string[] {
  const above = cwd === "." ? "" : `${cwd}/`;
  return (files.hidden ?? [])
    .filter((path) => path.toLowerCase().startsWith(above.toLowerCase()))
    .map((path) => `--iglob=!/${path.slice(above.length).replace(/[\\*?[\]{}!]/g, "\\$&")}`);
}
