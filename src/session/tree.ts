/**
 * What all sessions of a tree have in common, and how the session of a delegate comes about: the same project, plan mode, budget,
 * rules, rates and undo as its root, with the tools, the prompt and the limits that were named for it.
 */

import { type ContextConfig, contextTexts, type Project, type ToolsPolicy, toolVisible } from "#artifacts";
import { type Clock, defined, type EffectPorts, type ProcessPort } from "#base";
import { NOTICE_BLOCK, type PromptBlock } from "#context";
import type { AdoptedSession, LiveSession } from "#control";
import {
  type Bundles,
  createDelegations,
  createDelegationTools,
  type Delegate,
  type DelegateSpec,
  type Delegations,
  type DelegationTree,
} from "#delegation";
import type {
  Approver,
  EngineSession,
  EventBus,
  HiddenTools,
  Hook,
  HookDispatcher,
  RunContext,
  Tool,
  ToolMiddleware,
} from "#engine";
import type { Rule, SessionLabels, TreeUse } from "#governance";
import type { CallId, SessionId, TurnId } from "#protocol";
import type { ProjectRuntime } from "./project.ts";

export interface SessionPlace {
  readonly workspace: string;
  readonly profile: string;
  /** Without a project there are no delegates, and nobody to share with. */
  readonly runtime: ProjectRuntime | undefined;
  readonly context: RunContext;
  readonly plan: { active: boolean };
  /** Starts the processes of all of them. */
  readonly processes: ProcessPort;
  readonly budget: TreeUse;
  readonly tree: DelegationTree;
  /** Rules that answers have added, to whichever agent. */
  readonly sessionRules: Rule[];
  /** What any of them has seen, all of them hold. */
  readonly labels: SessionLabels;
  readonly rates: ToolMiddleware;
  readonly undo: ToolMiddleware | undefined;
  /** The tools of the root, those of delegation aside. */
  readonly allTools: () => readonly Tool[];
  /** The session at the root and its turn. */
  root(): { readonly session: SessionId; readonly turn: TurnId } | undefined;
}

/** How a session came about that no client opened. */
export interface Birth {
  readonly spec: DelegateSpec;
  readonly parent: SessionId;
  readonly place: SessionPlace;
  /** Of the agents above it; they hold for it as well. */
  readonly inheritedHooks: readonly Hook[];
  /** What the agents above it are denied, which is what they cannot get through it. */
  readonly inheritedPolicies: readonly ToolsPolicy[];
}

/**
 * What a delegate changes belongs to the turn of the root that it works for: undone with it, one change at a time. Its calls are inside
 * `delegation`, the call that it works for, which may itself be inside one of a script.
 */
export function sharedUndo(
  undo: ToolMiddleware,
  root: SessionPlace["root"],
  delegation: CallId | undefined,
): ToolMiddleware {
  return (call, next) => {
    const parent = call.parent ?? delegation;
    return undo({ ...call, ...root(), ...defined({ parent }) }, () => next(call));
  };
}

/** Verbatim what was written for it, and the files that it is to be shown. */
export function delegatePrompt(
  { systemPrompt, agent, context }: Pick<DelegateSpec, "systemPrompt" | "agent" | "context">,
  project: Project | undefined,
): readonly PromptBlock[] | undefined {
  if (systemPrompt === undefined) return undefined;
  const block = { kind: "identity", name: agent, source: `agent ${agent}`, priority: 0, active: true } as const;
  return [{ ...block, text: systemPrompt }, NOTICE_BLOCK, ...fileBlocks(context, project)];
}

function fileBlocks(context: ContextConfig | undefined, project: Project | undefined): readonly PromptBlock[] {
  if (context === undefined || project === undefined) return [];
  return contextTexts(project, context).map(({ path, text }) => ({
    ...({ kind: "file", priority: 0, active: true } as const),
    name: path,
    source: path,
    text: `Contents of ${path}:\n\n${text}`,
  }));
}

/** The policies of the project, and below them those of a delegate: its own, and what the agents above it are denied. */
export function hiddenFrom(runtime: ProjectRuntime, policies: readonly ToolsPolicy[]): HiddenTools {
  const below = policies.map((policy) => ({ tier: "project", policy }) as const);
  return (name) => {
    const hidden = runtime.live.hidden(name);
    if (hidden !== undefined || below.length === 0) return hidden;
    const visible = toolVisible(below, name);
    return visible.allowed ? undefined : { why: visible.why, source: visible.source };
  };
}

/** All that hold for a delegate. */
export function policiesOf(birth: Pick<Birth, "spec" | "inheritedPolicies"> | undefined): readonly ToolsPolicy[] {
  if (birth === undefined) return [];
  const { spec, inheritedPolicies } = birth;
  return [...(spec.toolsPolicy === undefined ? [] : [spec.toolsPolicy]), ...inheritedPolicies];
}

/** Of a list of what an agent may have, whoever it delegates to may have more: that is why it delegates. What it is denied stays so. */
function denials({ deny, place }: ToolsPolicy): ToolsPolicy {
  return { mode: "denylist", allow: [], deny, ...defined({ place }) };
}

export interface DelegatingParts {
  readonly clock: Clock;
  readonly bus: EventBus;
  readonly depth: number;
  readonly place: SessionPlace;
  readonly runtime: ProjectRuntime;
  readonly ports: EffectPorts;
  readonly birth: Birth | undefined;
  readonly hidden: HiddenTools;
  readonly engine: () => EngineSession;
  /** Opens the session of a delegate and makes it known to clients. */
  readonly adopt: (open: (approver: Approver) => Promise<LiveSession>) => Promise<AdoptedSession>;
  readonly openChild: (birth: Birth, model: string, approver: Approver) => Promise<LiveSession>;
}

export interface Delegating {
  readonly delegations: Delegations;
  /** The delegation tools of the session; none where delegation is off. */
  tools(): readonly Tool[];
}

export function createDelegating(parts: DelegatingParts): Delegating {
  const { clock, bus, depth, place, runtime, ports, birth, hidden } = parts;
  const own: readonly Hook[] = birth === undefined ? [] : [...birth.spec.hooks, ...birth.inheritedHooks];
  const limits = () => runtime.live.current().config.delegation;
  const hooks = (more: readonly Hook[]): HookDispatcher => runtime.hooksFor(bus.session, ports, [...more, ...own]);
  const bundles: Bundles = runtime.bundles;

  function callable(): readonly Tool[] {
    const given = birth === undefined ? [...place.allTools(), ...tools()] : birth.spec.tools(tools());
    return given.filter(({ name }) => hidden(name) === undefined);
  }

  async function open(spec: DelegateSpec): Promise<Delegate> {
    const engine = parts.engine();
    const originator = engine.running?.originator;
    if (originator === undefined) throw new Error("outside a turn nothing can be delegated");
    const inheritedPolicies = policiesOf(birth).map(denials);
    const child: Birth = { spec, parent: engine.id, place, inheritedHooks: own, inheritedPolicies };
    const adopted = await parts.adopt((approver) => parts.openChild(child, spec.model ?? engine.model, approver));
    const delegate = adopted.live.engine;
    const visible = hiddenFrom(runtime, policiesOf(child));
    return {
      session: delegate.id,
      model: delegate.model,
      toolNames: spec.tools(tools()).flatMap(({ name }) => (visible(name) === undefined ? [name] : [])),
      subscribe: (subscriber) => void delegate.bus.subscribe(subscriber),
      run: (task) => adopted.send(originator, task),
      cancel: (cause) => delegate.cancel(cause),
      close: () => adopted.end(),
    };
  }

  const delegations = createDelegations({
    clock,
    bus,
    depth,
    limits,
    agents: runtime.agents,
    bundles,
    callable,
    all: place.allTools,
    denied: (name) => hidden(name)?.why,
    tree: place.tree,
    hooks,
    open,
    turnSignal: () => parts.engine().running?.signal,
    count: runtime.count,
  });
  const made = createDelegationTools({ clock, delegations, limits, agents: runtime.agents });

  function tools(): readonly Tool[] {
    return limits().maxDepth === 0 ? [] : made();
  }

  return { delegations, tools };
}

/** Whether the model of a root is shown the delegation tools: there is somebody to delegate to, or the project says how. */
export function isDelegating(runtime: ProjectRuntime): boolean {
  const { config } = runtime.live.current();
  return runtime.agents().length > 0 || config.delegates === true;
}
