/** `exec`: one program, without a shell, through the port that the gate has bound. */
import { type ProcessSpec, withoutCutEnd } from "#base";
import { dictOf, isAbsent, optionalNumber, optionalText, revealed, textOf, textsOf } from "../arguments.ts";
import { signalOf } from "../script-call.ts";
import { spanMs } from "../time-span.ts";
import { type Arguments, module, row, toolsOnly } from "./definition.ts";

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_STREAM_BYTES = 1024 * 1024;
const MAX_TIMEOUT_MS = 600_000;
/** What a program ended by a signal has instead of an exit code. */
const NO_EXIT_CODE = -1;

export const exec = module("exec", "Programs", toolsOnly, [
  row(
    "run(cmd, args?, stdin?, timeout_seconds?, env?, cwd?)",
    "dict",
    "`{stdout, stderr, exit_code, timed_out}`. An exit code other than 0 is not an error. An int as third argument is a time limit in milliseconds. A value of `env` may be a secret. Each stream is cut after 1 MiB.",
    { shown: 'cmd, args=[], stdin="", timeout_seconds=30, env=None, cwd=None', effect: true, toolClass: "mutating" },
  ).runs(async (args, call, host) => {
    const { processes } = call.parts;
    if (processes === undefined) throw new Error("only tools may run programs");
    const streams = { stdout: createKept(), stderr: createKept() };
    const spec = {
      ...specOf(args),
      onOutput: (name: "stdout" | "stderr", chunk: Buffer) => streams[name].add(chunk),
    };
    const exit = await processes.run(spec, signalOf(host));
    if (exit.ended === "cancelled") throw new Error(`${spec.file} was cancelled`);
    return {
      stdout: streams.stdout.text(),
      stderr: streams.stderr.text(),
      exit_code: exit.code ?? NO_EXIT_CODE,
      timed_out: exit.ended === "timeout",
    };
  }),
]);

function specOf(args: Arguments): ProcessSpec {
  const { stdin } = args;
  const limited = typeof stdin === "number";
  if (limited && !(stdin > 0)) throw new Error("a time limit must be above 0");
  const timeoutMs = limited
    ? Math.min(Math.ceil(stdin), MAX_TIMEOUT_MS)
    : spanMs(optionalNumber(args, "timeout_seconds"), DEFAULT_TIMEOUT_MS);
  const cwd = optionalText(args, "cwd");
  const env = Object.entries(dictOf(args, "env")).map(([name, value]) => [name, revealed(value, `env[${name}]`)]);
  return {
    file: textOf(args, "cmd"),
    args: textsOf(args, "args"),
    timeoutMs,
    ...(cwd !== undefined && { cwd }),
    ...(env.length > 0 && { env: Object.fromEntries(env) as Record<string, string> }),
    ...(!limited && !isAbsent(stdin) && stdin !== "" && { stdin: textOf(args, "stdin") }),
  };
}

/** The beginning of a stream; what comes after the bound is dropped, and said so. */
function createKept(): { add(chunk: Buffer): void; text(): string } {
  const chunks: Buffer[] = [];
  let kept = 0;
  let dropped = 0;
  return {
    add(chunk) {
      const part = chunk.subarray(0, MAX_STREAM_BYTES - kept);
      if (part.length > 0) chunks.push(part);
      kept += part.length;
      dropped += chunk.length - part.length;
    },
    text() {
      const text = Buffer.concat(chunks).toString("utf8");
      return dropped === 0 ? text : `${withoutCutEnd(text)}\n[… at least ${dropped} more bytes were left out]`;
    },
  };
}
