/** `delegate`, `delegate_async` and `task.*`: work handed to other agents, as tools like all others. */
import type { AgentArtifact, DelegationConfig } from "#artifacts";
import { type Clock, objectSchema } from "#base";
import { type Tool, type ToolContext, ToolError, type ToolOutput, textOutput } from "#engine";
import { SessionId } from "#protocol";
import { delegationFacts } from "#tools";
import { type Delegations, outputOf, type RunningDelegation } from "./delegations.ts";
import { type DelegationOutcome, resultText } from "./outcome.ts";
import { requestSchema } from "./request.ts";
import type { HeldWorktrees } from "./worktree.ts";

/** What ending a delegate may take beyond its own limit. */
const END_MARGIN_MS = 10_000;
/** Tasks that can still be asked for; the oldest that are done are forgotten first. */
const MAX_KEPT_TASKS = 200;
/** Of the results of tasks that are told together. */
const MAX_AWAITED = 50;
const AGENT_LINE_CHARS = 200;

export interface DelegationToolParts {
  readonly clock: Pick<Clock, "sleep">;
  readonly delegations: Pick<Delegations, "start">;
  readonly limits: () => DelegationConfig;
  readonly agents: () => readonly AgentArtifact[];
  readonly worktrees: HeldWorktrees;
}

interface Task {
  readonly running: RunningDelegation;
  outcome?: DelegationOutcome;
}

/** Asked at every step: whom one can delegate to may change. Tasks are those of one session. */
export function createDelegationTools({
  clock,
  delegations,
  limits,
  agents,
  worktrees,
}: DelegationToolParts): () => readonly Tool[] {
  const tasks = new Map<string, Task>();

  function keep(running: RunningDelegation): void {
    const task: Task = { running };
    tasks.set(running.session, task);
    void running.done.then((outcome) => {
      task.outcome = outcome;
    });
    for (const [id, { outcome }] of tasks) {
      if (tasks.size <= MAX_KEPT_TASKS) break;
      if (outcome !== undefined) tasks.delete(id);
    }
  }

  function find(id: unknown): Task {
    const task = typeof id === "string" && SessionId.is(id) ? tasks.get(id) : undefined;
    if (task !== undefined) return task;
    const known = [...tasks.keys()].join(", ") || "none";
    throw new ToolError(
      `There is no task ${JSON.stringify(id)} in this session. Known tasks: ${known}.`,
      "KindDelegation",
    );
  }

  const chosen = (args: Readonly<Record<string, unknown>>): readonly Task[] => {
    const { task, tasks: named } = args;
    if (Array.isArray(named)) return named.slice(0, MAX_AWAITED).map(find);
    return task === undefined ? [...tasks.values()].slice(-MAX_AWAITED) : [find(task)];
  };

  async function finished(waited: readonly Task[], context: ToolContext, timeoutMs: unknown): Promise<void> {
    const ended = Promise.all(waited.map(({ running }) => running.done));
    const over = new AbortController();
    const limitMs = typeof timeoutMs === "number" ? Math.min(timeoutMs, limits().timeoutMs) : limits().timeoutMs;
    const stop = AbortSignal.any([context.signal, over.signal]);
    await Promise.race([ended, clock.sleep(limitMs, stop)]);
    over.abort();
  }

  return () => {
    const timeoutMs = limits().timeoutMs + END_MARGIN_MS;
    const listed = agentList(agents());
    return [
      ...worktreeTools(worktrees, timeoutMs),
      {
        ...delegationFacts.delegate,
        timeoutMs,
        description: `Give a task to a sub-agent and wait for its result, a JSON object. It knows nothing but the task.${listed}`,
        parameters: requestSchema(),
        async run(args, context): Promise<ToolOutput> {
          return outputOf(await (await delegations.start(args, context, "sync")).done);
        },
      },
      {
        ...delegationFacts.delegateAsync,
        timeoutMs,
        description: `The same as delegate, without waiting: answers with a task to ask for with task.await or task.poll. A task that nobody has waited for when you answer is cancelled.${listed}`,
        parameters: requestSchema(),
        async run(args, context) {
          const running = await delegations.start(args, context, "async");
          keep(running);
          const { session, agent } = running;
          return textOutput(JSON.stringify({ status: "running", task: session, ...(agent === "" ? {} : { agent }) }));
        },
      },
      {
        ...delegationFacts.poll,
        timeoutMs,
        description: "How far a task of delegate_async is, or all of them.",
        parameters: objectSchema({ task: { type: "string" } }),
        run: async (args) => told(chosen(args), args),
      },
      {
        ...delegationFacts.await,
        timeoutMs,
        description: "Wait for a task of delegate_async, for several, or for all, and get their results.",
        parameters: objectSchema({
          task: { type: "string" },
          tasks: { type: "array", items: { type: "string" }, maxItems: MAX_AWAITED },
          timeout_ms: { type: "integer", minimum: 1, description: "How long to wait; they go on after it." },
        }),
        async run(args, context) {
          const waited = chosen(args);
          await finished(waited, context, args.timeout_ms);
          return told(waited, args);
        },
      },
      {
        ...delegationFacts.cancel,
        timeoutMs,
        description: "Stop a task of delegate_async.",
        parameters: objectSchema({ task: { type: "string" } }, ["task"]),
        async run(args, context) {
          const task = find(args.task);
          task.running.stop({ reason: "user" });
          await finished([task], context, undefined);
          return told([task], args);
        },
      },
    ];
  };
}

/** Offered while there is something to decide about. */
function worktreeTools(worktrees: HeldWorktrees, timeoutMs: number): readonly Tool[] {
  if (worktrees.size === 0) return [];
  const parameters = objectSchema(
    { task: { type: "string", description: "The session of the delegate, as its result names it." } },
    ["task"],
  );
  return [
    {
      ...delegationFacts.takeWorktree,
      ...{ timeoutMs, parameters },
      description:
        "Take over what a delegate changed in its worktree: each file is written or removed in the workspace. Conflicts are reported, and nothing is written then.",
      run: ({ task }, context) => worktrees.take(task, context),
    },
    {
      ...delegationFacts.dropWorktree,
      ...{ timeoutMs, parameters },
      description: "Drop what a delegate changed in its worktree.",
      run: ({ task }) => worktrees.drop(task),
    },
  ];
}

/** One object for one task that was named, else a list. */
function told(tasks: readonly Task[], args: Readonly<Record<string, unknown>>): ToolOutput {
  const texts = tasks.map(({ running, outcome }) => {
    if (outcome === undefined) return JSON.stringify({ task: running.session, status: "running" });
    return `{"task":${JSON.stringify(running.session)},${resultText(outcome).slice(1)}`;
  });
  return textOutput(args.task === undefined ? `[${texts.join(",")}]` : (texts[0] ?? "[]"));
}

function agentList(agents: readonly AgentArtifact[]): string {
  if (agents.length === 0) return "";
  const lines = agents.map(
    ({ name, description }) => `\n- ${name}: ${description.split("\n")[0]?.slice(0, AGENT_LINE_CHARS)}`,
  );
  return ` Agents:${lines.join("")}`;
}
