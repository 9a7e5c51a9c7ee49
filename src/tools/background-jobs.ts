/**
 * The background commands of one session: started by an allowed call, listed, read, waited for and stopped. Each has an intent in the
 * log before it runs and a record of its end. It runs nothing itself: what runs comes from the tool, on the ports of its call.
 */
import { createHash, type Hash } from "node:crypto";
import { type Clock, defined, EffectError, messageOf, type ProcessExit } from "#base";
import { type BackgroundWork, type EventBus, type Redaction, type ToolCall, ToolError } from "#engine";
import type { ClientId, EventPayload, IdMint, JobId } from "#protocol";
import { createPrintedText, type PrintedText } from "./printed-text.ts";
import { createProgressGatherer } from "./progress.ts";

export const MAX_RUNNING_JOBS = 8;
/** Ended ones whose output can still be read; the oldest is forgotten first. */
const MAX_ENDED_JOBS = 16;
const COMMAND_CHARS = 2_000;
/** More is no output that anybody reads: the command is ended. */
const MAX_PRINTED_MIB = 256;

export type EndedJob = EventPayload<"JobEnded">;

export interface Job {
  readonly id: JobId;
  readonly command: string;
  readonly startedMs: number;
  readonly printedBytes: number;
  readonly isKept: boolean;
  /** Absent while it runs. */
  readonly end?: EndedJob;
  read: PrintedText["read"];
  /** Resolves when its end is on the record, or when the log has refused it. */
  readonly over: Promise<void>;
}

export interface BackgroundJobs {
  /** Resolves when the command runs. Rejects with why it does not. */
  start(call: ToolCall, work: BackgroundWork): Promise<JobId>;
  /** Those that run, and those that ended last, in the order in which they were started. */
  list(): readonly Job[];
  /** Stops it and resolves when that is on the record; nothing for one that has ended. */
  stop(job: JobId, detail: string): Promise<void>;
  /** Resolves when all have ended; none can be started from then on. */
  stopAll(detail: string): Promise<void>;
  keep(job: JobId, by: ClientId): Promise<void>;
  readonly running: number;
  /** Those that keep the session open. */
  readonly kept: number;
  /** One of them may write to the workspace. */
  readonly mayWrite: boolean;
}

export interface BackgroundJobsOptions {
  readonly bus: Pick<EventBus, "publish" | "publishDelta">;
  readonly redaction: Pick<Redaction, "stream">;
  readonly clock: Clock;
  readonly ids: Pick<IdMint, "job">;
  /** The turn and the step that run now. */
  readonly now: () => { readonly turn?: EndedJob["turn"]; readonly step?: number };
}

interface RunningJob extends Job {
  printedBytes: number;
  isKept: boolean;
  end?: EndedJob;
  readonly call: ToolCall;
  readonly stop: AbortController;
  readonly printed: PrintedText;
  readonly hash: Hash;
}

export function createBackgroundJobs({ bus, redaction, clock, ids, now }: BackgroundJobsOptions): BackgroundJobs {
  const jobs = new Map<JobId, RunningJob>();
  let isOver = false;
  const runningJobs = (): RunningJob[] => [...jobs.values()].filter(({ end }) => end === undefined);

  function redacted(text: string): string {
    const stream = redaction.stream();
    return stream.push(text) + stream.flush();
  }

  async function start(call: ToolCall, work: BackgroundWork): Promise<JobId> {
    if (isOver) throw new ToolError("The session is about to end: no background command can be started.");
    if (runningJobs().length >= MAX_RUNNING_JOBS) {
      throw new ToolError(
        `${MAX_RUNNING_JOBS} background commands run already. Stop one with job.stop, or wait for one to end.`,
      );
    }
    const over = Promise.withResolvers<void>();
    const printed = createPrintedText(() => redaction.stream());
    const job: RunningJob = {
      ...{ id: ids.job(), call, printed, read: printed.read, over: over.promise, hash: createHash("sha256") },
      // Redacted before it is cut: half a secret is known by nobody.
      ...{ command: redacted(work.command).slice(0, COMMAND_CHARS), startedMs: clock.monotonicMs() },
      stop: new AbortController(),
      ...{ printedBytes: 0, isKept: false },
    };
    // Counted before anything is waited for: calls that run side by side cannot pass the limit together.
    jobs.set(job.id, job);
    forgetOldest();
    const confinement = call.judged?.confinement;
    const begun = { turn: call.turn, call_id: call.id, job: job.id, command: job.command, timeout_ms: work.timeoutMs };
    try {
      await bus.publish("JobStarted", { ...begun, ...defined({ confinement }) });
    } catch (error) {
      jobs.delete(job.id);
      over.resolve();
      throw error;
    }
    const started = Promise.withResolvers<void>();
    // Until it runs it is part of the call.
    const cancel = (): void => job.stop.abort();
    call.signal.addEventListener("abort", cancel, { once: true });
    if (call.signal.aborted) cancel();
    const ended = follow(job, work, started.resolve).finally(over.resolve);
    ended.then(() => started.resolve(), started.reject);
    try {
      await started.promise;
      if (call.beside !== undefined) call.beside.isOn = true;
    } finally {
      call.signal.removeEventListener("abort", cancel);
    }
    return job.id;
  }

  /** Rejects where the command could not be run at all, once that is on the record. */
  async function follow(job: RunningJob, work: BackgroundWork, started: () => void): Promise<void> {
    const { call, id, stop } = job;
    const report = (text: string): void =>
      bus.publishDelta({ kind: "JobOutput", payload: { call_id: call.id, job: id, text } });
    const progress = createProgressGatherer(report, clock);
    const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
    const take = (text: string): void => {
      job.printed.add(text);
      progress.add(text);
    };
    let isLoud = false;
    let exit: ProcessExit | undefined;
    let failure: unknown;
    try {
      exit = await work.run({
        signal: stop.signal,
        started,
        output(stream, chunk) {
          job.printedBytes += chunk.length;
          if (isLoud) return;
          isLoud = job.printedBytes > MAX_PRINTED_MIB * 1024 ** 2;
          if (isLoud) return stop.abort();
          job.hash.update(chunk);
          take(decoders[stream].decode(chunk, { stream: true }));
        },
      });
      take(decoders.stdout.decode() + decoders.stderr.decode());
      job.printed.end();
    } catch (error) {
      failure = error;
    }
    progress.close();
    if (call.beside !== undefined) call.beside.isOver = true;
    // What it changed is on record before its end is.
    await call.beside?.onEnd().catch((error: unknown) => {
      failure ??= error;
    });
    const isStopped = stop.signal.aborted && !isLoud;
    const how =
      failure === undefined || isStopped
        ? howItEnded(exit, isLoud)
        : { status: "failed" as const, detail: messageOf(failure) };
    const { turn, step } = now();
    job.end = {
      ...{ call_id: call.id, job: id, ...defined({ turn, step }), ...how },
      ...defined({ detail: how.detail ?? reasonOf(stop.signal) }),
      duration_ms: Math.round(clock.monotonicMs() - job.startedMs),
      printed_bytes: job.printedBytes,
      output_hash: job.hash.digest("hex"),
    };
    await bus.publish("JobEnded", job.end);
    if (failure !== undefined)
      throw failure instanceof EffectError || failure instanceof ToolError
        ? failure
        : new ToolError(messageOf(failure));
  }

  function forgetOldest(): void {
    const ended = [...jobs.values()].filter(({ end }) => end !== undefined);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED_JOBS))) jobs.delete(id);
  }

  async function stop(id: JobId, detail: string): Promise<void> {
    const job = jobs.get(id);
    job?.stop.abort(detail);
    await job?.over;
  }

  return {
    start,
    stop,
    list: () => [...jobs.values()],
    async stopAll(detail) {
      isOver = true;
      await Promise.all(runningJobs().map(({ id }) => stop(id, detail)));
    },
    async keep(id, by) {
      const job = jobs.get(id);
      if (job === undefined || job.end !== undefined) return;
      await bus.publish("JobKept", { job: id, by });
      job.isKept = true;
    },
    get running() {
      return runningJobs().length;
    },
    get kept() {
      return runningJobs().filter(({ isKept }) => isKept).length;
    },
    get mayWrite() {
      return runningJobs().some(({ call }) => call.judged?.confinement !== "reader");
    },
  };
}

function howItEnded(
  exit: ProcessExit | undefined,
  isLoud: boolean,
): Pick<EndedJob, "status" | "exit_code" | "signal" | "detail"> {
  const { ended, code, signal, note: detail } = exit ?? { ended: "cancelled", code: null, signal: null };
  if (isLoud) return { status: "output", detail: `more than ${MAX_PRINTED_MIB} MiB` };
  if (ended === "cancelled") return { status: "stopped", ...defined({ detail }) };
  const status = ended === "exit" ? "exited" : ended;
  return { status, ...defined({ exit_code: code ?? undefined, signal: signal ?? undefined, detail }) };
}

/** What `stop` was told. */
function reasonOf({ reason }: AbortSignal): string | undefined {
  return typeof reason === "string" ? reason : undefined;
}
