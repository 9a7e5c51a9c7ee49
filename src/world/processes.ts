/**
 * The one place that starts programs: for tools, each in its own process group, with an allowlisted environment and no
 * terminal. When this process exits, running groups are killed; when it is itself killed with SIGKILL nothing can run
 * here: the kernel ends what runs in a sandbox, and the reaper what was about to, and programs that run beside the turns or are spoken to.
 */
import type { ChildProcess, SpawnOptions } from "node:child_process";
import { closeSync, statSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import {
  type Clock,
  EffectError,
  errnoOf,
  fileError,
  messageOf,
  type ProcessExit,
  type ProcessPort,
  type ProcessSpec,
} from "#base";
import { childEnvironment, SYSTEM_PATH } from "./child-environment.ts";
import { coveredDescriptors } from "./inherited-descriptors.ts";
import { GATE_DESCRIPTOR, openGate, type ProcessGate } from "./process-gate.ts";
import { createProcessGroup, MARK_NAME, type ProcessGroup } from "./process-group.ts";
import { type MonitorStatus, openInput, openMonitorStatus } from "./process-monitor.ts";
import { type Reaper, startReaper } from "./process-reaper.ts";
import { createSystemClock, createSystemRandom } from "./system.ts";
import { resolveInWorkspace } from "./workspace-path.ts";

/**
 * Of all ports of this process, because there is one exit: a listener for each session would be one more on the same emitter
 * for every session with a running command.
 */
const running = new Set<ProcessGroup>();

/** In the place of the monitor's descriptor and of the gate. */
const NONE = ["ignore", "ignore"] as const;

/** How long leftovers of a finished program may keep its group and its pipes. */
const LEFTOVER_GRACE_MS = 100;

export interface ProcessesOptions {
  /** The workspace; a working directory must be inside it. */
  readonly root: string;
  /** Where the allowlisted variables are taken from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: that of the system. */
  readonly clock?: Clock;
}

export function createProcesses(options: ProcessesOptions): ProcessPort {
  const { clock = createSystemClock() } = options;

  return {
    async run(spec, signal) {
      const cwd = await workingDirectory(options.root, spec);
      if (signal.aborted) return { code: null, signal: null, ended: "cancelled", durationMs: 0 };
      const startedMs = clock.monotonicMs();
      const isReaped = spec.monitor === true || spec.onStdin !== undefined || spec.onStarted !== undefined;
      const mark = `${isReaped ? await reapedMark(clock) : ""}${randomMark()}`;
      const monitor = spec.monitor ? openMonitorStatus(mark) : undefined;
      let group: ProcessGroup | undefined;
      let gate: ProcessGate | undefined;
      const inputs: number[] = [];
      try {
        for (const content of spec.inputs ?? []) inputs.push(openInput(`${mark}-${inputs.length}`, content));
        const env = childEnvironment(options.env, options.root, { ...spec.env, [MARK_NAME]: mark });
        const child = await start(spec, cwd, env, [
          ...(monitor ? [monitor.descriptor, "pipe" as const] : NONE),
          ...inputs,
        ]);
        // `start` resolves only after the spawn event, which comes with a pid.
        const pid = child.pid as number;
        group = createProcessGroup(pid, mark, clock, monitor);
        track(group);
        if (monitor !== undefined) {
          // A pipe to a child is a socket: it goes both ways.
          const isReady = () => monitor.isBoundTo(pid) && isAdmitted(spec, monitor);
          gate = openGate(child.stdio[GATE_DESCRIPTOR] as Socket, isReady, clock);
        }
        spec.onStarted?.();
        const exit = await supervise(child, { group, gate }, spec, signal, clock);
        const hasRun = monitor === undefined || (monitor.exitCode() !== undefined && gate?.refused() === false);
        if (exit.ended === "exit" && exit.signal === null && !hasRun) {
          throw new EffectError("SpawnFailed", `${spec.file} could not set up the sandbox; the command did not run`);
        }
        return { ...exit, durationMs: Math.round(clock.monotonicMs() - startedMs) };
      } finally {
        gate?.close();
        if (group !== undefined) untrack(group);
        monitor?.close();
        for (const descriptor of inputs) closeSync(descriptor);
      }
    },
  };
}

/** Whoever waits at the gate is known, and `onWaiting` and `onMade` have seen it. */
function isAdmitted({ onWaiting, onMade }: ProcessSpec, monitor: MonitorStatus): boolean {
  const first = onMade && monitor.first();
  const waiting = onWaiting && monitor.waiting();
  if ((onMade && first === undefined) || (onWaiting && waiting === undefined)) return false;
  if (first !== undefined) onMade?.(first);
  if (waiting !== undefined) onWaiting?.(waiting);
  return true;
}

export interface OwnProcess {
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The end of what it wrote to standard error, for messages. */
  errors(): string;
  /** Keeps this process alive until the returned function is called: for somebody who waits for an answer. */
  awaitAnswer(): () => void;
  kill(): void;
}

/** A message about a program that failed needs no more of what it wrote. */
const MAX_ERROR_CHARS = 2_000;
/** How long the end of a process waits for what it wrote to standard error. */
const LAST_WORDS_MS = 500;

/**
 * Starts a part of this program as a process of its own, on the Node that runs us. Not for tools: it gets exactly `env`, no
 * terminal, and a group of its own, so that Ctrl-C does not reach it. Nothing of it keeps us alive.
 */
export function startOwnProcess(
  options: {
    readonly file: string;
    readonly nodeFlags: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  },
  onEnd: () => void,
): OwnProcess {
  const args = [...options.nodeFlags, options.file];
  const started = startPiped({ program: process.execPath, args, cwd: "/", env: options.env }, onEnd);
  for (const stream of [started.stdin, started.stdout]) (stream as Socket).unref();
  return started;
}

/**
 * Starts a program that speaks a protocol on its pipes, for whoever drives it: not for tools, it gets exactly `env`. It keeps us
 * alive until its output has ended.
 */
export function startPiped(
  options: {
    readonly program: string;
    readonly args: readonly string[];
    readonly cwd: string;
    readonly env: Readonly<Record<string, string | undefined>>;
  },
  /** Its exit code; null when a signal ended it, or it could not be started: `errors` says why. What it printed may still come. */
  onEnd: (code: number | null) => void,
): OwnProcess {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(options.program, options.args, {
    cwd: options.cwd,
    env: { ...options.env },
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
  });
  let errors = "";
  let waiting = 0;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-MAX_ERROR_CHARS);
  });
  let ended = false;
  const end = (code: number | null): void => {
    if (ended) return;
    ended = true;
    onEnd(code);
  };
  // What it wrote last may still be in the pipe, which something that it left behind can keep open.
  child.once("exit", (code) => {
    if (child.stderr.readableEnded) return end(code);
    child.stderr.once("end", () => end(code));
    setTimeout(() => end(code), LAST_WORDS_MS).unref();
  });
  child.once("error", (error) => {
    errors ||= error.message;
    end(null);
  });
  // A process that died closes its pipes first; that it died is told by `exit`.
  child.stdin.on("error", () => undefined);
  child.unref();
  (child.stderr as Socket).unref();
  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    errors: () => errors,
    awaitAnswer() {
      const output = child.stdout as Socket; // pipes of a child are sockets
      waiting += 1;
      output.ref();
      return () => {
        waiting -= 1;
        if (waiting === 0) output.unref();
      };
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

/** Sandboxes that run for a session rather than for a command; of this process, like `running`. */
let reapedSandboxes = 0;

/**
 * Like `startPiped`, for a sandbox that runs for a session: should this process be killed while the sandbox is being made, the reaper
 * ends it. Nothing of it keeps us alive.
 */
export async function startReaped(...[options, onEnd]: Parameters<typeof startPiped>): Promise<OwnProcess> {
  const mark = await reapedMark(createSystemClock());
  const started = startPiped({ ...options, env: { ...options.env, [MARK_NAME]: mark } }, (code) => {
    reapedSandboxes -= 1;
    onEnd(code);
  });
  reapedSandboxes += 1;
  for (const stream of [started.stdin, started.stdout]) (stream as Socket).unref();
  return started;
}

/** Of this process, like `running`: it waits for its end. Started with the first command in a sandbox. */
let reaper: { readonly mark: string; readonly shell: Reaper } | undefined;

/** What the marks of all commands begin with that the reaper ends; it waits by then. */
async function reapedMark(clock: Clock): Promise<string> {
  if (reaper === undefined) {
    const mark = randomMark();
    const shell = startReaper(
      `${MARK_NAME}=${mark}`,
      startShell,
      () => {
        if (reaper?.mark !== mark) return;
        reaper = undefined;
        process.off("exit", dismissReaper);
      },
      clock,
    );
    reaper = { mark, shell };
    process.on("exit", dismissReaper);
  }
  const { mark, shell } = reaper;
  await shell.ready();
  return mark;
}

/** In an orderly end there is nobody for it to end, unless a command or a sandbox is still there. */
function dismissReaper(): void {
  if (running.size === 0 && reapedSandboxes === 0) reaper?.shell.dismiss();
}

function startShell(options: { readonly program: string; readonly args: readonly string[] }, onEnd: () => void) {
  const started = startPiped({ ...options, cwd: "/", env: { PATH: SYSTEM_PATH } }, onEnd);
  for (const stream of [started.stdin, started.stdout]) (stream as Socket).unref();
  return started;
}

function randomMark(): string {
  return Buffer.from(createSystemRandom().bytes(16)).toString("hex");
}

function killAll(): void {
  for (const group of running) group.kill("SIGKILL");
}

function track(group: ProcessGroup): void {
  if (running.size === 0) process.on("exit", killAll);
  running.add(group);
}

function untrack(group: ProcessGroup): void {
  running.delete(group);
  if (running.size === 0) process.off("exit", killAll);
}

/**
 * Runs a program of the system to its end while this process does nothing else: for the key without which nothing can begin. What
 * it prints is the result, or why there is none.
 */
export function runAndWait(options: {
  readonly file: string;
  readonly args: readonly string[];
  readonly stdin?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What it is given besides the allowlisted variables of `env`. */
  readonly added: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}): { readonly out: Buffer } | { readonly problem: string } {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { file, args, stdin = "", timeoutMs } = options;
  const { error, status, signal, stdout, stderr } = spawnSync(file, [...args], {
    cwd: "/",
    env: childEnvironment(options.env, process.cwd(), options.added),
    input: stdin,
    timeout: timeoutMs,
    maxBuffer: options.maxBytes,
    stdio: ["pipe", "pipe", "pipe", ...coveredDescriptors()],
    windowsHide: true,
  });
  if (error !== undefined) {
    if (errnoOf(error) === "ETIMEDOUT") return { problem: `${file} did not end within ${timeoutMs} ms` };
    return { problem: errnoOf(error) === "ENOENT" ? `the program ${file} does not exist` : messageOf(error) };
  }
  if (status === 0) return { out: stdout };
  const said = stderr.toString("utf8").trim().split("\n")[0] ?? "";
  return { problem: `${file} ended with ${status ?? signal}${said === "" ? "" : `: ${said}`}` };
}

/**
 * Runs a program of the person's own on this terminal, which it has until it ends: their editor. Resolves to its exit code; null when
 * a signal ended it. Rejects when it could not be started.
 */
export function runOnTerminal(options: {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}): Promise<number | null> {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const { program, args, cwd, env } = options;
  const child = spawn(program, args, {
    cwd,
    env: { ...env },
    stdio: ["inherit", "inherit", "inherit", ...coveredDescriptors()],
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code));
  });
}

export interface DetachedProcess {
  readonly pid: number | undefined;
  /** Undefined while it runs; null when a signal ended it or it could not be started. */
  ended(): { readonly code: number | null } | undefined;
}

/**
 * Starts this program once more, to outlive us: a session of its own, no terminal, no input, what it prints in a file. It gets
 * exactly `env`. Nothing of it keeps us alive.
 */
export function startDetached(options: {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Open for writing; closed by whoever opened it. */
  readonly output: number;
}): DetachedProcess {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(process.execPath, [options.file, ...options.args], {
    cwd: options.cwd,
    env: { ...options.env },
    detached: true,
    stdio: ["ignore", options.output, options.output, ...coveredDescriptors()],
    windowsHide: true,
  });
  let ended: { readonly code: number | null } | undefined;
  child.once("exit", (code) => {
    ended = { code };
  });
  child.once("error", () => {
    ended ??= { code: null };
  });
  child.unref();
  return { pid: child.pid, ended: () => ended };
}

async function workingDirectory(
  root: string,
  { cwd = ".", ownProgram }: Pick<ProcessSpec, "cwd" | "ownProgram">,
): Promise<string> {
  try {
    const real = await resolveInWorkspace(root, cwd);
    if (ownProgram && real !== cwd) {
      throw new EffectError("OutsideWorkspace", `${cwd} was swapped for a symbolic link before a program began in it`);
    }
    const path = join(root, real);
    if (!statSync(path).isDirectory()) throw new EffectError("NotADirectory", `${cwd} is not a directory`);
    return path;
  } catch (error) {
    throw fileError(error, cwd);
  }
}

function start(
  spec: ProcessSpec,
  cwd: string,
  env: Record<string, string>,
  own: readonly (number | "pipe" | "ignore")[],
): Promise<ChildProcess> {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const options: SpawnOptions = {
    cwd,
    env,
    detached: true,
    stdio: [
      spec.stdin === undefined && spec.onStdin === undefined ? "ignore" : "pipe",
      "pipe",
      "pipe",
      ...own,
      ...coveredDescriptors().slice(own.length),
    ],
    windowsHide: true,
  };
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown) => {
      const missing = errnoOf(error) === "ENOENT";
      const detail = messageOf(error);
      const message = missing ? `the program ${spec.file} does not exist` : `${spec.file} did not start: ${detail}`;
      reject(new EffectError(missing ? "NotFound" : "SpawnFailed", message, { cause: error }));
    };
    try {
      const child = spawn(spec.file, [...spec.args], options);
      child.once("error", refuse);
      child.once("spawn", () => resolve(child));
    } catch (error) {
      refuse(error);
    }
  });
}

/** From start to the moment when the group is gone and its pipes are closed, whichever way it ends. Bounded. */
async function supervise(
  child: ChildProcess,
  { group, gate }: { readonly group: ProcessGroup; readonly gate: ProcessGate | undefined },
  spec: ProcessSpec,
  signal: AbortSignal,
  clock: Clock,
): Promise<Omit<ProcessExit, "durationMs">> {
  const exited = new Promise<"exit">((resolve) => child.once("exit", () => resolve("exit")));
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const over = new AbortController();
  let failure: unknown;
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.on("data", (chunk: Buffer) => {
      try {
        if (failure === undefined) spec.onOutput?.(stream, chunk);
      } catch (error) {
        failure = error;
        over.abort();
      }
    });
  }
  // A program that does not read its input closes the pipe early; that is its right.
  const stdin = child.stdin?.on("error", () => undefined);
  if (spec.onStdin === undefined) stdin?.end(spec.stdin);
  else spec.onStdin({ write: (text) => void stdin?.write(text), end: () => void stdin?.end() });

  const stop = AbortSignal.any([signal, over.signal]);
  const first = await Promise.race([exited, clock.sleep(spec.timeoutMs, stop).then(() => "stopped" as const)]);
  over.abort();
  // Without its monitor, or after a stop, nobody begins any more.
  gate?.close();
  if (first === "exit") await within(closed, clock);
  // A program that ended may leave a daemon that it detached on purpose; one that was stopped may not.
  if (first !== "exit" || !(await group.gone(LEFTOVER_GRACE_MS))) {
    const { termGraceMs } = spec;
    await group.end({ strays: first !== "exit", ...(first === "exit" ? {} : { termGraceMs }) });
  }
  await within(closed, clock);
  // Whoever still holds the other end has left the group; we do not wait for it.
  child.stdout?.destroy();
  child.stderr?.destroy();

  if (failure !== undefined) {
    throw new EffectError("SpawnFailed", `the output of ${spec.file} could not be read`, { cause: failure });
  }
  const ended = first === "exit" ? "exit" : signal.aborted ? "cancelled" : "timeout";
  return { code: child.exitCode, signal: child.signalCode, ended };
}

async function within(done: Promise<void>, clock: Clock): Promise<void> {
  const over = new AbortController();
  await Promise.race([done, clock.sleep(LEFTOVER_GRACE_MS, over.signal)]);
  over.abort();
}
