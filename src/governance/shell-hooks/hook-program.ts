/** Runs the command of a hook to its end: within its deadline, with a bounded output, and with a receipt. */
import { createHash } from "node:crypto";
import type { ShellHook } from "#artifacts";
import { EffectError, type ProcessExit, type ProcessSpec } from "#base";
import { type HookCall, HookFailed, type HookRun, HookTimedOut } from "#engine";
import type { HookExit } from "./hook-answer.ts";

/** Between SIGTERM and SIGKILL. */
const TERM_GRACE_MS = 5_000;
/** Of each stream; what comes after is dropped. */
const MAX_OUTPUT_BYTES = 64 * 1024;
/** A hook that prints this much is stopped: it prints without an end. */
const MAX_PRINTED_BYTES = 64 * 1024 * 1024;
const CUT_MARK = "\n[cut after 64 KB]";

export interface RanHook {
  readonly exit: HookExit;
  readonly ran: HookRun;
}

/** Throws HookTimedOut, HookFailed for one that was stopped, and what the port throws. */
export async function runHookProgram(
  { command, timeoutMs }: Pick<ShellHook, "command" | "timeoutMs">,
  { ports, signal }: Pick<HookCall, "ports" | "signal">,
  given: Required<Pick<ProcessSpec, "stdin" | "env">>,
): Promise<RanHook> {
  const output = { stdout: createCapped(), stderr: createCapped() };
  const tooMuch = new AbortController();
  let printedBytes = 0;
  const spec = {
    args: ["-c", command],
    ...given,
    timeoutMs,
    termGraceMs: TERM_GRACE_MS,
    onOutput(stream: "stdout" | "stderr", chunk: Buffer) {
      printedBytes += chunk.length;
      if (printedBytes > MAX_PRINTED_BYTES) tooMuch.abort();
      else output[stream].add(chunk);
    },
  };
  const ended = await runShell(ports.processes, spec, AbortSignal.any([signal, tooMuch.signal]));
  const truncated = output.stdout.isFull || output.stderr.isFull;
  const ran = receipt(ended, [output.stdout.bytes(), output.stderr.bytes()], truncated);
  if (signal.aborted) throw new HookFailed("the turn was cancelled while it ran", ran);
  if (tooMuch.signal.aborted) throw new HookFailed("it was stopped because it printed more than 64 MiB", ran);
  if (ended.ended === "timeout") throw new HookTimedOut("the whole process group was ended", timeoutMs);
  const texts = { stdout: output.stdout.text(), stderr: output.stderr.text() };
  return { exit: { code: ended.code, signal: ended.signal, ...texts, truncated }, ran };
}

/** Bash, or the system's shell on a machine without it. */
async function runShell(
  processes: HookCall["ports"]["processes"],
  spec: Omit<ProcessSpec, "file">,
  signal: AbortSignal,
): Promise<ProcessExit> {
  try {
    return await processes.run({ file: "bash", ...spec }, signal);
  } catch (error) {
    if (!(error instanceof EffectError) || error.reason !== "NotFound") throw error;
    return processes.run({ file: "/bin/sh", ...spec }, signal);
  }
}

function receipt({ code, signal }: ProcessExit, output: readonly Buffer[], truncated: boolean): HookRun {
  const hash = createHash("sha256");
  for (const bytes of output) hash.update(`${bytes.length}:`).update(bytes);
  return { exitCode: code, signal, outputHash: hash.digest("hex"), ...(truncated && { truncated }) };
}

function createCapped() {
  const chunks: Buffer[] = [];
  let length = 0;
  let isFull = false;
  return {
    add(chunk: Buffer): void {
      const left = MAX_OUTPUT_BYTES - length;
      if (chunk.length > left) isFull = true;
      if (left <= 0) return;
      const kept = chunk.subarray(0, left);
      chunks.push(kept);
      length += kept.length;
    },
    get isFull() {
      return isFull;
    },
    bytes: (): Buffer => Buffer.concat(chunks),
    text: (): string => Buffer.concat(chunks).toString("utf8") + (isFull ? CUT_MARK : ""),
  };
}
