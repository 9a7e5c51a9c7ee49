/**
 * The system prompt as a list of blocks, each with where it comes from and whether it is in force: what the request gets and
 * what `harness context` shows are the same list.
 */
import type { BundleArtifact, Project } from "#artifacts";
import { UNTRUSTED_NOTICE } from "./untrusted.ts";

export interface PromptBlock {
  readonly kind: "identity" | "notice" | "builtin" | "plugin" | "harness" | "override" | "file";
  readonly name: string;
  /** `file:line`, or `built-in`. */
  readonly source: string;
  /** Blocks come in this order; the identity is always first. */
  readonly priority: number;
  readonly text: string;
  readonly active: boolean;
  /** The expression that decides, and what it gave: `True`, `False`, or an error. */
  readonly condition?: { readonly text: string; readonly result: string };
}

export type ConditionResult = { readonly holds: boolean } | { readonly error: string };

export interface PromptSources {
  readonly project?: Project;
  /** Of a bundle that has one. */
  readonly condition?: (bundle: BundleArtifact) => ConditionResult;
  /** Files that the project adds to the prompt. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** The standing text, for a project that says nothing else. */
  readonly standing: string;
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
  standing,
  workspace,
  platform,
}: PromptSources): PromptBlock[] {
  const identity = project?.identity;
  const who = identity?.text.trim() || project?.config.context.systemPrompt?.trim() || standing;
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
    ...files.map(({ path, text }): PromptBlock => {
      const shown = `Contents of ${path}:\n\n${text}`;
      return { kind: "file", name: path, source: path, priority: FILE_PRIORITY, text: shown, active: true };
    }),
  ];
  return [first, NOTICE_BLOCK, ...rest.toSorted((a, b) => a.priority - b.priority)];
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
