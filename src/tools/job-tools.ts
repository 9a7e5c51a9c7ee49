/** `job.read` and `job.stop`: the model's hold on its background commands. The commands themselves were judged when they were started. */
import { type Clock, objectSchema } from "#base";
import { type Tool, type ToolContext, ToolError, textOutput } from "#engine";
import { howItEnded } from "#protocol";
import { optionalInteger, optionalText, textArgument } from "./arguments.ts";
import type { BackgroundJobs, Job } from "./background-jobs.ts";
import type { ToolFacts } from "./facts.ts";
import { jobFacts } from "./job-facts.ts";

const READ_CHARS = 20_000;
export const MAX_WAIT_MS = 600_000;
const WAIT_MARGIN_MS = 5_000;
const SHOWN_COMMAND_CHARS = 200;

export function createJobTools(
  jobs: BackgroundJobs,
  clock: Pick<Clock, "sleep" | "monotonicMs">,
): readonly (Tool & ToolFacts)[] {
  /** Where the model has read up to. */
  const cursors = new Map<string, number>();

  function find(args: Readonly<Record<string, unknown>>): Job {
    const id = textArgument(args, "job");
    const job = jobs.list().find((one) => one.id === id);
    if (job !== undefined) return job;
    const known = jobs.list().map((one) => one.id);
    throw new ToolError(`There is no background command ${id.slice(0, 100)}. Known: ${known.join(", ") || "none"}.`);
  }

  async function waitFor(job: Job, waitMs: number, { signal }: ToolContext): Promise<void> {
    const over = new AbortController();
    await Promise.race([job.over, clock.sleep(waitMs, AbortSignal.any([signal, over.signal]))]);
    over.abort();
  }

  const read: Tool & ToolFacts = {
    ...jobFacts.read,
    description:
      "What a background command printed since you last read it, or from position `from`; without job: all commands. " +
      "wait_ms (at most 600000) waits for its end.",
    parameters: objectSchema({ job: { type: "string" }, from: { type: "integer" }, wait_ms: { type: "integer" } }),
    timeoutMs: MAX_WAIT_MS + WAIT_MARGIN_MS,
    async run(args, context) {
      if (optionalText(args, "job") === undefined)
        return textOutput(jobLines(jobs.list(), clock.monotonicMs()).join("\n"));
      const job = find(args);
      const waitMs = Math.min(optionalInteger(args, "wait_ms", 0) ?? 0, MAX_WAIT_MS);
      if (waitMs > 0) await waitFor(job, waitMs, context);
      const from = optionalInteger(args, "from", 0) ?? cursors.get(job.id) ?? 0;
      const { text, next, missed } = job.read(from, READ_CHARS);
      cursors.set(job.id, next);
      const notes = [stateOf(job, clock.monotonicMs()), `next position ${next}`];
      if (missed > 0) notes.push(`${missed} characters before this are no longer kept`);
      return textOutput(`${text === "" ? "(nothing new)" : text.replace(/\n$/, "")}\n[${notes.join("; ")}]`);
    },
  };

  const stop: Tool & ToolFacts = {
    ...jobFacts.stop,
    description: "End a background command.",
    parameters: objectSchema({ job: { type: "string" } }, ["job"]),
    async run(args) {
      const job = find(args);
      if (job.end === undefined) await jobs.stop(job.id, "by the agent");
      return textOutput(`${job.id}: ${stateOf(job, clock.monotonicMs())}`);
    },
  };
  return [read, stop];
}

/** One line for each, for the model and for people. */
export function jobLines(jobs: readonly Job[], nowMs: number): readonly string[] {
  if (jobs.length === 0) return ["No background commands."];
  return jobs.map((job, index) => {
    const command = job.command.replace(/\s+/g, " ").slice(0, SHOWN_COMMAND_CHARS);
    return `${index + 1}  ${job.id}  ${stateOf(job, nowMs)}${job.isKept ? ", kept" : ""}  ${command}`;
  });
}

function stateOf({ end, startedMs }: Job, nowMs: number): string {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  return end === undefined
    ? `running for ${seconds(nowMs - startedMs)}`
    : `ended after ${seconds(end.duration_ms)}: ${howItEnded(end)}`;
}
