/** Which tools there are for the agent at the root, in the order in which its model sees them: for its requests, and for whoever lists them. */
import type { Project } from "./project.ts";

export interface ToolGroups<ToolLike> {
  /** Built in, or of plugins. */
  readonly given: readonly ToolLike[];
  /** Of files of the project. */
  readonly project: readonly ToolLike[];
  /** `meta.*`, and what was registered through it. */
  readonly meta: readonly ToolLike[];
  readonly delegation: readonly ToolLike[];
}

/** Before policies and conditions hide any of them. */
export function rootTools<ToolLike>(
  { given, project, meta, delegation }: ToolGroups<ToolLike>,
  of: Project | undefined,
): readonly ToolLike[] {
  const delegates = of !== undefined && !isBareProject(of) && of.config.delegation.maxDepth > 0;
  return [...given, ...project, ...(of?.config.meta.enabled ? meta : []), ...(delegates ? delegation : [])];
}

/** Whether no file makes a project of the folder. */
export function isBareProject({ configFile, tools, hooks, agents, bundles }: Project): boolean {
  return configFile === undefined && [tools, hooks, agents, bundles].every((list) => list.length === 0);
}
