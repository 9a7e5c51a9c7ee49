/**
 * A project while a session runs: what its files say now, as the tools, hooks, rules and prompt of the next step. Files are looked
 * at before each step; a broken edit leaves the last good version in force and is told.
 */

import {
  type AwaitingFile,
  contextTexts,
  type DeclaredSource,
  inHookOrder,
  instructionTexts,
  type LoadedProject,
  optionalFiles,
  type Project,
  type ProjectLoader,
  skillList,
  skillsOf,
  toolVisible,
} from "#artifacts";
import { messageOf } from "#base";
import { type BasePrompt, type ConditionResult, type PromptBlock, promptBlocks } from "#context";
import type { EventBus, HiddenTools, Hook, HookSource, Tool, ToolSource } from "#engine";
import { parseRule, type Rule } from "#governance";
import type { Condition, ContextValues, Scripts } from "#script";
import type { AskAck } from "./acks.ts";
import { createSkillTriggers, type SkillTriggers } from "./skill-triggers.ts";

const MAX_TOLD_PROBLEMS = 20;

export interface LiveProjectOptions {
  readonly loader: ProjectLoader;
  /** What the loader gave first; a session is not begun with a project that has errors. */
  readonly project: Project;
  readonly scripts: Scripts;
  /** What conditions see as `ctx`, now. */
  readonly values: () => ContextValues;
  readonly workspace: string;
  readonly standing: BasePrompt;
  readonly platform: string;
  /** Absent: nobody is there to be asked. */
  readonly askForAck?: AskForAck;
}

/** Asks a person about files that wait for an ack, with `ask`; resolves to whether an answer was kept. */
export type AskForAck = (awaiting: readonly AwaitingFile[], ask: AskAck) => Promise<boolean>;

export interface LiveProject {
  current(): Project;
  readonly tools: ToolSource;
  /** Those of files; in the order in which they are asked. */
  readonly hooks: HookSource;
  readonly hidden: HiddenTools;
  rules(): readonly Rule[];
  /** Names everything that is in force. */
  version(): string;
  prompt(): readonly PromptBlock[];
  /** `context.sources`, in their order. */
  sources(): readonly LiveSource[];
  /** A call works on this file of the workspace: context files of its folders, and skills for it, count from the next step on. */
  touch(path: string): void;
  readonly skillTriggers: SkillTriggers;
  /** Looks at the files again; told on the bus when something changed. */
  refresh(bus: Pick<EventBus, "publish">): Promise<void>;
  /** Asks about what waits for an ack and was not asked about; what is acked is in force then. */
  askAcks(bus: Pick<EventBus, "publish">, ask: AskAck): Promise<void>;
}

/** A context source with its scripts compiled. */
export interface LiveSource {
  readonly source: DeclaredSource;
  /** What `when` gives for the current values. */
  applies(): ConditionResult;
  /** Of a Starlark source: its text now. Throws. */
  text?(): string;
}

/** All that follows from one version of the files. */
interface InForce {
  readonly project: Project;
  readonly tools: readonly (readonly [Tool, Condition | undefined])[];
  readonly hooks: ReadonlyMap<string, readonly Hook[]>;
  readonly rules: readonly Rule[];
  readonly conditions: ReadonlyMap<string, Condition>;
  readonly sources: readonly LiveSource[];
}

export function createLiveProject(options: LiveProjectOptions): LiveProject {
  const { loader, values, workspace, standing, platform, askForAck } = options;
  let inForce = build(options.project, options);
  let unasked: readonly AwaitingFile[] | undefined;
  let isAsking = false;
  /** Says that files wait, which nobody was told because they were asked. */
  let tellWaiting: ((bus: Pick<EventBus, "publish">) => Promise<void>) | undefined;
  const skillTriggers = createSkillTriggers(() => skillsOf(inForce.project), workspace);

  function conditionOf(name: string): ConditionResult {
    const condition = inForce.conditions.get(name);
    if (condition === undefined) return { holds: true };
    try {
      return { holds: condition(values()) };
    } catch (error) {
      return { error: messageOf(error) };
    }
  }

  return {
    current: () => inForce.project,
    tools: {
      name: "project",
      // A tool whose condition cannot be told is not there.
      tools: () => inForce.tools.filter(([, condition]) => holds(condition, values)).map(([tool]) => tool),
    },
    hooks: { hooks: (event) => inForce.hooks.get(event) ?? [] },
    hidden(name) {
      const visible = toolVisible(inForce.project.config.toolsPolicies, name);
      return visible.allowed ? undefined : visible;
    },
    rules: () => inForce.rules,
    version: () => inForce.project.version,
    prompt: () =>
      promptBlocks({
        project: inForce.project,
        condition: ({ name }) => conditionOf(name),
        files: [...instructionTexts(inForce.project), ...contextTexts(inForce.project, inForce.project.config.context)],
        skills: skillList(skillsOf(inForce.project), skillTriggers.raised()),
        standing,
        workspace,
        platform,
      }),
    sources: () => inForce.sources,
    touch(path) {
      loader.touch(path);
      skillTriggers.touch(path);
    },
    skillTriggers,
    async refresh(bus) {
      const loaded = loader.refresh();
      if (loaded === undefined) return;
      unasked = loaded.awaiting;
      await take(loaded, bus, askForAck !== undefined);
    },
    async askAcks(bus, ask) {
      // Another agent of the tree is asking: its answers count for all.
      if (unasked === undefined || askForAck === undefined || isAsking) return;
      const asked = unasked;
      isAsking = true;
      try {
        const acked = (await askForAck(asked, ask)) ? loader.refresh() : undefined;
        if (acked === undefined) await tellWaiting?.(bus);
        else await take(acked, bus, false);
      } finally {
        isAsking = false;
        if (unasked === asked) unasked = undefined;
      }
    },
  };

  /** `isAsked`: whoever is about to be asked about the files that wait need not read first that they wait. */
  async function take(loaded: LoadedProject, bus: Pick<EventBus, "publish">, isAsked: boolean): Promise<void> {
    const before = inForce.project;
    const next = usable(loaded, options);
    tellWaiting = undefined;
    const publish = async (
      files: readonly string[],
      isInForce: boolean,
      problems: readonly string[],
      on = bus,
    ): Promise<void> => {
      await on.publish("ProjectChanged", {
        version: loaded.project?.version ?? before.version,
        files: [...files],
        in_force: isInForce,
        problems: problems.slice(0, MAX_TOLD_PROBLEMS),
      });
    };
    const waiting = loaded.awaiting?.map(({ file }) => file);
    const changed = changedFiles(before, loaded);
    if ("problems" in next) {
      if (waiting === undefined || !isAsked) return publish(waiting ?? changed, false, next.problems);
      tellWaiting = (on) => publish(waiting, false, next.problems, on);
      return;
    }
    ({ inForce } = next);
    if (changed.length > 0) await publish(changed, true, []);
    const [old, now] = [before, inForce.project].map(wordVersions);
    if (old !== now) {
      await bus.publish("SkillRegistryChanged", { skills: skillsOf(inForce.project).map(({ name }) => name) });
    }
    // Optional files that wait or are broken do not hold up the others.
    const tellHeld = async (held: readonly string[], on = bus): Promise<void> => {
      const problems = problemLines(loaded, (file) => held.includes(file));
      if (held.length > 0) await publish(held, false, problems, on);
    };
    const broken = newlyBroken(before, inForce.project);
    if (!isAsked) return tellHeld([...(waiting ?? []), ...broken]);
    await tellHeld(broken);
    if (waiting !== undefined) tellWaiting = (on) => tellHeld(waiting, on);
  }
}

/** Of the files that slash commands come from. */
function wordVersions(project: Project): string {
  const files = (["skill", "command", "aliases"] as const).flatMap((kind) => optionalFiles(project, kind));
  return JSON.stringify(files.map(({ file, hash }) => [file, hash]));
}

/** Optional files whose version on disk cannot be read, and could before. */
function newlyBroken(before: Project, after: Project): readonly string[] {
  const brokenIn = ({ leftOut }: Project): string[] =>
    leftOut.filter(({ why }) => why === "broken").map(({ file }) => file);
  const known = brokenIn(before);
  return brokenIn(after).filter((file) => !known.includes(file));
}

function problemLines({ problems }: LoadedProject, isAbout: (file: string) => boolean): string[] {
  const about = problems.filter(({ place }) => isAbout(place.file));
  return about.map(({ place, message }) => `${place.file}:${place.line}:${place.column}: ${message}`);
}

function usable(
  loaded: LoadedProject,
  options: Pick<LiveProjectOptions, "scripts" | "values">,
): { inForce: InForce } | { problems: string[] } {
  if (loaded.project === undefined) {
    const errors = loaded.problems.filter(({ severity }) => severity === "error");
    return { problems: problemLines({ problems: errors }, () => true) };
  }
  try {
    return { inForce: build(loaded.project, options) };
  } catch (error) {
    return { problems: [messageOf(error)] };
  }
}

function build(project: Project, { scripts, values }: Pick<LiveProjectOptions, "scripts" | "values">): InForce {
  const compiled = (source: NonNullable<Project["tools"][number]["condition"]> | undefined): Condition | undefined =>
    source === undefined ? undefined : scripts.condition(source);
  const tools = project.tools.flatMap((artifact) => {
    const tool = scripts.tool(artifact);
    return tool === undefined ? [] : [[tool, compiled(artifact.condition)] as const];
  });
  const hooks = new Map<string, Hook[]>();
  for (const artifact of inHookOrder(project.hooks)) {
    const hook = conditional(scripts.hook(artifact), compiled(artifact.condition), values);
    hooks.set(hook.event, [...(hooks.get(hook.event) ?? []), hook]);
  }
  const conditions = new Map<string, Condition>();
  for (const { name, condition } of project.bundles) {
    const made = compiled(condition);
    if (made !== undefined) conditions.set(name, made);
  }
  return {
    project,
    tools,
    hooks,
    rules: project.config.permissions.map(({ effect, rule, source }) => parseRule(rule, effect, source)),
    conditions,
    sources: (project.config.context.sources ?? []).map((source) => liveSource(source, { scripts, values })),
  };
}

function liveSource(
  source: DeclaredSource,
  { scripts, values }: Pick<LiveProjectOptions, "scripts" | "values">,
): LiveSource {
  const condition = source.when === undefined ? undefined : scripts.condition(source.when);
  const text = source.origin.kind === "starlark" ? scripts.text(source.origin.script) : undefined;
  return {
    source,
    applies() {
      try {
        return { holds: condition === undefined || condition(values()) };
      } catch (error) {
        return { error: messageOf(error) };
      }
    },
    ...(text === undefined ? {} : { text: () => text(values()) }),
  };
}

/** A hook of a bundle is asked while the bundle is active; where that cannot be told, it fails, and a guard that fails blocks. */
function conditional(hook: Hook, condition: Condition | undefined, values: LiveProjectOptions["values"]): Hook {
  if (condition === undefined) return hook;
  return {
    ...hook,
    matches: (call) => condition(values()) && hook.matches(call),
    handle: (call) => hook.handle(call),
  };
}

function holds(condition: Condition | undefined, values: LiveProjectOptions["values"]): boolean {
  if (condition === undefined) return true;
  try {
    return condition(values());
  } catch {
    return false; // shown by `harness context` and `harness inspect`, with the error
  }
}

/** Of a broken edit: the files that have errors. */
function changedFiles(before: Project, { project: after, problems }: LoadedProject): string[] {
  const hashes = (project: Project | undefined): Map<string, string> =>
    new Map(project?.files.map(({ file, hash }) => [file, hash]));
  const old = hashes(before);
  if (after === undefined) {
    const broken = problems.filter(({ severity }) => severity === "error").map(({ place }) => place.file);
    return [...new Set(broken)];
  }
  const now = hashes(after);
  const names = new Set([...old.keys(), ...now.keys()]);
  return [...names].filter((name) => old.get(name) !== now.get(name));
}
