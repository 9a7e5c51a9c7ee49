/** Checks values against schemas of others without being held up by them: in a worker, one after the other, within a time. */
import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { type Clock, createSerial, messageOf, visibleLine } from "#base";
import type { McpLog } from "./mcp-world.ts";
import type { CheckReply, CheckRequest } from "./schema-worker.ts";

/** Where the worker is bundled for tests that run the rest from its source; undefined otherwise. */
declare const HARNESS_SCHEMA_WORKER: string | undefined;

/** A check takes microseconds; whatever uses so much of a processor is an attack or a mistake. */
const MAX_CPU_MS = 1_000;
/** How often that is looked at, and when it is given up in any case: on a busy machine a thread may wait for its turn. */
const LOOK_MS = 1_000;
const MAX_LOOKS = 30;
/** A worker that has compiled so many schemas is replaced: they stay in its memory. */
const MAX_SCHEMAS = 2_000;
const MAX_WORKER_MB = 256;
const MAX_PROBLEM_CHARS = 500;

export interface SchemaCheck {
  /** What does not fit, one line each; empty: it fits. Never rejects. */
  check(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<readonly string[]>;
  close(): void;
}

interface RunningWorker {
  readonly worker: Worker;
  /** Schemas that it knows. */
  readonly keys: WeakMap<object, number>;
  schemas: number;
  /** The processor time that it had used when it last answered. */
  cpuMs: number;
  /** Settled by its next message or its end. */
  settle?: (reply: CheckReply | string) => void;
}

export function createSchemaCheck(clock: Clock, log: McpLog): SchemaCheck {
  const serial = createSerial();
  const tooSlow = new WeakSet<object>();
  let running: RunningWorker | undefined;

  function start(): RunningWorker {
    const worker = new Worker(workerFile(), { resourceLimits: { maxOldGenerationSizeMb: MAX_WORKER_MB }, env: {} });
    worker.unref();
    const started: RunningWorker = { worker, keys: new WeakMap(), schemas: 0, cpuMs: 0 };
    worker.on("message", (reply: CheckReply) => {
      started.cpuMs = reply.cpuMs;
      started.settle?.(reply);
    });
    worker.on("error", (error) => started.settle?.(`The check failed: ${messageOf(error)}.`));
    worker.on("exit", () => {
      if (running === started) running = undefined;
      started.settle?.("The check was stopped.");
    });
    return started;
  }

  function stop(): void {
    void running?.worker.terminate();
    running = undefined;
  }

  /** Undefined when it has used up its time. */
  async function withinItsTime(
    replied: Promise<CheckReply | string>,
    { worker, cpuMs }: RunningWorker,
  ): Promise<CheckReply | string | undefined> {
    let usedMs = 0;
    for (let looks = 0; looks < MAX_LOOKS && usedMs < MAX_CPU_MS; looks++) {
      const woken = new AbortController();
      const reply = await Promise.race([replied, clock.sleep(LOOK_MS, woken.signal)]);
      woken.abort();
      if (reply !== undefined) return reply;
      // Before Node 24.6 nobody can say: then the time on the clock counts.
      const usage = worker.cpuUsage?.() ?? Promise.resolve({ user: Number.POSITIVE_INFINITY, system: 0 });
      usage.then(
        ({ user, system }) => {
          usedMs = (user + system) / 1_000 - cpuMs;
        },
        () => undefined, // it has ended, which is a reply of its own
      );
    }
    return undefined;
  }

  async function ask(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<CheckReply | string> {
    if (running !== undefined && running.schemas >= MAX_SCHEMAS) stop();
    if (running === undefined) {
      running = start();
      // The time it takes to start is not the schema's fault.
      const online = Promise.withResolvers<CheckReply | string>();
      running.settle = online.resolve;
      const ready = await online.promise;
      if (typeof ready === "string") return ready;
    }
    const current = running;
    if (current === undefined) return "The check was stopped.";
    const known = current.keys.get(schema);
    const key = known ?? current.schemas++;
    current.keys.set(schema, key);
    const replied = Promise.withResolvers<CheckReply | string>();
    current.settle = replied.resolve;
    current.worker.postMessage({ key, value, ...(known === undefined && { schema }) } satisfies CheckRequest);
    const reply = await withinItsTime(replied.promise, current);
    if (reply !== undefined) return reply;
    tooSlow.add(schema);
    stop();
    return TOO_SLOW;
  }

  return {
    check: (schema, value) =>
      serial(async () => {
        if (tooSlow.has(schema)) return [TOO_SLOW];
        const reply = await ask(schema, value);
        if (typeof reply === "string") return [reply];
        for (const pattern of reply.leftOut) {
          log("warn", `a pattern of a schema is not checked: ${visibleLine(pattern.slice(0, MAX_PROBLEM_CHARS))}`);
        }
        return reply.problems.map((problem) => visibleLine(problem.slice(0, MAX_PROBLEM_CHARS)));
      }),
    close: stop,
  };
}

/** Beside this file, in the same form. */
function workerFile(): string {
  if (typeof HARNESS_SCHEMA_WORKER === "string") return HARNESS_SCHEMA_WORKER;
  return join(import.meta.dirname, `schema-worker${extname(import.meta.filename)}`);
}

const TOO_SLOW = "The schema of the tool takes too long to check.";
