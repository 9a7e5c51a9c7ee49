/** What somebody asks of a delegate, as the tools take it and as hooks on `delegation.pre` see it. Pure. */
import { defined, isRecord, objectSchema } from "#base";
import { eitherName, type PayloadChanges, ToolError } from "#engine";

/** Tools, or hooks, that one request may define. */
const MAX_DEFINITIONS = 20;
const MAX_TASK_CHARS = 100_000;

export type Definition = Readonly<Record<string, unknown>>;

export interface DelegationRequest {
  readonly task: string;
  /** Empty: nobody by name. */
  readonly agent: string;
  readonly model?: string;
  readonly systemPrompt?: string;
  /** Names of tools that the caller has, or definitions. */
  readonly tools: readonly (string | Definition)[];
  readonly hooks: readonly Definition[];
  readonly verify?: string;
  readonly maxVerifyRetries?: number;
  readonly maxIterations?: number;
  readonly timeoutMs?: number;
  readonly isolation?: "worktree";
}

const text = { type: "string" } as const;
const count = (minimum: number) => ({ type: "integer", minimum }) as const;

const properties = {
  task: { ...text, description: "All it needs to know: it sees nothing of this conversation." },
  agent: { ...text, description: "Which agent; none: one that has only what is given here." },
  model: { ...text, description: "provider:name; default: the agent's, else this one's." },
  system_prompt: { ...text, description: "Instead of the agent's own." },
  tools: {
    type: "array",
    maxItems: MAX_DEFINITIONS,
    description:
      "Besides the agent's own: names of your tools, or definitions {name, description, parameters, script}.",
    items: { type: ["string", "object"] },
  },
  hooks: {
    type: "array",
    maxItems: MAX_DEFINITIONS,
    description: "Definitions {event, priority, script} that hold for it.",
    items: { type: "object" },
  },
  verify: { ...text, description: "Starlark, def run(result): returns True when the work was really done." },
  max_verify_retries: count(0),
  max_iterations: { ...count(1), description: "Fewer steps than it may have." },
  timeout_ms: { ...count(1), description: "Less time than it may have." },
  isolation: {
    ...text,
    enum: ["worktree"],
    description:
      "worktree: it works on a copy of the last commit; its changes wait for worktree.take or worktree.drop.",
  },
};

export function requestSchema(): Readonly<Record<string, unknown>> {
  return objectSchema(properties, ["task"]);
}

/** Throws a ToolError that the model reads. */
export function parseRequest(args: Readonly<Record<string, unknown>>): DelegationRequest {
  const task = textField(args, "task")?.trim() ?? "";
  if (task === "") throw invalid("the task is empty");
  if (task.length > MAX_TASK_CHARS) throw invalid(`the task is longer than ${MAX_TASK_CHARS} characters`);
  const tools = listField(args, "tools");
  const hooks = listField(args, "hooks");
  if (!tools.every((tool) => typeof tool === "string" || isRecord(tool)))
    throw invalid("a tool must be a name or a definition");
  if (!hooks.every(isRecord)) throw invalid("a hook must be a definition");
  const model = textField(args, "model");
  // A scenario is a file, anywhere: nothing that a request can have the program read.
  if (model?.trim().startsWith("scripted:") === true) throw invalid("model is a scenario, which a request cannot name");
  const systemPrompt = textField(args, "system_prompt");
  const verify = textField(args, "verify");
  const maxVerifyRetries = countField(args, "max_verify_retries", 0);
  const maxIterations = countField(args, "max_iterations", 1);
  const timeoutMs = countField(args, "timeout_ms", 1);
  return {
    task,
    agent: textField(args, "agent")?.trim() ?? "",
    tools,
    hooks,
    ...defined({
      model,
      systemPrompt,
      verify,
      maxVerifyRetries,
      maxIterations,
      timeoutMs,
      isolation: isolationField(args),
    }),
  };
}

/** `task` and `prompt` are two names of one thing. `depth` is that of whoever delegates. */
export function prePayload(args: Readonly<Record<string, unknown>>, { task, agent }: DelegationRequest, depth: number) {
  return { ...args, agent, task, prompt: task, depth };
}

/** Everything that a request may say; how deep whoever delegates is stays as it was. */
export const requestChanges: PayloadChanges = {
  fields: [...Object.keys(properties), "prompt"],
  settle(merged, before) {
    if (merged.depth !== before.depth) throw new Error("modify: the depth was changed");
    const task = eitherName(merged, before, ["task", "prompt"]);
    return { ...merged, task, prompt: task };
  },
};

/** The request that hooks have left; what they changed is checked like what came in. */
export function changedRequest(payload: unknown): DelegationRequest {
  if (!isRecord(payload)) throw invalid("the hooks on delegation.pre left no request");
  const { depth: _, prompt: __, ...args } = payload;
  return parseRequest(args);
}

function textField(args: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = args[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw invalid(`${name} must be text`);
  return value;
}

function listField(
  args: Readonly<Record<string, unknown>>,
  name: string,
): readonly (string | Definition)[] & Definition[] {
  const value = args[name] ?? [];
  if (!Array.isArray(value) || value.length > MAX_DEFINITIONS) {
    throw invalid(`${name} must be a list of at most ${MAX_DEFINITIONS} entries`);
  }
  // Their elements are looked at by the caller.
  return value as Definition[];
}

function countField(args: Readonly<Record<string, unknown>>, name: string, min: number): number | undefined {
  const value = args[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < min) {
    throw invalid(`${name} must be a whole number from ${min}`);
  }
  return value;
}

function isolationField(args: Readonly<Record<string, unknown>>): "worktree" | undefined {
  const value = textField(args, "isolation");
  if (value !== undefined && value !== "worktree") throw invalid("isolation can only be worktree");
  return value;
}

function invalid(detail: string): ToolError {
  return new ToolError(`The arguments of the delegation are not valid: ${detail}.`, "InvalidArguments");
}
