/** `exec`: one Bash command in its own process group. It judges nothing; what may run is the gate's business. */
import { type Clock, EffectError, type EffectPorts, objectSchema, type ProcessExit, type ProcessSpec } from "#base";
import { type ToolContext, ToolError, type ToolOutput, textOutput } from "#engine";
import { reasonText } from "#protocol";
import { flagArgument, optionalInteger, optionalText, textArgument } from "./arguments.ts";
import { createBoundedText } from "./bounded-text.ts";
import type { BuiltinTool } from "./facts.ts";
import { createProgressGatherer } from "./progress.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const BACKGROUND_TIMEOUT_MS = 60 * 60 * 1000;
const MAX_BACKGROUND_TIMEOUT_MS = 24 * 60 * 60 * 1000;
const MAX_TIMEOUT_MS = 600_000;
/** What ending the process group may take on top. */
const END_MARGIN_MS = 5_000;
const HEAD_CHARS = 20_000;
const TAIL_CHARS = 20_000;
/** Nobody reads as much: a program that prints more prints without an end. The reader has a lower limit of its own. */
const MAX_PRINTED_MIB = 256;
const MAX_PRINTED_BYTES = MAX_PRINTED_MIB * 1024 ** 2;
const NOTED_DURATION_MS = 1_000;

export const execFacts = {
  name: "exec",
  label: "Bash",
  class: "mutating",
  kind: "command",
  description:
    "Run a Bash command (no terminal or stdin; its children end with it). background: true: job id at once. " +
    "timeout_ms: 120000, at most 600000. " +
    "What only reads runs unasked: read-only, no network, 10 s. " +
    "ask: true asks the user instead; outside: true asks to run it unsandboxed, as the user.",
  parameters: objectSchema(
    {
      command: { type: "string" },
      timeout_ms: { type: "integer" },
      cwd: { type: "string" },
      ask: { type: "boolean" },
      outside: { type: "boolean" },
      background: { type: "boolean" },
    },
    ["command"],
  ),
  timeoutMs: MAX_TIMEOUT_MS + END_MARGIN_MS,
  subject: (args) => textArgument(args, "command"),
} as const satisfies Omit<BuiltinTool, "run">;

export function createExecTool(clock: Pick<Clock, "sleep">): BuiltinTool {
  return {
    ...execFacts,
    async run(args, context) {
      const command = textArgument(args, "command");
      const cwd = optionalText(args, "cwd") ?? ".";
      const isBeside = flagArgument(args, "background");
      const [usualMs, maxMs] = isBeside
        ? [BACKGROUND_TIMEOUT_MS, MAX_BACKGROUND_TIMEOUT_MS]
        : [DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS];
      const timeoutMs = Math.min(optionalInteger(args, "timeout_ms", 1) ?? usualMs, maxMs);
      if ((await context.ports.files.stat(cwd))?.kind !== "directory")
        throw new ToolError(`${cwd} is not a directory.`);
      if (isBeside) return startBeside(context, { command, cwd, timeoutMs });
      const output = createBoundedText({ headChars: HEAD_CHARS, tailChars: TAIL_CHARS });
      const progress = createProgressGatherer((text) => context.progress(text), clock);
      const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
      const take = (text: string) => {
        output.add(text);
        progress.add(text);
      };
      const tooMuch = new AbortController();
      let printedBytes = 0;
      const onOutput: ProcessSpec["onOutput"] = (stream, chunk) => {
        printedBytes += chunk.length;
        if (printedBytes > MAX_PRINTED_BYTES) tooMuch.abort();
        else take(decoders[stream].decode(chunk, { stream: true }));
      };
      try {
        const signal = AbortSignal.any([context.signal, tooMuch.signal]);
        const exit = await runShell(context, { args: ["-c", command], cwd, timeoutMs, onOutput }, signal);
        take(decoders.stdout.decode() + decoders.stderr.decode());
        const isLoud = tooMuch.signal.aborted && !context.signal.aborted && exit.ended === "cancelled";
        return outcome(isLoud ? { ...exit, ended: "output" } : exit, output.text(), timeoutMs, context);
      } finally {
        progress.close();
      }
    },
  };
}

async function startBeside(
  context: ToolContext,
  { command, cwd, timeoutMs }: { readonly command: string; readonly cwd: string; readonly timeoutMs: number },
): Promise<ToolOutput> {
  const job = await context.background({
    command,
    timeoutMs,
    run: ({ signal, started: onStarted, output: onOutput }) =>
      runShell(context, { args: ["-c", command], cwd, timeoutMs, onStarted, onOutput }, signal),
  });
  return textOutput(
    `${job} runs in the background. You read a note when it has ended; job.read shows what it prints, job.stop ends it.`,
  );
}

/** Bash, or the system's shell on a machine without it. */
async function runShell(
  context: ToolContext,
  spec: Omit<ProcessSpec, "file">,
  signal: AbortSignal,
): Promise<ProcessExit> {
  const { processes }: EffectPorts = context.ports;
  try {
    return await processes.run({ file: "bash", ...spec }, signal);
  } catch (error) {
    // The working directory is known to exist, so what was not found is the program.
    if (!(error instanceof EffectError) || error.reason !== "NotFound") throw error;
    return processes.run({ file: "/bin/sh", ...spec }, signal);
  }
}

function outcome(exit: ProcessExit, output: string, timeoutMs: number, context: ToolContext): ToolOutput {
  const duration = `${(exit.durationMs / 1000).toFixed(1)} s`;
  if (exit.ended === "cancelled") {
    const values = { duration, list: "harness undo --dry-run names them, unless undo is off", id: context.session };
    const text = reasonText("BashCancelledMidCommand", values);
    throw new ToolError(output === "" ? text : `${text}\nOutput so far:\n${output}`, "BashCancelledMidCommand");
  }
  const notes: string[] = [];
  if (exit.ended === "timeout") {
    notes.push(`timed out after ${exit.timeoutMs ?? timeoutMs} ms; the process group was killed`);
    if (exit.timeoutMs === undefined && timeoutMs < MAX_TIMEOUT_MS)
      notes.push(`timeout_ms may be up to ${MAX_TIMEOUT_MS}`);
  } else if (exit.ended === "output") {
    const limit = exit.timeoutMs === undefined ? `more than ${MAX_PRINTED_MIB} MiB` : "too much";
    notes.push(`ended because it printed ${limit}; filter it, or send it into a file`);
  } else if (exit.signal !== null) notes.push(`ended by ${exit.signal}`);
  else if (exit.code !== 0) notes.push(`exit code ${exit.code}`);
  const isError = notes.length > 0;
  if (exit.durationMs > NOTED_DURATION_MS) notes.push(`took ${duration}`);
  if (exit.note !== undefined) notes.push(exit.note);
  const body = output === "" ? "(no output)" : output.replace(/\n$/, "");
  const text = notes.length === 0 ? body : `${body}\n[${notes.join("; ")}]`;
  if (exit.ended === "timeout") throw new ToolError(text, "ToolTimeout");
  return { content: [{ type: "text", text }], isError };
}
