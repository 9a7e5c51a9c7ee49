/**
 * What all sessions of a tree have in common, and how the session of a delegate comes about: the same project, plan mode, budget,
 * rules, rates and undo as its root, with the tools, the prompt and the limits that were named for it.
 */

import { type ContextConfig, contextTexts, type Project, type ToolsPolicy, toolVisible } from "#artifacts";
import { defined, type ProcessPort } from "#base";
import { NOTICE_BLOCK, type PromptBlock } from "#context";
import type { DelegateSpec, DelegationTree } from "#delegation";
import type { HiddenTools, Hook, RunContext, Tool, ToolMiddleware } from "#engine";
import type { Rule, SessionLabels, SkillLimit, TreeUse } from "#governance";
import type { CallId, SessionId, TurnId } from "#protocol";
import type { SessionMode } from "./agreements.ts";
import type { SessionMemory } from "./memory.ts";
import type { ProjectRuntime } from "./project.ts";
import type { SessionServers } from "./servers.ts";
import type { ShellHooks } from "./shell-hooks.ts";

export interface AgentTree {
  readonly workspace: string;
  readonly profile: string;
  /** Without a project there are no delegates, and nobody to share with. */
  readonly runtime: ProjectRuntime | undefined;
  readonly context: RunContext;
  readonly mode: SessionMode;
  /** Starts the processes of all of them. */
  readonly processes: ProcessPort;
  /** Commands that are asked at points of the session; all of them are covered. */
  readonly shellHooks: ShellHooks;
  /** The MCP servers that all of them call. */
  readonly servers: SessionServers;
  /** The memories that all of them can call for. */
  readonly memory: SessionMemory;
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
  readonly place: AgentTree;
  /** Of the agents above it; they hold for it as well. */
  readonly inheritedHooks: readonly Hook[];
  /** What the agents above it are denied, which is what they cannot get through it. */
  readonly inheritedPolicies: readonly ToolsPolicy[];
  /** The skills that limited the agents above it when it was started. */
  readonly inheritedLimits: readonly SkillLimit[];
}

/**
 * What a delegate changes belongs to the turn of the root that it works for: undone with it, one change at a time. Its calls are inside
 * `delegation`, the call that it works for, which may itself be inside one of a script.
 */
export function sharedUndo(
  undo: ToolMiddleware,
  root: AgentTree["root"],
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
    return visible.allowed ? undefined : visible;
  };
}

/** All that hold for a delegate. */
export function policiesOf(birth: Pick<Birth, "spec" | "inheritedPolicies"> | undefined): readonly ToolsPolicy[] {
  if (birth === undefined) return [];
  const { spec, inheritedPolicies } = birth;
  return [...(spec.toolsPolicy === undefined ? [] : [spec.toolsPolicy]), ...inheritedPolicies];
}
