/** From a request to what a delegate is made of: the agent that is named, its tools and hooks, its limits. Refuses with a typed error. */
import { type AgentArtifact, DEFAULT_VERIFY_RETRIES, type DelegationConfig } from "#artifacts";
import { nearestName } from "#base";
import { type Hook, type Tool, ToolError } from "#engine";
import { type Reason, reasonText } from "#protocol";
import { delegationToolNames } from "#tools";
import type { Definition, DelegationRequest } from "./request.ts";

/** Definitions as running parts: checked like files, compiled like files. They throw an Error whose message tells every problem. */
export interface Bundles {
  tool(definition: Definition): Tool;
  hook(definition: Definition): Hook;
  verifier(script: string): Tool;
  /** What the file of an agent defines itself, and its `verify:`. */
  ofAgent(agent: AgentArtifact): {
    readonly tools: readonly Tool[];
    readonly hooks: readonly Hook[];
    readonly verifier?: Tool;
  };
}

export interface ComposeParts {
  readonly bundles: Bundles;
  readonly limits: DelegationConfig;
  /** Of whoever delegates. */
  readonly depth: number;
  readonly agents: readonly AgentArtifact[];
  /** The tools that whoever delegates can call. */
  readonly callable: () => readonly Tool[];
  /** Every tool there is, for those that the file of an agent names. */
  readonly all: () => readonly Tool[];
  /** Why no agent may have a tool of this name. */
  readonly denied: (name: string) => string | undefined;
}

export interface Composed {
  readonly agent: AgentArtifact | undefined;
  readonly tools: (own: readonly Tool[]) => readonly Tool[];
  /** Of the request: they hold for the delegate and say nothing about the delegation itself. */
  readonly requestHooks: readonly Hook[];
  readonly agentHooks: readonly Hook[];
  readonly verifiers: readonly Tool[];
  readonly maxVerifyRetries: number;
  readonly maxSteps: number;
  readonly timeoutMs: number;
  readonly isolation: "worktree" | undefined;
}

export function refuse(detail: string, reason: Reason = "KindDelegation"): ToolError {
  return new ToolError(reasonText("KindDelegation", { detail }), reason);
}

export function findAgent(name: string, agents: readonly AgentArtifact[]): AgentArtifact | undefined {
  if (name === "") return undefined;
  const found = agents.find((agent) => agent.name === name);
  if (found !== undefined) return found;
  const known = agents.map((agent) => agent.name);
  const near = nearestName(name, known);
  const hint =
    near === undefined ? `Known agents: ${known.join(", ") || "none"}.` : `Did you mean ${JSON.stringify(near)}?`;
  throw refuse(`There is no agent ${JSON.stringify(name)}. ${hint}`);
}

/** Of two limits the tighter one: a request can ask for less, never for more. */
export function compose(request: DelegationRequest, parts: ComposeParts): Composed {
  const { bundles, limits, depth } = parts;
  const agent = findAgent(request.agent, parts.agents);
  const own = agent === undefined ? { tools: [], hooks: [] } : made(() => bundles.ofAgent(agent));
  const inline = request.tools.flatMap((tool) => (typeof tool === "string" ? [] : [made(() => bundles.tool(tool))]));
  const requestHooks = request.hooks.map((hook, index) => {
    return made(() => bundles.hook({ name: `inline_hook_${index + 1}`, priority: 0, ...hook }));
  });
  for (const { name } of inline) checkInlineName(name, inline, own.tools, parts);
  const passed = request.tools.filter((tool) => typeof tool === "string");
  for (const name of passed) {
    if (!parts.callable().some((tool) => tool.name === name))
      throw refuse(`You cannot give ${name} to the delegate: you do not have it yourself.`);
  }
  const references = agent?.tools.flatMap((tool) => ("ref" in tool ? [tool.ref] : [])) ?? [];
  const verify = request.verify;
  const requested = verify === undefined ? [] : [made(() => bundles.verifier(verify))];
  const steps = limits.iterationsPerDepth[depth + 1] ?? limits.iterationsPerDepth.at(-1) ?? 1;
  const retries = agent?.maxVerifyRetries ?? DEFAULT_VERIFY_RETRIES;
  return {
    agent,
    tools: (delegation) => {
      const named = (names: readonly string[], among: readonly Tool[]): Tool[] => {
        const elsewhere = among.filter(({ name }) => !delegationToolNames.includes(name));
        return [...delegation, ...elsewhere].filter(({ name }) => names.includes(name));
      };
      const tools = [...own.tools, ...inline, ...named(references, parts.all()), ...named(passed, parts.callable())];
      return [...new Map(tools.map((tool) => [tool.name, tool])).values()];
    },
    requestHooks,
    agentHooks: own.hooks,
    verifiers: [...("verifier" in own && own.verifier !== undefined ? [own.verifier] : []), ...requested],
    maxVerifyRetries: Math.min(retries, request.maxVerifyRetries ?? retries),
    maxSteps: Math.min(steps, request.maxIterations ?? steps),
    isolation: request.isolation ?? agent?.isolation,
    timeoutMs: Math.min(limits.timeoutMs, request.timeoutMs ?? limits.timeoutMs),
  };
}

function checkInlineName(
  name: string,
  inline: readonly Tool[],
  own: readonly Tool[],
  { all, denied }: ComposeParts,
): void {
  const why = denied(name);
  if (why !== undefined) throw refuse(`The tool ${name} cannot be defined: ${why}.`, "PolicyDenied");
  const isTaken =
    [...all(), ...own].some((tool) => tool.name === name) || inline.filter((tool) => tool.name === name).length > 1;
  if (isTaken) throw refuse(`There is already a tool ${name}.`);
}

function made<Part>(make: () => Part): Part {
  try {
    return make();
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw refuse(`A definition cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  }
}
