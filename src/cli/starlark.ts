/** `harness starlark`: runs a file, or lets you try the language line by line. Loads are relative to the loading file. */

import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { defined, messageOf, visibleLines } from "#base";
import { ReasonError } from "#protocol";
import { compile, createSession, jsonModule, type Program, StarlarkError, structBuiltin } from "#starlark";
import type { CliPorts } from "./cli-ports.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";

const MAX_SOURCE_BYTES = 10 * 1024 * 1024;
const predeclared = { json: jsonModule, struct: structBuiltin };

export interface StarlarkFlags {
  readonly recursion?: boolean;
  readonly while?: boolean;
  readonly topLevelControl?: boolean;
  readonly globalReassign?: boolean;
  readonly maxSteps?: number;
  readonly timeoutMs?: number;
}

export async function starlarkCommand(
  ports: CliPorts,
  file: string | undefined,
  flags: StarlarkFlags,
): Promise<ExitCode> {
  const { terminal } = ports;
  const dialect = {
    recursion: flags.recursion === true,
    while: flags.while === true,
    topLevelControl: flags.topLevelControl === true,
    globalReassign: flags.globalReassign === true,
  };
  const limits = {
    print: (line: string) => terminal.out(`${visibleLines(line)}\n`),
    ...defined({ maxSteps: flags.maxSteps, timeoutMs: flags.timeoutMs }),
  };
  if (file === undefined && terminal.interactive) return repl(terminal, dialect, limits);
  const path = file === undefined || file === "-" ? undefined : resolve(ports.cwd, file);
  const source = path === undefined ? await terminal.readAll(MAX_SOURCE_BYTES) : await readSource(path);
  const load = async (module: string, from: Program): Promise<Program> => {
    const target = resolve(dirname(from.file), module);
    return compile(await readSource(target), target, { predeclared, dialect, load });
  };
  try {
    await compile(source, path ?? "<stdin>", { predeclared, dialect, load }).init(limits);
    return 0;
  } catch (error) {
    return report(terminal, error);
  }
}

async function repl(terminal: Terminal, dialect: Readonly<Record<string, boolean>>, limits: object): Promise<ExitCode> {
  const session = createSession({ predeclared, dialect: { ...dialect, topLevelControl: true, globalReassign: true } });
  const left = new AbortController();
  let text = "";
  for (;;) {
    const line = await terminal.readLine(text === "" ? ">>> " : "... ", left.signal);
    if (line.kind === "end") return 0;
    if (line.kind === "interrupted") {
      if (text === "") return 130;
      text = "";
      continue;
    }
    text += `${line.text}\n`;
    // A block goes on until an empty line, as everywhere.
    const inBlock = text.trimEnd().includes("\n") || /:\s*(?:#.*)?$/.test(text.trimEnd());
    if (session.isIncomplete(text) || (inBlock && line.text.trim() !== "")) continue;
    const piece = text;
    text = "";
    if (piece.trim() === "") continue;
    try {
      const shown = await session.run(piece, limits);
      if (shown !== null) terminal.out(`${visibleLines(shown)}\n`);
    } catch (error) {
      report(terminal, error);
    }
  }
}

function report(terminal: Terminal, error: unknown): ExitCode {
  if (!(error instanceof StarlarkError)) throw error;
  terminal.err(`${visibleLines(error.backtrace())}\n`);
  return 1;
}

async function readSource(path: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const why = messageOf(error);
    throw new ReasonError("UsageInvalid", `cannot read ${path}: ${why}`);
  }
  if (text.length > MAX_SOURCE_BYTES) {
    throw new ReasonError("UsageInvalid", `${path} is larger than ${MAX_SOURCE_BYTES} bytes`);
  }
  return text;
}
