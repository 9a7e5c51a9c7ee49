/** `harness sessions export` and `import`: sessions leave the log and come back. */

import { closeSync, openSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { counted, errnoOf, messageOf } from "#base";
import { exportPieces, findSession, type StoreFlags, withStore } from "#program";
import { ReasonError } from "#protocol";
import { loadPortability } from "#stores";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import { mintLog } from "./sessions-write.ts";

/** One event of the largest size that the log takes, in JSON. */
const LINE_MAX_BYTES = 256 * 1024 * 1024;
const STDIN_MAX_BYTES = 256 * 1024 * 1024;
/** An export can hold whatever the session read. */
const FILE_MODE = 0o600;

export interface ExportFlags extends StoreFlags {
  readonly format: "jsonl" | "markdown";
  readonly output?: string;
}

export async function exportCommand(ports: CliPorts, name: string, flags: ExportFlags): Promise<ExitCode> {
  const { terminal, cwd } = ports;
  return withStore<ExitCode>(ports, flags, async (store) => {
    const meta = await findSession(store, name);
    const redactor = await ports.outward.load();
    const changed = new Set<string>();
    const pieces = exportPieces(store, meta, redactor, flags.format, changed);
    if (flags.output === undefined) {
      for await (const piece of pieces) terminal.out(piece);
      tellChanged(ports, changed);
      return 0;
    }
    const path = resolve(cwd, flags.output);
    const file = reach(path, () => openSync(path, "wx", FILE_MODE));
    try {
      for await (const piece of pieces) reach(path, () => writeWhole(file, piece));
    } finally {
      closeSync(file);
    }
    terminal.err(`${meta.id} is in ${path}.\n`);
    tellChanged(ports, changed);
    return 0;
  });
}

/** Secrets that nobody knew when the session ran. */
function tellChanged({ terminal }: CliPorts, changed: ReadonlySet<string>): void {
  if (changed.size === 0) return;
  terminal.err(
    `Left out, because Harness now treats it as a secret: content of events of the kind ${[...changed].join(", ")}. ` +
      "The log still holds it; harness sessions delete removes it.\n",
  );
}

export interface ImportFlags extends StoreFlags {
  readonly newId?: boolean;
  readonly json?: boolean;
}

export async function importCommand(ports: CliPorts, file: string, flags: ImportFlags): Promise<ExitCode> {
  const { terminal, cwd } = ports;
  const { importSession, readTextLines } = await loadPortability();
  const path = resolve(cwd, file);
  const piped = file === "-" ? splitLines(await terminal.readAll(STDIN_MAX_BYTES)) : undefined;
  const imported = await withStore(ports, flags, (store) =>
    importSession(store, {
      name: piped === undefined ? path : "standard input",
      lines: () => piped ?? fileLines(path, readTextLines(path, LINE_MAX_BYTES)),
      now: new Date(ports.clock.now()).toISOString(),
      ...(flags.newId === true ? { newLog: mintLog(ports) } : {}),
    }),
  );
  if (flags.json) {
    terminal.out(`${JSON.stringify(imported)}\n`);
    return 0;
  }
  const evidence = imported.evidence === "kept" ? "its evidence was checked" : "its evidence chain starts here";
  terminal.out(`${imported.session}\n`);
  terminal.err(`Imported ${counted(imported.events, "event")}; ${evidence}.\n`);
  return 0;
}

function splitLines(text: string): string[] {
  return text.replace(/\n$/, "").split("\n");
}

/** The lines of a file; what the system says about it becomes a message for a person. */
function* fileLines(path: string, lines: Generator<string>): Generator<string> {
  try {
    for (;;) {
      const line = reach(path, () => lines.next());
      if (line.done === true) return;
      yield line.value;
    }
  } finally {
    // The caller may stop after the first line; the file is closed all the same.
    lines.return(undefined);
  }
}

function writeWhole(file: number, text: string): void {
  const bytes = Buffer.from(text, "utf8");
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}

function reach<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const code = errnoOf(error);
    const why = code === "EEXIST" ? "it exists already" : messageOf(error);
    throw new ReasonError("UsageInvalid", `${path} cannot be used: ${why}.`, { cause: error });
  }
}
