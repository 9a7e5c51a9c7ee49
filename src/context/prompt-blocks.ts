/**
 * The system prompt as a list of blocks, each with where it comes from and whether it is in force: what the request gets and
 * what `harness context` shows are the same list.
 */
import type { BundleArtifact, ContextText, Project } from "#artifacts";
import { defined } from "#base";
import { UNTRUSTED_NOTICE } from "./untrusted.ts";

export interface PromptBlock {
  readonly kind:
    | "identity"
    | "notice"
    | "profile"
    | "builtin"
    | "plugin"
    | "harness"
    | "override"
    | "file"
    | "skills"
    | "memory"
    | "source";
  readonly name: string;
  /** `file:line`, or `built-in`. */
  readonly source: string;
  /** Blocks come in this order; the identity is always first. */
  readonly priority: number;
  readonly text: string;
  readonly active: boolean;
  /** The expression that decides, and what it gave: `True`, `False`, or an error. */
  readonly condition?: { readonly text: string; readonly result: string };
  /** Why it is not in the prompt. */
  readonly hidden?: string;
  /** What people should know about it. */
  readonly note?: string;
}

export type ConditionResult = { readonly holds: boolean } | { readonly error: string };

/** What the prompt says in every folder. */
export interface BasePrompt {
  /** Who the agent is, for a project that says nothing else. */
  readonly identity: string;
  /** What the profile adds. */
  readonly header?: { readonly text: string; readonly source: string };
}

export interface PromptSources {
  readonly project?: Project;
  /** Of a bundle that has one. */
  readonly condition?: (bundle: BundleArtifact) => ConditionResult;
  /** Files that the project adds to the prompt. */
  readonly files: readonly ContextText[];
  /** Names and descriptions of skills; empty or absent: none. */
  readonly skills?: string;
  readonly standing: BasePrompt;
  readonly workspace: string;
  readonly platform: string;
}

/** In every prompt, whoever wrote the rest of it. */
export const NOTICE_BLOCK: PromptBlock = {
  kind: "notice",
  name: "untrusted content",
  source: "built-in",
  priority: 0,
  text: UNTRUSTED_NOTICE,
  active: true,
};

/** Files come after what bundles add and before what overrides say. */
const FILE_PRIORITY = 90;

export function promptBlocks({
  project,
  condition,
  files,
  skills = "",
  standing,
  workspace,
  platform,
}: PromptSources): PromptBlock[] {
  const identity = project?.identity;
  const who = identity?.text.trim() || project?.config.context.systemPrompt?.trim() || standing.identity;
  const first: PromptBlock = {
    kind: "identity",
    name: "identity",
    source: identity === undefined ? "built-in" : `${identity.place.file}:${identity.place.line}`,
    priority: 0,
    text: `${who}\n\nWorking directory: ${workspace} (${platform}). Paths are relative to it.`,
    active: true,
  };
  const rest = [
    ...(project?.bundles ?? []).map((bundle) => bundleBlock(bundle, condition)),
    ...files.map(({ path, text, leftOut: hidden, note }): PromptBlock => {
      const shown = `Contents of ${path}:\n\n${text}`;
      const block = { kind: "file", name: path, source: path, priority: FILE_PRIORITY } as const;
      return { ...block, text: shown, active: hidden === undefined, ...defined({ hidden, note }) };
    }),
    ...(skills === "" ? [] : [skillBlock(skills)]),
  ];
  return [first, NOTICE_BLOCK, ...headerBlocks(standing), ...rest.toSorted((a, b) => a.priority - b.priority)];
}

/** With what joined the prompt of the session, where files are: before what overrides say. */
export function withJoined(blocks: readonly PromptBlock[], joined: readonly PromptBlock[]): readonly PromptBlock[] {
  const isBefore = ({ priority }: PromptBlock): boolean => priority <= FILE_PRIORITY;
  return [...blocks.filter(isBefore), ...joined, ...blocks.filter((block) => !isBefore(block))];
}

function headerBlocks({ header }: BasePrompt): readonly PromptBlock[] {
  if (header === undefined) return [];
  return [{ kind: "profile", name: "profile", priority: 0, active: true, ...header }];
}

function skillBlock(skills: string): PromptBlock {
  const text = `Skills, to be read with the tool skill:\n\n${skills}`;
  return { kind: "skills", name: "skills", source: "SKILL.md files", priority: FILE_PRIORITY, text, active: true };
}

function bundleBlock(bundle: BundleArtifact, condition: PromptSources["condition"]): PromptBlock {
  const { type, name, place, priority, body } = bundle;
  const block = { kind: type, name, source: `${place.file}:${place.line}`, priority, text: body.trim() };
  if (bundle.condition === undefined || condition === undefined) return { ...block, active: true };
  const result = condition(bundle);
  const text = bundle.condition.text.trim();
  // A clamp that cannot tell whether it applies, applies.
  if ("error" in result) return { ...block, active: type === "override", condition: { text, result: result.error } };
  return { ...block, active: result.holds, condition: { text, result: result.holds ? "True" : "False" } };
}
