/** How the session of a delegate comes about: opened with what was named for it, in the place of its root. */
import type { ToolsPolicy } from "#artifacts";
import { defined } from "#base";
import type { AdoptedSession, LiveSession } from "#control";
import {
  type Bundles,
  createDelegations,
  createDelegationTools,
  createHeldWorktrees,
  type Delegate,
  type DelegateSpec,
  type Delegations,
  type Worktree,
} from "#delegation";
import type { Approver, HiddenTools, Hook, HookDispatcher, SessionCore, Tool } from "#engine";
import type { SkillLimits } from "#governance";
import type { ProjectRuntime } from "./project.ts";
import { type AgentTree, type Birth, hiddenFrom, policiesOf } from "./tree.ts";
import type { SessionWorld } from "./world.ts";

export interface DelegatingParts {
  readonly core: SessionCore;
  readonly depth: number;
  readonly place: AgentTree;
  readonly runtime: ProjectRuntime;
  readonly world: Pick<SessionWorld, "ports">;
  readonly birth: Birth | undefined;
  readonly hidden: HiddenTools;
  /** What skills limit now. */
  readonly limitsInForce: SkillLimits["inForce"];
  /** Opens the session of a delegate and makes it known to clients. */
  readonly adopt: (open: (approver: Approver) => Promise<LiveSession>) => Promise<AdoptedSession>;
  readonly openWorktree: (name: string) => Promise<Worktree>;
  readonly openChild: (birth: Birth, model: string, approver: Approver) => Promise<LiveSession>;
}

export interface Delegating {
  readonly delegations: Delegations;
  /** The delegation tools of the session; none where delegation is off. */
  tools(): readonly Tool[];
  /** Removes the worktrees that nobody has decided about. */
  close(): Promise<void>;
}

export function createDelegating(parts: DelegatingParts): Delegating {
  const { core, depth, place, runtime, birth, hidden } = parts;
  const { clock, bus, state } = core;
  const { ports } = parts.world;
  const own: readonly Hook[] = birth === undefined ? [] : [...birth.spec.hooks, ...birth.inheritedHooks];
  const limits = () => runtime.live.current().config.delegation;
  const hooks = (more: readonly Hook[]): HookDispatcher => runtime.hooksFor(bus.session, ports, [...more, ...own]);
  const bundles: Bundles = runtime.bundles;

  function callable(): readonly Tool[] {
    const given = birth === undefined ? [...place.allTools(), ...tools()] : birth.spec.tools(tools());
    return given.filter(({ name }) => hidden(name) === undefined);
  }

  async function open(spec: DelegateSpec): Promise<Delegate> {
    const originator = state.running?.originator;
    if (originator === undefined) throw new Error("tasks can be delegated only during a turn");
    const inheritedPolicies = policiesOf(birth).map(denials);
    const inheritedLimits = parts.limitsInForce();
    const child: Birth = { spec, parent: core.id, place, inheritedHooks: own, inheritedPolicies, inheritedLimits };
    const adopted = await parts.adopt((approver) => parts.openChild(child, spec.model ?? state.model, approver));
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

  const worktrees = createHeldWorktrees();
  const delegations = createDelegations({
    worktrees,
    openWorktree: parts.openWorktree,
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
    turnSignal: () => state.running?.signal,
    count: runtime.count,
  });
  const made = createDelegationTools({ clock, delegations, limits, agents: runtime.agents, worktrees });

  function tools(): readonly Tool[] {
    return limits().maxDepth === 0 ? [] : made();
  }

  return { delegations, tools, close: worktrees.close };
}

/** Of a list of what an agent may have, whoever it delegates to may have more: that is why it delegates. What it is denied stays so. */
function denials({ deny, place }: ToolsPolicy): ToolsPolicy {
  return { mode: "denylist", allow: [], deny, ...defined({ place }) };
}
